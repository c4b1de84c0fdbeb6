"""Kernels of a cycle over the levels of a coarse system (see `devices.cycles`).

The dot products of a step stay on the device as one partial sum per group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.devices import cycles
from workbench.devices.kernels.source import fill, read
from workbench.kernel_language.c_text import statements
from workbench.kernel_language.of_lines import ROW, LineTrees
from workbench.kernel_language.tree import INTEGER, Constant, Type
from workbench.lines.parse import parse
from workbench.lines.schedule import Pass, plan
from workbench.lines.shapes import infer

_TREE = read("tree_sum")

SUM = read("cycle_sum")
"""Partial sums of a."""

ENTER = fill("cycle_enter", tree_sum=_TREE)
"""b = D^-1/2 (a - mean) in the order of the levels."""

BOTTOM = fill("cycle_bottom", tree_sum=_TREE)
"""x = the inverse of the last level times b."""


class Step(NamedTuple):
    """The kernel of paper lines with one scalar, a quotient of partial sums. vectors: its arguments, in order."""

    text: str
    vectors: tuple[str, ...]


def _step(text: str, quotient: str, dtype: np.dtype, wide: np.dtype) -> Step:
    lines = parse(text)
    vectors = {name for line in lines for name in (*line.reads, line.target)} - {quotient}
    (one,) = plan(lines, vectors, vectors, {})
    assert isinstance(one, Pass)
    arguments = [f"GLOBAL {'' if name in one.stores else 'const '}T* a_{name}" for name in one.arrays]
    of = LineTrees(infer(lines, vectors), {quotient: Constant(0, Type(INTEGER))}, dtype, wide).rows(one)
    made = fill(
        "cycle_step",
        vectors=", ".join(arguments),
        row=ROW.name,
        divide=fill("cycle_quotient", quotient=quotient),
        result="\n".join(statements(of, of.body, 0)),
    )
    return Step(made, one.arrays)


def steps(dtype: np.dtype, wide: np.dtype) -> dict[str, Step]:
    """The steps of flexible CG, by their text in `cycles`."""
    scalars = {cycles.FIRST_STEP: "alpha", cycles.ORTHOGONALIZE: "beta", cycles.LAST_STEP: "alpha"}
    return {text: _step(text, quotient, dtype, wide) for text, quotient in scalars.items()}
