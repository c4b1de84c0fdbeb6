"""Which programs a device may go on launching after the run has stopped."""

from __future__ import annotations

import numpy as np
import pytest

import workbench.solvers  # noqa: F401  registers them
from workbench import devices
from workbench.registry import blocks as registry

A = devices.device("cpu").csr(np.ones(3), np.arange(3), np.arange(4))


def repeatable(*texts):
    space = devices.device("cpu").workspace(
        3, np.dtype(np.float64), vectors={"x": np.ones(3), "p": np.ones(3), "q": np.ones(3)}, operators={"A": A, "M": A}
    )
    space.lines(*texts)
    return space.repeatable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s = A(p)\nd = (p, s)\nx = x + d*s\np = p - s", True),  # s is computed again before it is read
        ("x = x + q\nq = A(x)", True),  # the same x gives the same q
        ("x = x + q\nq = A(p)\np = x - p", False),  # once more, q would be that of the new p
        ("x = x + q\nq = A(p)\np = A(q)", False),  # the same by another operator
        ("q = A(p)\nq = q + x", False),  # once more undoes the sum
    ],
)
def test_what_is_left_as_it_is(text, expected):
    assert repeatable(text) is expected
    assert repeatable("s = A(x)\ns = s + p\nx = x + s", text) is expected


@pytest.mark.parametrize(
    "name", sorted(name for name, solver in registry.registered("solver").items() if solver.uniform_iterations)
)
def test_every_solver_of_alike_iterations_is(name):
    space = devices.device("cpu").workspace(
        3, np.dtype(np.float64), vectors={"x": np.ones(3), "b": np.ones(3)}, operators={"A": A, "M": A}
    )
    registry.find("solver", name).iterates(space)
    assert space.repeatable
