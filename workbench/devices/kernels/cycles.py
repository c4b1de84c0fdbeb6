"""Kernels of a cycle over the levels of a coarse system (see `devices.cycles`).

The dot products of a step stay on the device as one partial sum per group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.devices import cycles
from workbench.devices.kernels.passes import of_a_row
from workbench.devices.kernels.source import fill, read
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


def _step(text: str, quotient: str) -> Step:
    lines = parse(text)
    vectors = {name for line in lines for name in (*line.reads, line.target)} - {quotient}
    (step,) = plan(lines, vectors, vectors, {})
    assert isinstance(step, Pass)
    arguments = [f"GLOBAL {'' if name in step.stores else 'const '}T* a_{name}" for name in step.arrays]
    made = fill(
        "cycle_step",
        vectors=", ".join(arguments),
        divide=fill("cycle_quotient", quotient=quotient),
        result="\n".join(of_a_row(step, infer(lines, vectors), np.dtype(float))),
    )
    return Step(made, step.arrays)


FIRST_STEP = _step(cycles.FIRST_STEP, "alpha")
ORTHOGONALIZE = _step(cycles.ORTHOGONALIZE, "beta")
LAST_STEP = _step(cycles.LAST_STEP, "alpha")
