"""Boundaries between subdomains as segments."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from workbench.plots.figures import boundaries


def test_four_quarters_are_separated_by_a_cross():
    quarters = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]])
    found = boundaries(quarters)
    assert found.step == 1
    assert {tuple(row) for row in found.segments} == {(0, 0.5, 1, 0.5), (0.5, 0, 0.5, 1)}


def test_one_subdomain_has_no_boundary():
    assert boundaries(np.zeros((5, 7), dtype=int)).segments.shape == (0, 4)


def test_an_inner_subdomain_has_a_closed_boundary():
    labels = np.zeros((8, 8), dtype=int)
    labels[2:5, 3:7] = 1
    length = np.abs(np.diff(boundaries(labels).segments.reshape(-1, 2, 2), axis=1)).sum()
    assert length == 2 * (3 + 4) / 8


def test_a_round_boundary_is_complete():
    y, x = np.mgrid[-100:100, -100:100] + 0.5
    found = boundaries((x**2 + y**2 < 80**2).astype(int))
    assert found.step == 1
    np.testing.assert_allclose(np.abs(found.segments[:, :2] - found.segments[:, 2:]).sum(), 8 * 80 / 200)


def test_too_many_boundaries_are_sampled_evenly():
    found = boundaries(np.repeat(np.arange(100), 3).reshape(100, 3), most=10)
    assert found.step == 10
    heights = found.segments[:, 1]
    np.testing.assert_allclose(np.diff(heights), 0.1)


@given(hnp.arrays(np.int32, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.integers(0, 2)))
def test_the_total_length_is_that_of_all_faces_between_subdomains(labels):
    found = boundaries(labels)
    rows, columns = labels.shape
    faces = np.count_nonzero(labels[1:] != labels[:-1]) / columns
    faces += np.count_nonzero(labels[:, 1:] != labels[:, :-1]) / rows
    length = np.abs(found.segments[:, :2] - found.segments[:, 2:]).sum()
    np.testing.assert_allclose(length, faces, atol=1e-12)
    assert found.segments.size == 0 or (found.segments.min() >= 0 and found.segments.max() <= 1)
