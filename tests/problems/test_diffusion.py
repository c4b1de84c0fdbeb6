"""The finite-volume stencil against numbers by hand and a cell-by-cell reference."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.problems.diffusion import assemble_diffusion, without_mean
from workbench.problems.sides import Boundary, parse_sides, side_names


def reference(c, sides, scale, distance):
    """The same operator, assembled face by face as a dense matrix."""
    boundaries = parse_sides(sides, c.ndim)
    number = np.arange(c.size).reshape(c.shape)
    dense = np.zeros((c.size, c.size))
    for cell in itertools.product(*map(range, c.shape)):
        i, a = number[cell], c[cell]
        for k in range(c.ndim):
            axis = c.ndim - 1 - k
            for step, end in ((-1, "-"), (1, "+")):
                neighbour = list(cell)
                neighbour[axis] += step
                if 0 <= neighbour[axis] < c.shape[axis]:
                    b = c[tuple(neighbour)]
                    face = scale * 2 * a * b / (a + b)
                    dense[i, i] += face
                    dense[i, number[tuple(neighbour)]] -= face
                elif boundaries["xyz"[k] + end] is Boundary.DIRICHLET:
                    dense[i, i] += scale * a / distance
    return dense


def test_two_by_two_neumann_by_hand():
    operator = assemble_diffusion(np.array([[1.0, 3.0], [1.0, 3.0]]), "neumann")
    by_hand = [[2.5, -1.5, -1.0, 0.0], [-1.5, 4.5, 0.0, -3.0], [-1.0, 0.0, 2.5, -1.5], [0.0, -3.0, -1.5, 4.5]]
    np.testing.assert_allclose(operator.to_csr().toarray(), by_hand, rtol=1e-15)


@pytest.mark.parametrize(("distance", "first"), [(0.5, 4 / 3 + 2), (1.0, 4 / 3 + 1)])
def test_three_cells_in_a_row_by_hand(distance, first):
    operator = assemble_diffusion(np.array([1.0, 2.0, 4.0]), "x-:dirichlet", dirichlet_distance=distance)
    by_hand = [[first, -4 / 3, 0], [-4 / 3, 4, -8 / 3], [0, -8 / 3, 8 / 3]]
    np.testing.assert_allclose(operator.to_csr().toarray(), by_hand, rtol=1e-15)


coefficients = st.tuples(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(0, 2**32 - 1)).map(
    lambda given: 10 ** np.random.default_rng(given[1]).uniform(-3, 3, size=tuple(given[0]))
)


@settings(max_examples=60)
@given(
    c=coefficients,
    held=st.sets(st.sampled_from(side_names(3))),
    scale=st.sampled_from([1.0, 49.0]),
    distance=st.sampled_from([0.5, 1.0]),
)
def test_equals_the_cell_by_cell_reference(c, held, scale, distance):
    sides = ",".join(f"{side}:dirichlet" for side in held if side in side_names(c.ndim)) or "neumann"
    operator = assemble_diffusion(c, sides, scale=scale, dirichlet_distance=distance)
    dense = operator.to_csr().toarray()
    expected = reference(c, sides, scale, distance)
    np.testing.assert_allclose(dense, expected, rtol=1e-13, atol=1e-13 * abs(expected).max())
    np.testing.assert_array_equal(dense, dense.T)
    if sides == "neumann":
        np.testing.assert_allclose(dense @ np.ones(c.size), 0, atol=1e-13 * max(abs(dense).max(), 1))


def test_without_mean():
    assert without_mean(np.array([1.0, 2.0, 6.0])).tolist() == [-2.0, -1.0, 3.0]


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_a_coefficient_that_is_not_positive_is_refused(bad):
    with pytest.raises(InputError, match=r"the coefficient must be positive and finite, got .* in cell 2"):
        assemble_diffusion(np.array([[1.0, 1.0], [bad, 1.0]]), "neumann")


def test_the_distance_must_be_positive():
    with pytest.raises(InputError, match=r"dirichlet_distance must be above 0 cells, got 0\.0"):
        assemble_diffusion(np.ones((2, 2)), "dirichlet", dirichlet_distance=0.0)
