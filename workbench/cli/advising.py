"""`workbench advise`."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from workbench.cli.common import CONVERGED, Commands
from workbench.cli.options import add_option, parameters, problem_arguments
from workbench.cli.streams import log
from workbench.files.codec import finite
from workbench.settings import RUN, SEARCH_SECONDS, STOPPING

if TYPE_CHECKING:
    from workbench.advise.advice import Advice


def add(verbs: Commands) -> None:
    """Add the command `advise` to the subparsers of argparse."""
    advise = verbs.add_parser(
        "advise",
        description="Ranks pairs of first and second level for cg. Of a link or file only the problem is used.",
    )
    problem_arguments(advise)
    for declared in (STOPPING["rtol"], RUN["seed"], SEARCH_SECONDS):
        add_option(advise, declared, default=declared.default)
    advise.add_argument(
        "--probe-n",
        type=int,
        metavar="N",
        help="only predict, from solves with at most N points per side; by default the best pairs are also solved",
    )
    advise.add_argument("--json", action="store_true", help="print JSON")
    advise.set_defaults(command=_advise)


def _advise(options: argparse.Namespace) -> int:
    asked = {name: vars(options)[name] for name in ("rtol", "seed", "probe_n", "seconds")}
    advice = _advice(options.problem, asked, parameters(options))
    print(json.dumps(finite(advice.to_dict())) if options.json else advice.text())
    return CONVERGED


def _advice(problem: str, asked: dict[str, Any], more: dict[str, Any]) -> Advice:
    # Imported here: it takes longer than the other commands need.
    from workbench.advise import advise

    return advise(problem, **asked, progress=log, **more)
