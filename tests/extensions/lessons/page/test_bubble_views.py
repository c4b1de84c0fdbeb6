"""The disc that is dragged over bubbles, and tiny eigenvalues that go one by one."""

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.extensions.lessons.bubbles import eigenvalues, five_bubbles
from workbench.live import DiscVector, TinyEigenvalues


@pytest.fixture
def disc():
    made = DiscVector()
    yield made
    made.close()


def move(view, key, x, y):
    view.chart._receive(view.chart, {"kind": "moved", "key": key, "x": x, "y": y}, [])
    assert view.wait(LIMIT)


def test_a_disc_settles_on_a_bubble_and_a_cell_further_its_quotient_is_a_hundredfold(disc):
    x, y = five_bubbles().centres[1].tolist()
    move(disc, "middle", x + 0.3, y - 0.2)
    np.testing.assert_array_equal(disc.cells, five_bubbles().labels == 2)
    assert "18 × 0.002, so (v, Av) = 0.0360" in disc.words.text
    assert "4 positive eigenvalues are smaller" in disc.words.text
    on = disc.quotient
    move(disc, "middle", x + 1.3, y - 0.2)
    assert disc.quotient > 100 * on
    assert "× 1" in disc.words.text
    assert "face that costs 1" in [layer.name for layer in disc.chart.scene.layers]


def test_a_disc_of_no_cell_and_a_middle_out_of_sight(disc):
    move(disc, "middle", 500.0, -3.0)
    assert disc.middle.tolist() == [23.0, 0.0]
    move(disc, "middle", 3.5, 3.5)
    move(disc, "rim", 3.5, 3.5)
    assert disc.radius == 0.6
    assert "covers the middle of no cell" in disc.words.text
    assert np.isnan(disc.quotient)


def test_vectors_take_eigenvalues_away_and_curves_stay():
    view = TinyEigenvalues()
    view.slider.value = 4
    assert view.wait(LIMIT)
    assert "With 4 vectors, 0 positive eigenvalues are below 0.001" in view.words.text
    assert "5 zeros" in view.spectrum.scene.spoken
    view.option.value = True
    assert view.wait(LIMIT)
    assert "of the cells before, 3 positive eigenvalues are below" in view.words.text
    # That without vectors, the two that were chosen, and the line of the tolerance.
    assert len(view.curve.scene.layers) == 4
    view.close()


def test_columns_raise_the_smallest_eigenvalue_of_the_bound():
    view = TinyEigenvalues("columns")
    view.slider.value = 5
    assert view.wait(LIMIT)
    kappa = eigenvalues(0)[-1] / eigenvalues(0)[4]
    assert f"s = 5: κₛ = {kappa:.0f}" in view.words.text
    iterations = view.curve.scene.layers[-2].x[-1]
    view.option.value = True
    assert view.wait(LIMIT)
    assert view.curve.scene.layers[-2].x[-1] == 5 * iterations
    view.close()


def test_another_way_is_refused():
    with pytest.raises(InputError, match="unknown way"):
        TinyEigenvalues("rows")
