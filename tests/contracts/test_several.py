"""Multipreconditioned CG and GMRES and CG with the sum, with every first level: alone, with another, and on boxes."""

import numpy as np
import pytest

import workbench.run  # noqa: F401  registers every block
from tests.all_pairs import all_pairs, name_of, on_accelerators
from tests.contracts import cases
from tests.contracts.test_accelerators import assert_same
from workbench.run import Run, configure, run_through

METHODS = ("mpcg", "mpcg-adaptive", "mpgmres", "sum-cg")
N = 16
FORMS = {"alone": "{}", "with others": "{} + chebyshev:2 + coarse:4", "on boxes": "schwarz:2x2,overlap=2,solver={}"}
NOT_IN = {"with others": ("schwarz", "sum"), "on boxes": ("schwarz", "sum", "mg", "adi")}
"""First levels that are no term of a sum; a box has no grid for boxes or levels of its own."""
CASES = [
    case
    for case in all_pairs(first=cases.FIRST, form=list(FORMS), solver=METHODS)
    if case["first"] not in NOT_IN.get(case["form"], ())
]
PARALLEL = [name for name in cases.FIRST if name not in ("ic", "ict", "mic", "ssor", "amg")]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_with_every_first_level(case, expected):
    first = FORMS[case["form"]].format(case["first"])
    result = run_through(Run(configure("two-layer", n=N, solver=case["solver"], preconditioner=first)))
    assert result.converged, (result.reason, result.detail)
    assert np.abs(result.x - expected).max() <= 1e-3 * np.abs(expected).max()


@on_accelerators(preconditioner=PARALLEL, solver=METHODS)
def test_on_accelerators(accelerator, case):
    # Without a preconditioner rounding decides on the end.
    assert_same(accelerator, {"none": 60, "incomplete-poisson": 20}.get(case["preconditioner"], 2), **case)


@pytest.mark.parametrize("text", ["jacobi + neumann:2 + coarse:4", "schwarz:2x2,solver=chebyshev:4", "schwarz:3x2"])
def test_sums_on_accelerators(accelerator, text):
    for solver in METHODS:
        assert_same(accelerator, 2, solver=solver, preconditioner=text)
