"""`workbench sweep`."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any

from workbench.cli.common import CONVERGED, NOT_CONVERGED, PROBLEM, key_value
from workbench.cli.streams import StatusLine

SWEPT = ("n", "solver", "preconditioner", "deflation", "coarse", "variant", "device", "rhs", "x0", "seed")
SHOWN = ("N", "iterations", "setup_seconds", "iteration_seconds", "true_relative_residual", "reason")


def add(verbs: Any) -> None:
    """Add the command."""
    sweep = verbs.add_parser("sweep", help="solve every combination of some choices, and print a table")
    sweep.add_argument("problem", metavar="PROBLEM", help=PROBLEM)
    for name in SWEPT:
        meaning = "grid points per side" if name == "n" else f"as in `workbench solve --{name}`"
        sweep.add_argument(f"--{name}", nargs="+", metavar="VALUE", help=f"{meaning}; one value or several")
    sweep.add_argument(
        "--param",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="another parameter of the problem; a key given several times is swept",
    )
    sweep.add_argument("--rtol", type=float, help="stop at this fraction of ||b|| (default 1e-6)")
    sweep.add_argument("--maxiter", type=int, metavar="N", help="iteration limit (default 10 times the unknowns)")
    shape = sweep.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print one JSON object")
    shape.add_argument("--csv", metavar="FILE", help="write the rows as CSV")
    sweep.set_defaults(command=_sweep)


def _sweep(chosen: argparse.Namespace) -> int:
    from workbench.run import configure, sweep
    from workbench.run.sweep_files import plain, to_csv

    over: dict[str, list[str]] = {name: getattr(chosen, name) for name in SWEPT if getattr(chosen, name)}
    for text in chosen.param:
        key, value = key_value(text)
        over.setdefault(key, []).append(value)
    # A link says when to stop too; options replace what they name.
    rules = {name: getattr(chosen, name) for name in ("rtol", "maxiter") if getattr(chosen, name) is not None}
    stopping = dataclasses.replace(configure(chosen.problem).stopping, **rules)
    line = StatusLine()
    found = sweep(
        chosen.problem, over, stopping=stopping, progress=lambda done, of, _row: line.say(f"{done} of {of} runs done")
    )
    line.say("")
    if chosen.csv:
        print(to_csv(found, chosen.csv))
    elif chosen.json:
        print(json.dumps(plain(found)))
    else:
        _print_table(list(over), found.rows)
    return CONVERGED if found.converged else NOT_CONVERGED


def _print_table(swept: list[str], rows: list[dict[str, Any]]) -> None:
    names = [*swept, *SHOWN]
    cells = [[name.replace("_", " ") for name in names], *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    for line in cells:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
