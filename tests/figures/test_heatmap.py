"""The heat map: numbers where there are some, hatching where there are none."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.figures import heatmap

NAMES = ["a", "b"]


def test_every_cell_has_its_number_or_is_hatched():
    figure = heatmap(np.array([[1, 10], [100, np.nan]]), NAMES, NAMES, row_title="r", column_title="c", label="it")
    (axes,) = figure.axes
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written == {(0, 0): "1", (1, 0): "10", (0, 1): "100"}
    (hatched,) = axes.patches
    assert hatched.get_xy() == (0.5, 0.5)
    # Equal ratios are equal steps of colour.
    assert axes.images[0].get_array()[0].tolist() == [1, 10]
    assert axes.images[0].norm([1, 10, 100]).tolist() == [0, 0.5, 1]


def test_one_value_alone_can_be_read():
    (axes,) = heatmap(np.array([[5.0]]), ["a"], ["b"]).axes
    assert axes.texts[0].get_text() == "5"
    assert axes.texts[0].get_color() == "#ffffff"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [([[1.0]], "cannot show shape"), ([[1, -2], [1, 1]], "at least 0"), (np.full((2, 2), np.nan), "no run gave one")],
)
def test_what_cannot_be_drawn_is_told(values, sentence):
    with pytest.raises(InputError, match=sentence):
        heatmap(np.array(values), NAMES, NAMES)
