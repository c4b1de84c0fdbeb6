"""Parts of the cycles over levels in traces and tables: their names by level, calls, bytes and operations. Level 0 is E
itself.
"""

from __future__ import annotations

import re

from workbench.devices.clock import TimedCall, TimedCalls
from workbench.devices.coarse import Level, Levels
from workbench.devices.traffic import product_flops

COARSE_SOLVE = "coarse solve"
COARSEST = "coarsest level"
SMOOTH, RESIDUAL, REORDER = "smooth", "residual", "reorder"
PRODUCT, STEP = "flexible CG, product", "flexible CG, step"
RESTRICT, CORRECT = "restrict to", "correct from"
_ON_LEVEL = re.compile(rf"(?:{SMOOTH}|{RESIDUAL}|{REORDER}|{PRODUCT}|{STEP}), level (\d+)")
_BETWEEN = re.compile(rf"(?:{RESTRICT}|{CORRECT}) level ([1-9]\d*)")


def on_level(work: str, level: int) -> str:
    """The name of work on a level, as in `smooth, level 1`."""
    return f"{work}, level {level}"


def from_level(work: str, level: int) -> str:
    """The name of a transfer between a level and the next, as in `restrict to level 2` for level 1."""
    return f"{work} level {level + 1}"


def level_of(name: str) -> str:
    """The level that a kernel of a coarse solve runs on, as in `level 1`; empty for all other kernels."""
    if name == COARSEST:
        return name
    if found := _ON_LEVEL.fullmatch(name):
        return f"level {int(found[1])}"
    found = _BETWEEN.fullmatch(name)
    return f"level {int(found[1]) - 1}" if found else ""


def summed_name(name: str) -> str:
    """The row of a kernel where those of a level are summed: `coarse solve, level 1`, or the kernel's own name."""
    level = level_of(name)
    return f"{COARSE_SOLVE}, {level}" if level else name


def level_rank(name: str) -> tuple[bool, int]:
    """A key that sorts the names of levels, finest first."""
    number = name.rpartition("level ")[2]
    return not number.isdigit(), int(number) if number.isdigit() else 0


def level_parts(operations: object, level: Level, depth: int, *, steps: bool) -> TimedCalls:
    """The operations of a level above the last. steps: it takes steps of flexible CG."""
    dtype, vector = level.data.dtype, level.size * level.data.itemsize
    below = level.parts * level.modes * level.data.itemsize
    matrix = level.data.nbytes + level.indices.nbytes + level.indptr.nbytes
    transfer = vector + below + level.weights.nbytes
    products, updates = product_flops(level.data.size, dtype), product_flops(level.size, dtype)
    transfers = product_flops(level.size * level.modes, dtype)
    smooth, step = on_level(SMOOTH, depth), on_level(STEP, depth)
    yield TimedCall(operations, "smooth_from_zero", smooth, matrix + 2 * vector, products)
    yield TimedCall(operations, "smooth", smooth, matrix + 3 * vector, products)
    yield TimedCall(operations, "residual", on_level(RESIDUAL, depth), matrix + 3 * vector, products)
    yield TimedCall(operations, "restrict", from_level(RESTRICT, depth), transfer + level.starts.nbytes, transfers)
    yield TimedCall(
        operations, "correct", from_level(CORRECT, depth), transfer + vector + level.parents.nbytes, transfers
    )
    if steps:
        yield TimedCall(operations, "energy", on_level(PRODUCT, depth), matrix + 3 * vector, products)
        yield TimedCall(operations, "first_step", step, 5 * vector, 2 * updates)
        yield TimedCall(operations, "orthogonalize", step, 5 * vector, 2 * updates)
        yield TimedCall(operations, "last_step", step, 3 * vector, updates)


def bottom_part(cycles: object, method: str, form: Levels) -> TimedCalls:
    """The solve with the last level."""
    size, dtype = form.bottom.shape[0], form.bottom.dtype
    yield TimedCall(
        cycles, method, COARSEST, form.bottom.nbytes + 2 * size * dtype.itemsize, product_flops(size * size, dtype)
    )


def entry_parts(owner: object, form: Levels, wide: int) -> TimedCalls:
    """`enter` and `leave` of an owner: a right-hand side to the first level, and its solution back. wide: bytes of an
    entry outside of the levels."""
    moved = form.order.nbytes + form.scale.nbytes + form.order.size * (wide + form.bottom.itemsize)
    for method in ("enter", "leave"):
        yield TimedCall(owner, method, on_level(REORDER, 0), moved, form.order.size)
