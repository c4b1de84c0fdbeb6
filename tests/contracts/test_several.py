"""Multipreconditioned CG and CG with the sum, with every first level: alone, with another, and on boxes."""

import numpy as np
import pytest

import workbench.run  # noqa: F401  registers every block
from tests.contracts import cases
from tests.contracts.test_accelerators import assert_same
from workbench.run import Run, configure, run_through

METHODS = ("mpcg", "mpcg-adaptive", "sum-cg")
N = 16
TOGETHER = [name for name in cases.FIRST if name not in ("schwarz", "sum")]
BOXES = [name for name in TOGETHER if name != "mg"]
"""First levels that solve on a box, which has no grid for boxes or levels of its own."""
PARALLEL = [name for name in cases.FIRST if name not in ("ic", "mic", "ssor", "amg")]


@pytest.fixture(scope="module")
def expected():
    system = configure("two-layer", n=N).problem.assemble()
    return np.linalg.solve(system.operator.to_csr().toarray(), system.b)


def check(expected, solver, preconditioner):
    result = run_through(Run(configure("two-layer", n=N, solver=solver, preconditioner=preconditioner)))
    assert result.converged, (result.reason, result.detail)
    assert np.abs(result.x - expected).max() <= 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize("first", cases.FIRST)
@pytest.mark.parametrize("solver", METHODS)
def test_with_every_first_level(solver, first, expected):
    check(expected, solver, first)


@pytest.mark.parametrize("first", TOGETHER)
@pytest.mark.parametrize("solver", METHODS)
def test_with_every_first_level_and_another(solver, first, expected):
    check(expected, solver, f"{first} + chebyshev:2 + coarse:4")


@pytest.mark.parametrize("first", BOXES)
@pytest.mark.parametrize("solver", METHODS)
def test_with_every_first_level_on_boxes(solver, first, expected):
    check(expected, solver, f"schwarz:2x2,overlap=2,solver={first}")


@pytest.mark.parametrize("first", PARALLEL)
@pytest.mark.parametrize("solver", METHODS)
def test_on_accelerators(accelerator, solver, first):
    # Without a preconditioner rounding decides on the end.
    assert_same(accelerator, 60 if first == "none" else 2, solver=solver, preconditioner=first)


@pytest.mark.parametrize("text", ["jacobi + neumann:2 + coarse:4", "schwarz:2x2,solver=chebyshev:4", "schwarz:3x2"])
def test_sums_on_accelerators(accelerator, text):
    for solver in METHODS:
        assert_same(accelerator, 2, solver=solver, preconditioner=text)
