"""500 random runs, recomputed in extended precision: no false "converged", no definite matrix blamed, no traceback.

Systems are ill-conditioned, scaled, singular, indefinite or harmless; methods, both levels and precisions are drawn.
What a run says is held to ||b - A x|| in 80-bit arithmetic with the A, b and x that went in and came out.
"""

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import relative_residual
from tests.contracts.cases import COARSE, ON_CORES, VARIANTS
from workbench.errors import InputError
from workbench.run import Reason, solve

RUNS = 500
PARTS = 10
OFTEN = 4
"""Parts that run each time; the others are as many draws more."""
FIRST = ["none", "jacobi", "neumann:2", "ic", "block-ic:3", "ssor", "chebyshev:3", "fsai", "amg:sa"]
SECOND = ["none", "none", "blocks:4", "labels", "vectors", "eigenvectors:3", "ritz:3"]
SLACK = 1.02
"""||b - A x|| is computed in the run's own precision; this much of it may be rounding."""

pytestmark = pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long double is double precision here")


def laplacian(n, contrast, rng, *, held):
    """Five points on n x n cells with two materials, zero row sums unless one side is held."""
    k = np.where(rng.random((n, n)) < 0.3, contrast, 1.0)
    A = np.zeros((n * n, n * n))
    for i in range(n):
        for j in range(n):
            for low, high in (((i, j), (i + 1, j)), ((i, j), (i, j + 1))):
                if max(high) < n:
                    p, q = (row * n + column for row, column in (low, high))
                    weight = 2 * k[low] * k[high] / (k[low] + k[high])
                    A[p, p] += weight
                    A[q, q] += weight
                    A[p, q] -= weight
                    A[q, p] -= weight
    if held:
        A[np.arange(n), np.arange(n)] += 2 * k[0]
    return A


def dense_spectrum(values, rng):
    basis = np.linalg.qr(rng.standard_normal((values.size, values.size)))[0]
    A = (basis * values) @ basis.T
    return (A + A.T) / 2


def draw(rng):
    """A, b and a name: a symmetric matrix with positive diagonal, of some kind and size."""
    kind = rng.choice(["grid", "graded", "ill", "neumann", "low rank", "indefinite", "nearly", "tiny"])
    n = int(rng.integers(4, 8))
    size = n * n
    if kind in ("grid", "neumann"):
        A = laplacian(n, 10.0 ** rng.integers(-6, 7), rng, held=kind == "grid")
    elif kind == "graded":
        scale = 10.0 ** rng.uniform(-5, 5, size)
        A = scale[:, None] * laplacian(n, 1.0, rng, held=True) * scale
        A = (A + A.T) / 2
    elif kind == "ill":
        A = dense_spectrum(np.logspace(-rng.uniform(4, 18), 0, size), rng)
    elif kind == "low rank":
        A = dense_spectrum(np.concatenate([np.zeros(size // 3), 1 + rng.random(size - size // 3)]), rng)
    elif kind == "indefinite":
        A = dense_spectrum(np.concatenate([[-(10.0 ** rng.uniform(-6, 0))], 0.1 + rng.random(size - 1)]), rng)
    elif kind == "nearly":
        A = dense_spectrum(np.concatenate([[1e-17], 0.5 + rng.random(size - 1)]), rng)
    else:
        A = np.diag(0.5 + rng.random(3)) + 0.1
    size = A.shape[0]
    b = A @ rng.standard_normal(size) if rng.random() < 0.6 else rng.standard_normal(size)
    scale = 10.0 ** float(rng.choice([0, 0, 0, -18, 18, -170, 170, -290]))
    return str(kind), A * 2.0 ** rng.integers(-60, 61), b * scale


def choices(size, rng):
    second = rng.choice(SECOND)
    deflation = {
        "labels": np.arange(size) * min(4, size) // size,
        "vectors": rng.standard_normal((size, min(3, size - 1))),
    }.get(str(second), str(second))
    return {
        "solver": str(rng.choice(ON_CORES)),
        "M": str(rng.choice(FIRST)),
        "deflation": deflation,
        "coarse": str(rng.choice(COARSE)),
        "variant": str(rng.choice(VARIANTS)),
        "rtol": float(rng.choice([1e-3, 1e-6, 1e-9, 1e-12, 1e-15])),
        "maxiter": 400,
    }


def is_definite(A):
    """By Cholesky in 80-bit arithmetic, where a pivot within rounding of zero counts as positive."""
    rest = A.astype(np.longdouble)
    rounding = 50 * A.shape[0] * np.finfo(np.longdouble).eps * np.abs(rest).max()
    for k in range(A.shape[0]):
        if rest[k, k] < -rounding:
            return False
        if rest[k, k] > rounding:
            row = rest[k] / rest[k, k]
            rest = rest - np.outer(rest[:, k], row)
        elif np.abs(rest[k, k:]).max() > np.sqrt(rounding * np.abs(A).max()):
            return False
        rest[k], rest[:, k] = 0, 0
    return True


def outcome(A, b, picked):
    """The result of a run, or the sentence that refuses it; any other exception is one."""
    try:
        return solve(sparse.csr_array(A), b, **picked)
    except InputError as refusal:
        return str(refusal)


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=[pytest.mark.slow] * (part >= OFTEN)) for part in range(PARTS)]
)
def test_what_is_said_of_a_run_is_true(part):
    outcomes = []
    for number in range(part, RUNS, PARTS):
        rng = np.random.default_rng([2026, number])
        kind, A, b = draw(rng)
        picked = choices(b.size, rng)
        dtype = np.float32 if rng.random() < 0.4 else np.float64
        with np.errstate(over="ignore", under="ignore"):
            A, b = A.astype(dtype), b.astype(dtype)
        if not b.any() or not (np.isfinite(A).all() and np.isfinite(b).all()):
            b = np.ones(b.size, dtype)
        second = np.shape(picked["deflation"]) or picked["deflation"]
        case = (number, kind, dtype.__name__, {**picked, "deflation": second})
        given = A.copy(), b.copy()
        result = outcome(A, b, picked)
        if isinstance(result, str):
            assert "\n" not in result, case
            outcomes.append("refused")
            continue
        outcomes.append(result.reason.name)
        assert np.array_equal(A, given[0]), case
        assert np.array_equal(b, given[1]), case
        case = (*case, result.reason.name, result.detail)
        if result.reason is Reason.CONVERGED:
            assert relative_residual(A, b, result.x) <= SLACK * picked["rtol"], case
        if result.reason is Reason.CONSISTENT:
            wide = b.astype(np.longdouble)
            assert relative_residual(A, wide - wide.mean(), result.x) <= SLACK * picked["rtol"], case
            assert relative_residual(A, b, result.x) > picked["rtol"], case
        if result.reason is Reason.INDEFINITE:
            assert not is_definite(A), case
        if not result.reason.converged:
            assert np.isfinite(result.x).all() or "x overflows" in result.detail, case
    # The draw is no good if nothing converges, or everything does.
    assert outcomes.count("CONVERGED") >= 10, outcomes
    assert len(set(outcomes)) >= 4, outcomes
