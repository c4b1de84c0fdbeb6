"""Bounds of the eigenvalues of D^-1 A by powers of |A|."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import random_matrix
from workbench.deflation.hierarchy import SMOOTHED, hierarchy, smoother_coefficients
from workbench.devices.host.aggregation import spectral_bound


def largest(matrix):
    roots = np.sqrt(np.real(matrix.diagonal()))
    return np.linalg.eigvalsh(matrix.toarray() / np.outer(roots, roots)).max()


def bound(matrix, steps):
    matrix = sparse.csr_array(matrix)
    return spectral_bound(matrix.data, matrix.indices, matrix.indptr, np.real(matrix.diagonal()), steps)


def stars(count):
    """Rows with a small diagonal entry among large ones, as slivers make them, each star coupled to the next one.

    D^-1 |A| has row sums above 17, and its eigenvalues are below 2.
    """
    star = np.diag([1.0, 100, 100, 100, 100])
    star[0, 1:] = star[1:, 0] = -4
    matrix = sparse.block_diag([star] * count).tolil()
    for k in range(1, count):
        matrix[5 * k, 5 * k - 1] = matrix[5 * k - 1, 5 * k] = -0.5
    return sparse.csr_array(matrix)


@pytest.mark.parametrize("steps", [0, 1, 3, 10])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_no_eigenvalue_is_above_the_bound_and_no_row_sum_below_it(steps, dtype):
    matrix = random_matrix(60, dtype).to_csr()
    sums = np.asarray(abs(matrix).sum(axis=1)).ravel() / np.real(matrix.diagonal())
    found = bound(matrix, steps)
    assert largest(matrix) <= found * (1 + 1e-12)
    assert found <= sums.max() * (1 + 1e-12)
    assert found <= bound(matrix, max(0, steps - 1)) * (1 + 1e-12)


def test_two_unknowns_by_hand():
    """D^-1 |A| = [[1, 1/2], [1/8, 1]]: row sums 3/2 and 9/8, roots of D give 5/4 in both rows, the eigenvalue."""
    matrix = np.array([[4.0, -2], [-2, 16]])
    assert bound(matrix, 0) == pytest.approx(1.25)
    assert largest(sparse.csr_array(matrix)) == pytest.approx(1.25)


def test_steps_improve_the_bound_where_few_rows_have_large_sums():
    matrix = stars(30)
    sums = np.asarray(abs(matrix).sum(axis=1)).ravel() / matrix.diagonal()
    assert sums.max() > 8 * largest(matrix)
    assert bound(matrix, 3) <= 1.15 * largest(matrix)


def test_levels_are_smoothed_on_an_interval_that_few_large_rows_do_not_widen():
    form = hierarchy(stars(100), None, 60, 1.0, (0, 2))
    widest = 1.2 * 2
    one, two = smoother_coefficients(SMOOTHED * widest, widest)
    found = form.levels[0].smoother
    assert found[0] > one
    assert found[1] > two
