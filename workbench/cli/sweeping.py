"""`workbench sweep`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from workbench.cli.common import CONVERGED, NOT_CONVERGED, Commands
from workbench.cli.options import PROBLEM, add_option, chosen, described, key_value
from workbench.cli.streams import StatusLine
from workbench.settings import BLOCKS, RUN, STOPPING, SWEEP_AXES, SWEEP_WORKERS

CRITERIA = ("rtol", "maxiter")
COLUMNS = ("N", "iterations", "setup_seconds", "iteration_seconds", "true_relative_residual", "reason")


def add(verbs: Commands) -> None:
    """Add the command `sweep` to the subparsers of argparse."""
    sweep = verbs.add_parser("sweep")
    sweep.add_argument("problem", metavar="PROBLEM", help=PROBLEM)
    sweep.add_argument("--n", nargs="+", metavar="VALUE", help="grid points per side; one value or several")
    for name in SWEEP_AXES:
        about = described({**BLOCKS, **RUN}[name])
        sweep.add_argument(f"--{name}", nargs="+", metavar="VALUE", help=f"{about}; one value or several")
    sweep.add_argument(
        "--param",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="another parameter of the problem; a key given several times is swept",
    )
    for name in CRITERIA:
        add_option(sweep, STOPPING[name])
    add_option(sweep, SWEEP_WORKERS)
    form = sweep.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--csv", metavar="FILE", help="write the rows as CSV")
    sweep.set_defaults(command=_sweep)


def _sweep(options: argparse.Namespace) -> int:
    from workbench.run import configure, sweep
    from workbench.run.jobs.sweeping import WORKER_FIELDS, plain, to_csv

    over: dict[str, list[str]] = {name: values for name in ("n", *SWEEP_AXES) if (values := vars(options)[name])}
    for text in options.param:
        key, value = key_value(text)
        over.setdefault(key, []).append(value)
    # The criteria of a link hold, apart from those that options replace.
    stopping = configure(options.problem, stopping=chosen(options, CRITERIA)).stopping
    line = StatusLine()
    found = sweep(
        options.problem,
        over,
        stopping=stopping,
        progress=lambda done, of, _row: line.show(f"{done} of {of} runs done"),
        workers=options.workers,
    )
    line.show("")
    if options.csv:
        print(to_csv(found, options.csv))
    elif options.json:
        print(json.dumps(plain(found)))
    else:
        _print_table(list(over), found.rows, COLUMNS + (WORKER_FIELDS if found.on_workers else ()))
    return CONVERGED if found.converged else NOT_CONVERGED


def _print_table(axes: list[str], rows: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    names = [*axes, *columns]
    cells = [[name.replace("_", " ") for name in names], *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    for line in cells:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
