"""Bytes and floating-point operations of the steps of a program, counted from their lines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.lines.schedule import Pass
from workbench.lines.shapes import shape_of
from workbench.lines.types import Binary, Dot, Expression, Formula, Kind, Shape, Shapes, walk

COST = {"+": (1, 2), "-": (1, 2), "*": (1, 6), "/": (1, 11)}
"""Real operations of one real and of one complex operation."""


def bytes_of(step: Pass, shapes: Shapes, size: int, itemsize: Callable[[str], int]) -> int:
    """Bytes that a pass over `size` rows reads and writes, each vector once. itemsize: of an entry of a vector."""
    return size * sum(shapes[name].words * itemsize(name) for name in (*step.loads, *step.stores))


def flops_of(step: Pass, shapes: Shapes, size: int, dtype: np.dtype) -> int:
    """Floating-point operations of a pass, counted as real ones; scalar lines and small matrices count nothing."""
    is_complex = dtype.kind == "c"
    return size * sum(_of_row(line, shapes, is_complex) for line in step.body)


def _of_row(line: Formula | Dot, shapes: Shapes, is_complex: bool) -> int:
    if isinstance(line, Dot):
        pairs = shapes[line.left].columns * (1 if line.columnwise else shapes[line.right].columns)
        return pairs * (8 if is_complex else 2)
    return operations(line.expression, shapes, is_complex)


def operations(node: Expression, shapes: Shapes, is_complex: bool) -> int:
    """Real operations of one evaluation in one row."""
    parts = [part for part in walk(node) if isinstance(part, Binary)]
    return sum(_of_node(part, shapes, is_complex) for part in parts)


def _of_node(node: Binary, shapes: Shapes, is_complex: bool) -> int:
    shape = shape_of(node, shapes) or Shape(Kind.SCALAR)
    if node.sign != "@":
        return shape.columns * COST[node.sign][is_complex]
    inner = shape_of(node.left, shapes) or shape
    products, sums = COST["*"][is_complex], COST["+"][is_complex]
    return shape.columns * (inner.columns * products + (inner.columns - 1) * sums)
