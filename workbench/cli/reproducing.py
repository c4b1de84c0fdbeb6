"""`workbench reproduce`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from workbench.cli.common import CONVERGED, finite
from workbench.cli.streams import log
from workbench.errors import InputError

ALL = "all"
"""The name of every target of a paper, one after another."""


def add(verbs: Any) -> None:
    """Add the command."""
    reproduce = verbs.add_parser("reproduce", help="reproduce a table or figure of a paper, next to the published one")
    reproduce.add_argument("paper", help="two-level, hybrid-pipecg, block-cg, or mpcg")
    reproduce.add_argument(
        "target",
        help="two-level: table1 to table4, fig1, fig9 to fig12; hybrid-pipecg: table1, iterations, best, claims, "
        "crossover, timeline, measured; block-cg: table1 to table3, fig5, fig6; mpcg: table1 to table3, fig4 to fig6; "
        "or all",
    )
    reproduce.add_argument(
        "--max-n", type=int, default=512, metavar="N", help="largest grid points per side (default 512)"
    )
    reproduce.add_argument("--json", action="store_true", help="print JSON")
    reproduce.add_argument("--picture", metavar="FILE", help="write the figure here (default PAPER_TARGET.svg)")
    reproduce.set_defaults(command=_reproduce)


def _reproduce(options: argparse.Namespace) -> int:
    from workbench.figures import save
    from workbench.papers import PAPERS, reproduce

    targets, known = [options.target], PAPERS.get(options.paper, {})
    if options.target == ALL and known:
        if options.picture:
            raise InputError("all targets have more than one figure; leave out --picture, or name one target")
        # Where none is left, the first one is refused with its smallest size.
        targets = [name for name in known if known[name].smallest <= options.max_n] or list(known)
        for name in (name for name in known if name not in targets):
            log(f"left out: {options.paper} {name}, which begins at --max-n {known[name].smallest}")
    elif options.picture and options.target in known and not known[options.target].draws:
        raise InputError(f"{options.paper} {options.target} is a table and has no figure; leave out --picture")
    made = []
    for target in targets:
        made.append(reproduce(options.paper, target, options.max_n, log))
        if made[-1].figure is not None:
            path = save(made[-1].figure, options.picture or f"{options.paper}_{target}.svg")
            log(f"wrote the figure to {path}")
        if not options.json:
            print(*([""] if len(made) > 1 else []), made[-1].text(), sep="\n")
    if options.json:
        plain = [finite(one.to_dict()) for one in made]
        print(json.dumps(plain if options.target == ALL else plain[0]))
    return CONVERGED
