"""Blocks and the system that they are given: what a problem must have for a deflation, what a block asks of A."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.operators.base import MissingEntriesError
from workbench.operators.cuts import INDEX, grid_of, grows
from workbench.preconditioners import Preconditioner
from workbench.problems import LinearSystem, Problem
from workbench.registry import Block

_WITHOUT = {
    ("preconditioner", "diagonal"): "pass a sparse matrix, or the diagonal as diagonal=, or choose preconditioner none",
    ("preconditioner", "entries"): (
        "pass a sparse matrix, or choose preconditioner none, or jacobi or chebyshev with diagonal="
    ),
    ("deflation", "entries"): "pass a sparse matrix, or labels or vectors, or choose deflation blocks or none",
}
"""Advice for an A without what a block needs, by kind of block and missing part."""


@contextlib.contextmanager
def needing_entries(block: Block) -> Generator[None]:
    """Name the block that needs entries of A where A has none: raises InputError with the way out."""
    try:
        yield
    except MissingEntriesError as missing:
        way_out = _WITHOUT.get((block.kind, missing.what), "pass a sparse matrix")
        raise InputError(
            f"{block.kind} {block.name} needs the {missing.what} of A, which a LinearOperator does not show; {way_out}"
        ) from None


def index_cuts(system: LinearSystem, *blocks: Preconditioner | Deflation) -> list[str]:
    """A sentence on the blocks of a run that cut a matrix without a grid by index; none where no block does."""
    if grid_of(system.operator, system.grid) is not None:
        return []
    # Of a sum its members.
    each = [each for block in blocks for each in (block.blocks if isinstance(block, Preconditioner) else (block,))]
    cuts = {f"{block.kind} {block.name}": cut for block in each if (cut := block.parameter_values.get("cut"))}
    names = [name for name, cut in cuts.items() if not grows(system.operator, cut)]
    if not names:
        return []
    way_out = "leave out cut=index, so that parts grow along the couplings of A, or "
    return [
        f"{' and '.join(names)} cut{'s' * (len(names) == 1)} this matrix, which has no grid, by index; where "
        "neighbours have numbers far apart that may take more iterations than none: "
        f"{way_out if INDEX in map(cuts.get, names) else ''}give labels by place, an integer for each unknown"
    ]


def check_near_null(system: LinearSystem, preconditioner: Preconditioner, deflation: Deflation) -> None:
    """Raise InputError for a near null space that no block of a run takes."""
    if system.near_null is not None and not any(block.takes_near_null for block in (deflation, *preconditioner.blocks)):
        raise InputError(
            "near_null is for deflation parts and preconditioners kcycle and amg, and this run has deflation "
            f"{deflation.name} and preconditioner {preconditioner.name}; choose one of them, or leave near_null out",
            changes={"deflation": "parts"},
        )


def unmet(problem: type[Problem] | Problem, deflation: type[Deflation] | Deflation) -> str:
    """The requirement of a deflation that a problem does not meet, as a sentence; empty if the two are compatible.

    Checks the declared requirements alone. Parameters may still be wrong, such as more parts than cells.
    """
    if deflation.needs_phases and not problem.has_phases:
        return f"deflation {deflation.name} needs phases, which {problem.name} does not have"
    if deflation.needs_grid and not problem.has_grid:
        return f"deflation {deflation.name} needs a grid, which {problem.name} does not have"
    return ""
