"""Five bubbles of lessons 5 and 7: rims, eigenvalues and errors against the matrix itself."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.extensions.lessons.block_products import ITERATIONS, blocks
from workbench.extensions.lessons.bubbles import (
    eigenvalues,
    errors,
    five_bubbles,
    largest_residuals,
    parts,
    reached,
    rim,
)


@pytest.mark.parametrize("cells", [[(8, 12)], [(0, 0), (0, 1), (23, 23)], "all", "left half"])
def test_a_rim_has_the_products_of_the_matrix(cells):
    bubbles = five_bubbles()
    inside = np.zeros(bubbles.labels.shape, bool)
    if isinstance(cells, str):
        inside[:, : 24 if cells == "all" else 12] = True
    else:
        inside[tuple(np.transpose(cells))] = True
    found, v = rim(inside, bubbles.labels > 0), inside.ravel().astype(float)
    assert found.curvature == pytest.approx(v @ bubbles.A @ v, abs=1e-12)
    assert found.diagonal == pytest.approx(v @ (bubbles.A.diagonal() * v))
    # Each face joins a cell of the set and another: its ends are half a cell from both.
    assert found.ends.shape == (found.cost.size, 2, 2)
    np.testing.assert_allclose(np.abs(np.diff(found.ends, axis=1)).sum(axis=2), 1)


def test_faces_lie_around_the_cell():
    inside = np.zeros((8, 8), bool)
    inside[2, 5] = True
    ends = rim(inside, inside).ends
    assert sorted(map(tuple, ends.mean(axis=1).tolist())) == [(4.5, 2.0), (5.0, 1.5), (5.0, 2.5), (5.5, 2.0)]


def test_a_disc_on_a_bubble_covers_its_cells():
    bubbles = five_bubbles()
    for k, centre in enumerate(bubbles.centres.tolist()):
        np.testing.assert_array_equal(bubbles.disc(centre, bubbles.radius), bubbles.labels == k + 1)


def test_each_vector_takes_a_tiny_eigenvalue_and_iterations():
    tiny = [int((eigenvalues(many) < 1e-3).sum()) for many in range(6)]
    assert tiny == [4, 3, 2, 1, 0, 0]
    counts = [reached(errors(many)) for many in range(6)]
    assert counts == sorted(counts, reverse=True)
    assert counts[5] < 0.6 * counts[0]
    assert (eigenvalues(5, moved=True) < 1e-3).sum() == 3


def test_errors_are_those_of_the_iterates():
    from workbench.run import prepare

    bubbles = five_bubbles()
    x = np.linalg.lstsq(bubbles.A * 24**2, bubbles.system.b, rcond=None)[0]
    norm = np.sqrt(x @ bubbles.A @ x)
    prepared = prepare(bubbles.system, deflation=bubbles.vectors(3), variant="def1", maxiter=40)
    e = x - prepared.solve(bubbles.system.b).x
    assert errors(3)[40] == pytest.approx(np.sqrt(e @ bubbles.A @ e) / norm, rel=1e-6)


def test_blocks_need_fewer_iterations_and_other_widths_are_refused():
    counts = [reached(largest_residuals(columns)) for columns in (1, 2, 5)]
    assert counts[0] > counts[1] > counts[2]
    with pytest.raises(InputError, match="1 to 8 columns here, got 9"):
        largest_residuals(9)


def test_residuals_have_no_part_in_the_zeros_of_deflation():
    plain, found = parts(0), parts(3)
    assert (plain.zeros, found.zeros) == (1, 4)
    # The tiny eigenvalues that are left, and those of M^-1 P A, are those of the other picture.
    np.testing.assert_allclose(found.values[4:], eigenvalues(3), rtol=1e-6)
    np.testing.assert_allclose(np.sum(found.shares**2, axis=1), 1)
    assert found.shares[:, :4].max() < 1e-10
    assert found.of_b[:4].max() > 1e-3
    assert plain.shares[0, 1:5].max() > 1e-3


def test_products_of_blocks_are_zero_where_block_cg_takes_them_to_be():
    found, s = blocks(), 2
    iteration = np.arange(ITERATIONS + 1).repeat(s)
    i, k = iteration[:, None], iteration[None, :]
    for product, zero in (
        (found.P.T @ found.R, k > i),
        (found.U.T @ found.R, k != i),
        (found.S.T @ found.U, (k != i) & (k != i + 1)),
        (found.S.T @ found.P, k != i),
    ):
        assert np.abs(product[zero]).max() < 1e-10
    np.testing.assert_allclose(np.diag(found.P.T @ found.S), 1)
    assert np.abs(found.S.T @ found.U)[k == i + 1].max() > 0.1
