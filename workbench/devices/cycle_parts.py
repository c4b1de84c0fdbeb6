"""Entries of a trace for the cycles over levels: calls, their names by level, their bytes and operations."""

from __future__ import annotations

from workbench.devices.clock import TimedCalls
from workbench.devices.coarse import Level, Levels
from workbench.devices.cycle_names import (
    COARSEST,
    CORRECT,
    PRODUCT,
    REORDER,
    RESIDUAL,
    RESTRICT,
    SMOOTH,
    STEP,
    from_level,
    on_level,
)
from workbench.devices.traffic import product_flops


def level_parts(operations: object, level: Level, depth: int, *, steps: bool) -> TimedCalls:
    """The operations of a level above the last. steps: it takes steps of flexible CG."""
    dtype, vector = level.data.dtype, level.size * level.data.itemsize
    below = (level.starts.size - 1) * level.data.itemsize
    matrix = level.data.nbytes + level.indices.nbytes + level.indptr.nbytes
    transfer = vector + below + level.weights.nbytes
    products, updates = product_flops(level.data.size, dtype), product_flops(level.size, dtype)
    smooth, step = on_level(SMOOTH, depth), on_level(STEP, depth)
    yield operations, "smooth_from_zero", smooth, matrix + 2 * vector, products
    yield operations, "smooth", smooth, matrix + 3 * vector, products
    yield operations, "residual", on_level(RESIDUAL, depth), matrix + 3 * vector, products
    yield operations, "restrict", from_level(RESTRICT, depth), transfer + level.starts.nbytes, updates
    yield operations, "correct", from_level(CORRECT, depth), transfer + vector + level.parents.nbytes, updates
    if steps:
        yield operations, "energy", on_level(PRODUCT, depth), matrix + 3 * vector, products
        yield operations, "first_step", step, 5 * vector, 2 * updates
        yield operations, "orthogonalize", step, 5 * vector, 2 * updates
        yield operations, "last_step", step, 3 * vector, updates


def bottom_part(cycles: object, method: str, form: Levels) -> TimedCalls:
    """The solve with the last level."""
    size, dtype = form.bottom.shape[0], form.bottom.dtype
    yield cycles, method, COARSEST, form.bottom.nbytes + 2 * size * dtype.itemsize, product_flops(size * size, dtype)


def entry_parts(owner: object, form: Levels, wide: int) -> TimedCalls:
    """`enter` and `leave` of an owner: a right-hand side to the first level, and its solution back. wide: bytes of an
    entry outside of the levels."""
    moved = form.order.nbytes + form.scale.nbytes + form.order.size * (wide + form.bottom.itemsize)
    for method in ("enter", "leave"):
        yield owner, method, on_level(REORDER, 0), moved, form.order.size
