"""Every method for many right-hand sides solves, on every device and in every precision, with every level."""

from __future__ import annotations

import numpy as np
import pytest

import workbench.run  # noqa: F401  registers every block
from tests.all_pairs import on_accelerators, pairwise
from tests.conftest import grid_stencil, random_matrix
from tests.contracts import cases
from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.registry import blocks as registry
from workbench.run import Run, Stopping, configure, run_through, solve
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.run.choices.rules import check_rules, of_columns

METHODS = [name for name in cases.ON_CORES if registry.registered("solver")[name].takes_blocks]
COLUMNS = (3, 1, 17)
RTOL = {"float32": 1e-4, "float64": 1e-9, "complex64": 1e-4, "complex128": 1e-9}
"""A loose one in single precision, which is the attainable accuracy times ten. The condition numbers are below 300."""
GRID = (9, 11, 13)
"""Many more unknowns than columns: the first block CG stops where block Krylov spaces are exhausted."""


def right_hand_sides(size, columns, dtype):
    rng = np.random.default_rng(columns)
    B = rng.standard_normal((size, columns))
    if np.dtype(dtype).kind == "c":
        B = B + 1j * rng.standard_normal((size, columns))
    return B.astype(dtype)


def check(operator, columns, dtype, **chosen):
    """The solution is that of dense algebra, and every column is reported with its true residual."""
    B = right_hand_sides(operator.shape[0], columns, dtype)
    check_result(solve(operator, B, rtol=RTOL[dtype], **chosen), operator, B)


def check_result(result, operator, B):
    dense, columns, dtype = operator.to_csr().toarray(), B.shape[1], B.dtype.name
    # (N, 1) is one right-hand side, x of shape (N,).
    X = result.x.reshape(B.shape)
    assert result.converged, (result.reason, result.detail)
    assert X.dtype == np.dtype(dtype)
    wide = np.result_type(dtype, np.float64)
    true = np.linalg.norm(B - dense.astype(wide) @ X.astype(wide), axis=0) / np.linalg.norm(B, axis=0)
    assert (true <= 1.01 * RTOL[dtype]).all()
    error = np.abs(X - np.linalg.solve(dense.astype(wide), B)).max()
    assert error <= 300 * RTOL[dtype] * np.abs(X).max()
    if columns > 1:
        assert len(result.columns) == columns
        np.testing.assert_allclose(
            [column.true_relative_residual for column in result.columns], true, rtol=0.01, atol=1e-12
        )


@pairwise(solver=METHODS, columns=COLUMNS, dtype=list(RTOL), M=["none", "jacobi"], form=["stencil", "csr"])
def test_on_cores(case):
    form = case.pop("form")
    operator = grid_stencil(GRID, case["dtype"]) if form == "stencil" else random_matrix(301, case["dtype"])
    check(operator, **case)


@on_accelerators(solver=METHODS, columns=COLUMNS, dtype=list(RTOL), M=["none", "jacobi"], form=["stencil", "csr"])
def test_on_accelerators(accelerator, case):
    form = case.pop("form")
    operator = grid_stencil(GRID, case["dtype"]) if form == "stencil" else random_matrix(301, case["dtype"])
    check(operator, device=accelerator.spec, **case)


@pytest.mark.parametrize("M", cases.FIRST)
def test_every_first_level(M):
    on_a_grid = registry.find("preconditioner", M).needs_stencil
    check(grid_stencil(GRID) if on_a_grid else random_matrix(301), 3, "float64", solver="block-cg", M=M)


@pairwise(
    solver=METHODS,
    variant=cases.HERMITIAN,
    deflation=[name for name in cases.SECOND if not name.startswith("levelset")],
)
def test_every_method_with_deflation(case):
    operator = grid_stencil(GRID)
    B = right_hand_sides(operator.shape[0], 3, "float64")
    chosen = configure(InMemoryProblem(), preconditioner="jacobi", stopping=Stopping(rtol=RTOL["float64"]), **case)
    result = run_through(Run(chosen, LinearSystem(operator, B, grid=GRID)))
    check_result(result, operator, B)
    assert result.summary["deflation_vectors"] > 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("variant", cases.VARIANTS)
def test_variants_that_need_not_converge_are_refused(method, variant):
    """The others are those of `test_every_method_with_deflation`."""
    chosen = configure("two-layer", n=8, solver=method, rhs="random:3", deflation="stripes", variant=variant)
    if variant in cases.HERMITIAN or method == "bf-block-cg":
        check_rules(of_columns(chosen))
        return
    with pytest.raises(InputError, match=f"variant {variant} .* use variant a-def2 or bnn") as refused:
        check_rules(of_columns(chosen))
    assert dict(refused.value.changes) == {"variant": "a-def2"}


def test_unsymmetric_preconditioner_of_a_method_that_takes_it():
    labels = np.arange(301) // 76
    check(random_matrix(301), 3, "float64", solver="bf-block-cg", M="jacobi", deflation=labels, variant="a-def1")


def test_deflation_on_an_accelerator(accelerator):
    labels = np.arange(301) // 76
    check(random_matrix(301), 3, "float64", M="neumann:1", deflation=labels, device=accelerator.spec)
