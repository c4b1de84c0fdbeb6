"""`workbench reproduce`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from workbench.cli.common import CONVERGED, finite
from workbench.cli.streams import tell


def add(verbs: Any) -> None:
    """Add the command."""
    again = verbs.add_parser("reproduce", help="make a paper's table or figure again, its numbers beside ours")
    again.add_argument("paper", help="two-level, or hybrid-pipecg")
    again.add_argument(
        "target",
        help="two-level: table1 to table4, fig1, fig9 to fig12; hybrid-pipecg: table1, iterations, best, claims, "
        "crossover, timeline, measured",
    )
    again.add_argument("--max-n", type=int, default=512, metavar="N", help="largest n, points per side (default 512)")
    again.add_argument("--json", action="store_true", help="print JSON")
    again.add_argument("--picture", metavar="FILE", help="where the picture goes (default PAPER_TARGET.svg here)")
    again.set_defaults(command=_reproduce)


def _reproduce(chosen: argparse.Namespace) -> int:
    from workbench.figures import save
    from workbench.papers import reproduce

    made = reproduce(chosen.paper, chosen.target, chosen.max_n, tell)
    if made.figure is not None:
        path = save(made.figure, chosen.picture or f"{chosen.paper}_{chosen.target}.svg")
        tell(f"the picture is in {path}")
    print(json.dumps(finite(made.to_dict())) if chosen.json else made.text())
    return CONVERGED
