"""The same right-hand sides solved at once and one by one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from workbench.analysis.block_costs import block_costs
from workbench.recording import Record
from workbench.run import Configuration, configure, run_through, start_run

METHODS = ("block-cg", "pseudo-block-cg")
COLUMN_BY_COLUMN = "cg, column by column"
TOTALS = ("problem", "solver", "iterations", "bytes", "operations")


def compared(
    problem: str, n: int, columns: int = 16, preconditioner: str = "jacobi", seed: int = 0
) -> dict[str, Record | list[Record]]:
    """Records of block CG and pseudo-block CG by name, and of CG for each column alone, for random right-hand sides.

    Solves the problem `columns` + 2 times, from x = 0. Raises InputError as `configure` does.
    """
    chosen: Configuration = configure(problem, n=n, preconditioner=preconditioner, x0="zero")
    system = chosen.problem.assemble(seed)
    B = np.random.default_rng(seed).standard_normal((system.operator.shape[0], columns))

    def record(solver: str, b: np.ndarray) -> Record:
        given = configure(chosen.problem, solver=solver, preconditioner=preconditioner, x0="zero")
        return run_through(start_run(given, dataclasses.replace(system, b=b))).record()

    blocks: dict[str, Record | list[Record]] = {name: record(name, B) for name in METHODS}
    return blocks | {COLUMN_BY_COLUMN: [record("cg", b) for b in B.T]}


def totals(problem: str, runs: dict[str, Record | list[Record]], columns: int = 16) -> list[tuple[str, ...]]:
    """Under `TOTALS`: iterations of each block method, and bytes and operations per unknown and right-hand side.

    The cost of an iteration is counted at a small size; see `block_costs`.
    """
    costs = {cost.solver: cost for cost in block_costs(problem, columns=columns)}
    rows = []
    for name in METHODS:
        run, cost = runs[name], costs[name]
        assert isinstance(run, Record)
        k = run.summary["iterations"]
        rows.append((problem, name, str(k), f"{k * cost.bytes:.0f}", f"{k * cost.flops:.0f}"))
    return rows


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for a notebook."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (headings, ["---"] * len(headings), *rows))
