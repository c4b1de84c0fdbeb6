"""The paper's 2D problem: entries by hand."""

import numpy as np
import pytest

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
def test_the_interface_lies_at_one_half(n, lower_rows):
    system = TwoLayer(n=n, density_ratio=0.02).assemble()
    assert system.phase.reshape(n, n)[:, 0].tolist() == [0] * lower_rows + [1] * (n - lower_rows)
    assert np.unique(system.coefficient).tolist() == [1 / 50.0, 1.0]
    assert (system.coefficient[: n * lower_rows] == 1).all()


def test_parameters_are_recovered_from_plain_data():
    problem = TwoLayer(n=33, density_ratio=0.1)
    assert from_dict(problem.to_dict()) == problem
    assert TwoLayer(n=33).label == "Two layers, 33²"
    assert problem.label == "Two layers, 33², density ratio 0.1"
