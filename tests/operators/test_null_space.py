import numpy as np
import pytest
from scipy import sparse

from workbench import devices
from workbench.operators.null_space import NullSpace, excess


def laplacian(weights):
    """The Laplacian of a path with these conductances, shape (N, N) for N - 1 of them."""
    weights = np.asarray(weights, float)
    diagonal = np.concatenate([weights, [0]]) + np.concatenate([[0], weights])
    return sparse.csr_array(sparse.diags_array([-weights, diagonal, -weights], offsets=[-1, 0, 1]))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("contrast", [1.0, 1e12])
def test_constants_are_found_in_any_units_and_contrast(scale, contrast):
    A = laplacian(scale * np.where(np.arange(30) < 15, 1.0, contrast) * (1 + np.random.default_rng(0).random(30)))
    assert excess(A, np.ones(31)) is None
    anchored = A + sparse.diags_array(np.eye(31)[0] * scale)
    assert excess(sparse.csr_array(anchored), np.ones(31)).row == 0


def test_a_weak_anchor_is_one():
    found = excess(sparse.csr_array(laplacian(np.ones(30)) + 1e-12 * sparse.eye_array(31)), np.ones(31))
    assert found is not None
    assert found.allowed < found.value < 2e-12


@pytest.mark.parametrize("count", [1, 2])
def test_the_span_is_that_of_the_vectors_whatever_their_scale(count):
    rng = np.random.default_rng(1)
    V = rng.standard_normal((20, count))
    x = rng.standard_normal(20)
    expected = x - V @ np.linalg.lstsq(V, x, rcond=None)[0]
    for given in (V, V * [1e-200, 1e200][:count], np.hstack([V, V.sum(axis=1, keepdims=True)])):
        null_space = NullSpace.spanned_by(given, np.dtype(float))
        assert len(null_space.vectors) == count
        found, removed = null_space.complement(x, devices.device("cpu"))
        np.testing.assert_allclose(found, expected, atol=1e-14)
        assert removed == pytest.approx(np.linalg.norm(x - expected))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-300, 1e-25, 1e25, 1e300])
def test_the_excess_of_a_vector_of_any_length_is_that_of_a_short_one(scale):
    """Row 1 of A v is 1e288, and rows of differences are zero."""
    A = sparse.csr_array(1e288 * np.array([[1.0, -1, 0], [-1, 2, 0], [0, 0, 1e-5]]))
    assert excess(A, scale * np.array([1.0, 1, 0])).row == 1
    assert excess(A[:1], scale * np.array([1.0, 1, 0])) is None
    found = excess(A * 1e-288, scale * np.array([1.0, 1, 0]))
    assert found.value == pytest.approx(scale)
