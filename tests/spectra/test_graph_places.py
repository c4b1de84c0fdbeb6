"""Places from eigenvectors of a graph: a path lies in its order, a grid along its sides."""

import numpy as np
import pytest
from scipy import sparse

from workbench.errors import InputError
from workbench.problems.poisson import Poisson5
from workbench.spectra import graph_places as module
from workbench.spectra.graph_places import graph_places


def path(size):
    return sparse.csr_array(sparse.diags_array([[1.0] * (size - 1)] * 2, offsets=[-1, 1]))


def test_a_path_lies_in_its_order():
    along = graph_places(path(9))[:, 0] * 8
    assert sorted(along) == pytest.approx(range(9))
    assert abs(np.diff(along)) == pytest.approx(np.ones(8))


@pytest.mark.parametrize("long", [20, 60])
def test_a_strip_lies_along_its_sides(long):
    """The first eigenvector grows along the long side, also where LOBPCG finds it."""
    wide = long - 5
    line, other = (sparse.diags_array([[1.0] * (n - 1)] * 2, offsets=[-1, 1]) for n in (wide, long))
    strip = sparse.csr_array(sparse.kron(line, sparse.eye_array(long)) + sparse.kron(sparse.eye_array(wide), other))
    x = np.tile(np.arange(long), wide)
    assert (strip.shape[0] > module.MOST_DENSE) == (long == 60)
    assert abs(np.corrcoef(graph_places(strip)[:, 0], x)[0, 1]) > 0.98


def test_values_and_signs_of_entries_play_no_part():
    A = Poisson5(n=9).assemble().operator.to_csr()
    scaled = sparse.csr_array((np.arange(1, A.nnz + 1) * 1j, A.indices, A.indptr), shape=A.shape)
    assert np.array_equal(graph_places(A), graph_places(scaled))


def test_unknowns_outside_the_largest_part_have_no_place():
    places = graph_places(sparse.block_diag([path(40), path(2)]).tocsr())
    assert np.isfinite(places[:40]).all()
    assert np.isnan(places[40:]).all()


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (sparse.block_diag([path(9), path(9)]).tocsr(), "falls into parts without couplings"),
        (sparse.csr_array(sparse.eye_array(5)), "falls into parts without couplings"),
        (path(3), "falls into parts without couplings"),
        (path(10_001), "more than 10000 unknowns"),
    ],
)
def test_a_graph_that_cannot_be_placed_is_refused(matrix, sentence):
    with pytest.raises(InputError, match=sentence):
        graph_places(sparse.csr_array(matrix))
