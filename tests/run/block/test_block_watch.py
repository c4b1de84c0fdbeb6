"""Iterations of block methods that an accelerator repeats by itself, against those of the cores, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.all_pairs import on_accelerators
from tests.conftest import grid_stencil, random_values
from workbench.operators import Matrix
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, run_through
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.run.loop.block import chunk

METHODS = ("pseudo-block-cg", "block-cg")


def system_of(dtype, columns, *, alike=False, csr=True):
    """An odd number of unknowns; columns of very different sizes, one zero, and alike: some that depend on others."""
    stencil = grid_stencil((13, 17), dtype, shift=1e-3)
    A = Matrix(stencil.to_csr()) if csr else stencil
    B = random_values((A.shape[0], columns), dtype)
    if columns > 1:
        B = B * np.logspace(0, -6, columns)
        B[:, 1] = 0
    if alike:
        B[:, columns // 2 :] = B[:, : columns - columns // 2] @ np.ones((columns - columns // 2,) * 2)
    return LinearSystem(A, B)


def configuration(method, device, **more):
    stopping = more.pop("stopping", Stopping(rtol=1e-8))
    return configure(InMemoryProblem(), solver=method, device=device, stopping=stopping, **more)


@on_accelerators(
    method=METHODS,
    columns=[2, 3, 16],
    dtype=["float64", "complex128", "float32"],
    alike=[False, True],
    csr=[False, True],
)
def test_repeated_iterations_are_those_of_the_cores(accelerator, case):
    system = system_of(np.dtype(case["dtype"]), case["columns"], alike=case["alike"], csr=case["csr"])
    stopping = Stopping(rtol=1e-4 if case["dtype"] == "float32" else 1e-8)
    repeated, expected = (
        run_through(Run(configuration(case["method"], device, stopping=stopping), system))
        for device in (accelerator.spec, "cpu")
    )
    assert repeated.converged
    eps = np.finfo(case["dtype"]).eps
    np.testing.assert_allclose(repeated.x, expected.x, rtol=0, atol=1e4 * eps * np.abs(expected.x).max())
    if case["dtype"] == "float32":
        # Rounding may move the end by an iteration.
        assert abs(repeated.iterations - expected.iterations) <= 2
        return
    assert repeated.iterations == expected.iterations
    assert [column.iteration for column in repeated.columns] == [column.iteration for column in expected.columns]
    np.testing.assert_array_equal(repeated.history.rank, expected.history.rank)
    np.testing.assert_allclose(repeated.history.columns, expected.history.columns, rtol=1e6 * eps, atol=1e3 * eps)


@pytest.mark.parametrize("method", METHODS)
def test_several_iterations_are_made_without_the_host(accelerator, monkeypatch, method):
    # However slow the device is.
    monkeypatch.setattr(chunk, "SECONDS", np.inf)
    reads, to_host = [], accelerator.to_host
    monkeypatch.setattr(accelerator, "to_host", lambda vector: (reads.append(vector), to_host(vector))[1])
    run = Run(configuration(method, accelerator.spec), system_of(np.dtype(float), 3))
    for _ in range(4):
        run.step()
    assert run.iterations > 4
    before = run.iterations
    reads.clear()
    run.step()
    # The number of rows, and the rows; then, if a column has converged, its true residual.
    assert len(reads) <= 4 < run.iterations - before


@on_accelerators(most=[1, 3], method=METHODS)
def test_a_caller_may_ask_for_few_iterations(accelerator, case):
    most, method = case["most"], case["method"]
    run = Run(configuration(method, accelerator.spec), system_of(np.dtype(float), 3))
    run.step(most)
    for _ in range(5):
        before = run.iterations
        run.step(most)
        assert before < run.iterations <= before + most


@pytest.mark.parametrize("method", METHODS)
def test_a_coarse_system_that_the_host_solves_leaves_no_iteration_to_the_device(accelerator, method):
    runs = [
        Run(configure("poisson5", n=12, rhs="random:3", solver=method, deflation="blocks:3", device=device))
        for device in (accelerator.spec, "cpu")
    ]
    for _ in range(4):
        runs[0].step()
    assert runs[0].iterations == 3
    repeated, expected = map(run_through, runs)
    assert repeated.converged
    assert repeated.iterations == expected.iterations


@pytest.mark.parametrize("method", METHODS)
def test_an_indefinite_matrix_is_found_like_on_the_cores(accelerator, method):
    # Eigenvalues 1 +- 2 cos(t), some of which are below zero.
    matrix = sparse.diags_array([1.0] * 3, offsets=[-1, 0, 1], shape=(41, 41), format="csr")
    B = random_values((41, 3), np.float64)
    runs = [
        run_through(Run(configuration(method, device, preconditioner="none"), LinearSystem(Matrix(matrix), B)))
        for device in (accelerator.spec, "cpu")
    ]
    assert runs[0].reason == runs[1].reason
    assert not runs[0].converged
