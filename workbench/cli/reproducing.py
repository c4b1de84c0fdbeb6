"""`workbench reproduce`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from workbench.cli.common import CONVERGED, finite
from workbench.cli.streams import log


def add(verbs: Any) -> None:
    """Add the command."""
    reproduce = verbs.add_parser("reproduce", help="reproduce a table or figure of a paper, next to the published one")
    reproduce.add_argument("paper", help="two-level, or hybrid-pipecg")
    reproduce.add_argument(
        "target",
        help="two-level: table1 to table4, fig1, fig9 to fig12; hybrid-pipecg: table1, iterations, best, claims, "
        "crossover, timeline, measured",
    )
    reproduce.add_argument(
        "--max-n", type=int, default=512, metavar="N", help="largest grid points per side (default 512)"
    )
    reproduce.add_argument("--json", action="store_true", help="print JSON")
    reproduce.add_argument("--picture", metavar="FILE", help="write the figure here (default PAPER_TARGET.svg)")
    reproduce.set_defaults(command=_reproduce)


def _reproduce(options: argparse.Namespace) -> int:
    from workbench.figures import save
    from workbench.papers import reproduce

    made = reproduce(options.paper, options.target, options.max_n, log)
    if made.figure is not None:
        path = save(made.figure, options.picture or f"{options.paper}_{options.target}.svg")
        log(f"wrote the figure to {path}")
    print(json.dumps(finite(made.to_dict())) if options.json else made.text())
    return CONVERGED
