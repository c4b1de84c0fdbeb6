"""`workbench family`."""

from __future__ import annotations

import argparse
import dataclasses
import json

from workbench.cli.common import CONVERGED, Commands
from workbench.cli.options import add_option
from workbench.errors import InputError
from workbench.settings import BLOCKS


def add(verbs: Commands) -> None:
    """Add the command `family` to the subparsers of argparse."""
    family = verbs.add_parser("family")
    family.add_argument("--problem", default="poisson7", help="a registered problem with n (default poisson7)")
    family.add_argument(
        "--n", type=int, default=8, help="unknowns per side (default 8; without effect on the counts of stencils)"
    )
    add_option(family, BLOCKS["preconditioner"], default=BLOCKS["preconditioner"].default)
    family.add_argument(
        "--columns", type=int, default=0, metavar="S", help="the methods for S right-hand sides instead, in float64"
    )
    family.add_argument("--precision", default="float64", help="float64 (default), float32, complex128 or complex64")
    family.add_argument("--json", action="store_true", help="print JSON")
    family.set_defaults(command=_family)


def _family(options: argparse.Namespace) -> int:
    from workbench.costs import block_costs as blocks
    from workbench.costs.solver_costs import HEADINGS, solver_costs, table

    if options.columns:
        if options.precision != "float64":
            raise InputError("methods for several right-hand sides are counted in float64; leave out --precision")
        costs = blocks.block_costs(options.problem, options.n, options.preconditioner, options.columns)
        rows = [blocks.HEADINGS, *(cost.row for cost in costs)]
    else:
        costs = solver_costs(options.problem, options.n, options.preconditioner, options.precision)
        rows = [HEADINGS, *table(costs)]
    if options.json:
        print(json.dumps([dataclasses.asdict(cost) for cost in costs]))
        return CONVERGED
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    return CONVERGED
