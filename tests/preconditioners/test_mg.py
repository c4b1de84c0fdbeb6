"""Geometric multigrid: the cycle against dense algebra, definiteness, iteration counts, refusals and traces."""

from __future__ import annotations

import numpy as np
import pytest

from tests.all_pairs import on_accelerators
from tests.conftest import grid_stencil
from workbench import devices
from workbench.errors import InputError
from workbench.operators import BandStencil
from workbench.preconditioners.mg_cycle import series_weight
from workbench.problems import LinearSystem
from workbench.registry import blocks as registry
from workbench.run import Run, Stopping, configure, run_through

SIDE = {"sides": "z-:dirichlet"}
RANDOM = {"layout": "random", "count": 5, "radius": 0.15, **SIDE}
SMALL = {
    "8 bubbles": ("bubbles-3d", {"n": 8, **SIDE}),
    "random bubbles, an odd grid": ("bubbles-3d", {"n": 9, **RANDOM}),
    "all Neumann": ("bubbles-3d", {"n": 8}),
    "contrast 1e-6": ("bubbles-3d", {"n": 8, "contrast": 1e-6, **SIDE}),
    "contrast 1e3": ("bubbles-3d", {"n": 8, "contrast": 1e3, **SIDE}),
    "slabs": ("slabs-3d", {"n": 10}),
    "bubbles in 2D": ("bubbles-2d", {"n": 21, "sides": "x-:dirichlet"}),
    "two layers": ("two-layer", {"n": 19}),
    "poisson without phases": ("poisson7", {"n": 8}),
    "one dimension of cells": ("poisson5", {"n": 17}),
    "formulas, with bands": ("poisson-2d", {"n": 18, "a": "1 + 100*x*y"}),
}
LARGER = {
    "levels below the next": ("bubbles-3d", {"n": 13, **SIDE}),
    "random bubbles": ("bubbles-3d", {"n": 13, **RANDOM, "contrast": 1e-6}),
    "all Neumann": ("bubbles-2d", {"n": 36}),
}


def made(name, parameters, text="mg", device="cpu"):
    """The system, and M^-1 as a function of host vectors."""
    system = configure(name, parameters).problem.assemble()
    chosen = devices.device(device)
    M = registry.find("preconditioner", text).setup_of(system, chosen)
    size, dtype = system.operator.shape[0], system.operator.dtype

    def apply(r):
        u = chosen.zeros(size, dtype)
        M.apply(chosen.array(r, dtype), u)
        return np.array(chosen.to_host(u))

    return system, apply, M


def dense(apply, size):
    return np.column_stack([apply(unit) for unit in np.eye(size)])


def on_complement(system, inverse):
    """P M^-1 P with P removing the mean, where A is singular: a constant in u changes no residual."""
    if system.null_space is None:
        return inverse
    return inverse - inverse.mean(axis=0) - inverse.mean(axis=1, keepdims=True) + inverse.mean()


def smoother(A, text):
    """S as a dense matrix."""
    size, D = len(A), np.diag(np.diag(A))
    if "chebyshev" in text:
        # From u = 0: two steps for D^-1 A on [0.5, 2], by the polynomial itself.
        low, high, T = 0.5, 2.0, np.linalg.solve(D, A)
        center, half = (high + low) / 2, (high - low) / 2
        scaled = (center * np.eye(size) - T) / half
        at_zero = 2 * (center / half) ** 2 - 1
        residual = (2 * scaled @ scaled - np.eye(size)) / at_zero
        return np.linalg.solve(T, np.eye(size) - residual) @ np.linalg.inv(D)
    order = int(text.partition("degree=")[2] or 1)
    X = -np.tril(A, -1) @ np.linalg.inv(D)
    K = sum(np.linalg.matrix_power(X, k) for k in range(order + 1))
    return K.T @ np.linalg.inv(D) @ K


def two_grid(system, text):
    """One cycle with an exact solve on the next level, from its definition."""
    A, grid = system.operator.to_csr().toarray(), system.grid
    phase = np.zeros(len(A), int) if system.phase is None else system.phase
    # BoxStencil j of n cells with k boxes begins at ceil(j n/k).
    sides = [np.searchsorted(-(-np.arange(1, -(-n // 2)) * n // -(-n // 2)), np.arange(n), side="right") for n in grid]
    boxes = np.stack([side.ravel() for side in np.meshgrid(*sides, indexing="ij")] + [phase])
    labels = np.unique(boxes, axis=1, return_inverse=True)[1].ravel()
    Z = np.eye(labels.max() + 1)[labels]
    S, one = smoother(A, text), np.eye(len(A))
    correction = Z @ (1.8 * np.linalg.pinv(Z.T @ A @ Z, rcond=1e-10)) @ Z.T
    return 2 * S - S @ A @ S + (one - S @ A) @ correction @ (one - A @ S)


@pytest.mark.parametrize(
    ("case", "text"),
    [(case, text) for text in ("mg", "mg:degree=2") for case in SMALL]
    + [(case, "mg:smoother=chebyshev,degree=2") for case in ("8 bubbles", "bubbles in 2D", "poisson without phases")],
)
def test_a_cycle_is_that_of_its_definition(case, text):
    system, apply, _ = made(*SMALL[case], text)
    expected = on_complement(system, two_grid(system, text))
    found = on_complement(system, dense(apply, len(expected)))
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


@on_accelerators(case=["8 bubbles", "random bubbles, an odd grid", "two layers", "formulas, with bands"])
def test_a_cycle_on_an_accelerator_is_that_on_the_cores(accelerator, case):
    system, cores, _ = made(*SMALL[case["case"]])
    _, apply, _ = made(*SMALL[case["case"]], device=accelerator.spec)
    r = np.random.default_rng(3).standard_normal(system.operator.shape[0])
    np.testing.assert_allclose(apply(r), cores(r), atol=1e-9 * np.abs(cores(r)).max())


@pytest.mark.parametrize("text", ["mg:v", "mg:cycle=v,smoother=chebyshev,degree=2", "mg:cycle=v,degree=3"])
@pytest.mark.parametrize("case", LARGER)
def test_with_v_cycles_on_several_levels_it_is_symmetric_and_positive_definite(case, text):
    system, apply, M = made(*LARGER[case], text)
    size = system.operator.shape[0]
    inverse = on_complement(system, dense(apply, size))
    assert M.varies
    assert np.abs(inverse - inverse.T).max() <= 1e-5 * np.abs(inverse).max()
    if system.null_space is not None:
        inverse += 1 / size
    # It has a Cholesky factor, which takes a fraction of the time of its eigenvalues.
    np.linalg.cholesky((inverse + inverse.T) / 2)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("excess", [0.0, 0.5])
def test_the_weight_of_the_series_keeps_the_eigenvalues_below_two(order, excess):
    rng, largest = np.random.default_rng(order), 0.0
    for _ in range(200):
        grid = tuple(rng.integers(2, 5, 3))
        operator = grid_stencil(grid)
        A = operator.to_csr().toarray()
        couplings = np.tril(A, -1) * 10 ** rng.uniform(-3, 3, A.shape)
        A = couplings + couplings.T
        A += np.diag(np.abs(A).sum(axis=1) / (1 + excess))
        S = series_weight(order, 1 + excess) * smoother(A, f"degree={order}")
        roots = np.sqrt(np.diag(A))
        # S A is similar to L^T A L for S = L L^T.
        L = np.linalg.cholesky((S + S.T) / 2 * np.outer(roots, roots)) / roots[:, None]
        largest = max(largest, np.linalg.eigvalsh(L.T @ A @ L).max())
    assert 0.5 < largest < 2
    assert series_weight(order, 1.0) == 1


def iterations(name, device="cpu", text="mg", precision="float64", solver="cg", **parameters):
    chosen = {"preconditioner": text, "device": device, "solver": solver, "precision": precision, "x0": "zero"}
    result = run_through(Run(configure(name, parameters, stopping=Stopping(rtol=1e-6, maxiter=60), **chosen)))
    assert result.converged
    assert result.true_relative_residual <= 1.1e-6
    return result.iterations


@pytest.mark.parametrize("contrast", [1e-6, 1e-3, 1.0, 1e3])
def test_iterations_hardly_depend_on_contrast_or_mesh_width(contrast):
    counts = [iterations("bubbles-3d", n=n, contrast=contrast, **SIDE) for n in (16, 31, 48)]
    assert max(counts) <= 11


@pytest.mark.parametrize(
    ("name", "parameters", "most"),
    [
        ("bubbles-3d", {"n": 48, "count": 50, "layout": "random", "radius": 0.05, **SIDE}, 12),
        ("bubbles-3d", {"n": 45}, 10),
        ("slabs-3d", {"n": 33}, 8),
        ("two-layer", {"n": 200}, 11),
        ("poisson7", {"n": 40}, 10),
        ("poisson-3d", {"n": 24, "a": "1 + 9*x"}, 12),
    ],
)
def test_iterations_are_few(name, parameters, most):
    assert iterations(name, **parameters) <= most


def test_flexible_cg_on_the_levels_saves_iterations_for_many_bubbles():
    many = {"n": 40, "count": 60, "layout": "random", "radius": 0.05, **SIDE}
    assert iterations("bubbles-3d", **many) < 0.75 * iterations("bubbles-3d", text="mg:v", **many)
    assert iterations("bubbles-3d", solver="fcg", **many) >= iterations("bubbles-3d", **many) - 1


@pytest.mark.parametrize("device", ["cpu", "opencl"])
def test_precision_mixed_takes_about_the_same_iterations(device):
    counts = {
        precision: iterations("bubbles-3d", device=device, precision=precision, n=24, **SIDE)
        for precision in ("float64", "mixed")
    }
    assert abs(counts["mixed"] - counts["float64"]) <= 1


def test_solvers_that_update_m_times_r_by_a_recurrence_are_refused_in_a_sentence():
    with pytest.raises(InputError, match="pipecg updates M\\^-1 r by a recurrence.* use solver cg"):
        Run(configure("bubbles-3d", {"n": 24, **SIDE}, preconditioner="mg", solver="pipecg"))
    # The one level below a small grid is exact.
    assert iterations("bubbles-3d", solver="pipecg", n=8, **SIDE) <= 10


def test_a_trace_names_the_work_of_each_level_and_all_of_the_traffic():
    configuration = configure("bubbles-3d", {"n": 24, **SIDE}, preconditioner="mg")
    run = Run(configuration, trace=True)
    run_through(run)
    names = {kernel.name for kernel in run.trace.kernels}
    assert {f"{work}finest grid" for work in ("smooth, ", "residual and restriction, ", "correct ")} <= names
    assert {"smooth, level 0", "coarsest level"} <= names
    M = run.setup.M
    finest = sum(call.traffic for call in M.parts() if "finest" in call.name)
    assert M.traffic > finest > 10 * run.setup.b.nbytes
    assert M.flops > run.setup.bound.flops


@pytest.mark.parametrize("device", ["cpu", "opencl"])
def test_complex_hermitian_stencils(device):
    """Magnetic Laplacian: links of modulus one; the next level's matrix is complex as well."""
    n = 20
    phases = np.exp(0.3j * np.arange(n))
    west = np.repeat(-phases[:, None], n, axis=1)
    west[:, 0] = 0
    south = np.full((n, n), -1, complex)
    south[0] = 0
    operator = BandStencil((n, n), np.full(n * n, 4.0 + 0j), (west.ravel(), south.ravel()))
    random = np.random.default_rng(0)
    b = random.standard_normal(n * n) + 1j * random.standard_normal(n * n)
    system = LinearSystem(operator, b, grid=(n, n))
    stopping = {"rtol": 1e-10}
    found, plain = (
        run_through(Run(configure("poisson5", n=n, preconditioner=first, device=device, stopping=stopping), system))
        for first in ("mg", "jacobi")
    )
    assert found.converged
    assert found.iterations < plain.iterations / 2
    np.testing.assert_allclose(found.x, np.linalg.solve(operator.to_csr().toarray(), b), atol=1e-8)
