"""One column as a block is judged as one right-hand side is, and several for the reasons that one has."""

import numpy as np
import pytest

from tests.all_pairs import pairwise
from tests.conftest import grid_stencil
from workbench.records import BlockHistory
from workbench.run import solve

METHODS = ["block-cg", "pseudo-block-cg", "bf-block-cg", "block-cg-oleary"]
FAR = 1e9 * np.random.default_rng(0).random(144)


@pairwise(rtol=[1e-8, 1e-15, 1e-17], start=["zero", "far"], solver=METHODS)
def test_one_column_ends_as_one_right_hand_side(case):
    solver, rtol, x0 = case["solver"], case["rtol"], FAR if case["start"] == "far" else None
    A, b = grid_stencil((12, 12)), np.random.default_rng(1).random(144)
    one = solve(A, b, x0, solver=solver, rtol=rtol, maxiter=300)
    column = solve(A, b[:, None], None if x0 is None else x0[:, None], solver=solver, rtol=rtol, maxiter=300)
    assert isinstance(column.history, BlockHistory)
    # Their scaling differs by a power of two, so that rounding is the same.
    assert (column.reason, column.iterations) == (one.reason, one.iterations)
    assert column.columns[0].true_relative_residual == pytest.approx(one.true_relative_residual, rel=1e-6)
    assert column.detail.partition(";")[0] == one.detail.partition(";")[0]


@pytest.mark.parametrize("solver", METHODS[:3])
def test_several_columns_restart_from_their_best(solver):
    A, B = grid_stencil((12, 12)), np.random.default_rng(1).random((144, 3))
    result = solve(A, B, FAR, solver=solver, rtol=1e-8)
    assert result.converged
    assert all(column.true_relative_residual <= 1.01e-8 for column in result.columns)
