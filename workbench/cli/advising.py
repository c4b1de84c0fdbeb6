"""`workbench advise`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from workbench.cli.common import CONVERGED, finite, parameters, problem_arguments
from workbench.cli.streams import tell


def add(verbs: Any) -> None:
    """Add the command."""
    advice = verbs.add_parser(
        "advise",
        help="try pairs of levels on a problem and rank them by the time of a solve",
        description="Of a link or a saved file only the problem is taken; it is solved by cg to --rtol, with --seed.",
    )
    problem_arguments(advice)
    advice.add_argument("--rtol", type=float, default=1e-6, help="the tolerance to solve to (default 1e-6)")
    advice.add_argument("--seed", type=int, default=0, help="seed of all randomness (default 0)")
    advice.add_argument("--json", action="store_true", help="print JSON")
    advice.set_defaults(command=_advise)


def _advise(chosen: argparse.Namespace) -> int:
    from workbench.analysis import advise

    advice = advise(chosen.problem, rtol=chosen.rtol, seed=chosen.seed, progress=tell, **parameters(chosen))
    print(json.dumps(finite(advice.to_dict())) if chosen.json else advice.text())
    return CONVERGED
