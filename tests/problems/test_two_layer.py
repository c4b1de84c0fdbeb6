"""The paper's 2D problem: entries by hand, and the iteration counts that determined its scale."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from workbench.errors import InputError
from workbench.problems.two_layer import TwoLayer
from workbench.registry import from_dict


def test_rows_by_hand():
    system = TwoLayer(n=4).assemble()
    dense = system.operator.to_csr().toarray()
    interface = 2e-3 / 1.001
    assert dense[1, [0, 1, 2, 5]].tolist() == [-1, 4, -1, -1], "a row next to the wall one cell away"
    assert dense[5, 5] == pytest.approx(3 + interface, rel=1e-15)
    assert dense[5, 9] == pytest.approx(-interface, rel=1e-15)
    assert dense[13, 13] == pytest.approx(3e-3, rel=1e-12), "Neumann at y = 1"
    assert dense[4, 4] == pytest.approx(2 + interface, rel=1e-15), "Neumann at x = 0"
    assert system.b.tolist() == [1.0] * 16
    assert system.random_start
    assert system.null_space is None
    assert system.grid == (4, 4)


@pytest.mark.parametrize(("n", "lower_rows"), [(4, 2), (5, 2), (7, 3), (64, 32)])
def test_the_interface_lies_at_one_half(n: int, lower_rows: int):
    system = TwoLayer(n=n, contrast=50.0).assemble()
    assert system.phase is not None
    assert system.coefficient is not None
    assert system.phase.reshape(n, n)[:, 0].tolist() == [0] * lower_rows + [1] * (n - lower_rows)
    assert np.unique(system.coefficient).tolist() == [1 / 50.0, 1.0]
    assert (system.coefficient[: n * lower_rows] == 1).all()


def test_the_matrix_is_symmetric_positive_definite():
    dense = TwoLayer(n=7).assemble().operator.to_csr().toarray()
    np.testing.assert_array_equal(dense, dense.T)
    assert np.linalg.eigvalsh(dense).min() > 0


def deflated_iterations(n: int, seed: int) -> int:
    """Algorithm 1 of the paper with 2n stripes and Neu2, to 1e-6 ||b||: an independent few lines of SciPy."""
    system = TwoLayer(n=n).assemble()
    a = system.operator.to_csr()
    diagonal, number = a.diagonal(), np.arange(n * n)
    lower = sparse.csr_array(sparse.tril(a, -1)) @ sparse.diags_array(1 / diagonal)
    stripe = 2 * (number // n) + (number % n >= n // 2)
    z = sparse.csr_array((np.ones(n * n), (number, stripe)))
    az = a @ z
    coarse = linalg.splu(sparse.csc_array(z.T @ az))

    def deflate(v: np.ndarray) -> np.ndarray:
        return v - az @ coarse.solve(z.T @ v)

    def precondition(v: np.ndarray) -> np.ndarray:
        v = (v - lower @ (v - lower @ v)) / diagonal
        return v - lower.T @ (v - lower.T @ v)

    r = deflate(system.b - a @ np.random.default_rng(seed).random(n * n))
    p = y = precondition(r)
    count, ry = 0, r @ y
    while np.linalg.norm(r) > 1e-6 * np.linalg.norm(system.b):
        w = deflate(a @ p)
        r = r - ry / (p @ w) * w
        y = precondition(r)
        ry, before = r @ y, ry
        p = y + ry / before * p
        count += 1
    return count


def test_iterations_agree_with_table_2():
    mean = np.mean([deflated_iterations(128, seed) for seed in range(3)])
    assert mean == pytest.approx(61, rel=0.2), "printed for Neu2 at 128 x 128; scaled by 1/h^2 it would be 163"


def test_parameters_are_recovered_from_plain_data():
    problem = TwoLayer(n=33, contrast=10.0)
    assert from_dict(problem.to_dict()) == problem
    assert TwoLayer(n=33).label == "Two layers, 33²"
    assert problem.label == "Two layers, 33², density ratio 10"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"n": 3}, "two-layer: n must be between 4 and 46340, got 3"),
        ({"n": "four"}, "two-layer: n must be a whole number, got 'four'"),
        ({"contrast": 0.0}, "two-layer: contrast must be between 1e-09 and 1e+09, got 0.0"),
    ],
)
def test_invalid_parameters_are_refused(values: dict[str, object], sentence: str):
    with pytest.raises(InputError) as caught:
        TwoLayer.create(values)
    assert str(caught.value) == sentence
