"""The heat map: annotated values, and hatched cells without a value."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.figures import heatmap

NAMES = ["a", "b"]


def test_cells_are_annotated_or_hatched():
    figure = heatmap(np.array([[1, 10], [100, np.nan]]), NAMES, NAMES, row_title="r", column_title="c", label="it")
    (axes,) = figure.axes
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written == {(0, 0): "1", (1, 0): "10", (0, 1): "100"}
    (hatched,) = axes.patches
    assert hatched.get_xy() == (0.5, 0.5)
    # Equal ratios are equal steps of colour.
    assert axes.images[0].get_array()[0].tolist() == [1, 10]
    assert axes.images[0].norm([1, 10, 100]).tolist() == [0, 0.5, 1]


def test_a_single_value_is_legible():
    (axes,) = heatmap(np.array([[5.0]]), ["a"], ["b"]).axes
    assert axes.texts[0].get_text() == "5"
    assert axes.texts[0].get_color() == "#ffffff"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0]], "cannot show shape"),
        ([[1, -2], [1, 1]], "at least 0"),
        (np.full((2, 2), np.nan), "all of them are NaN"),
    ],
)
def test_invalid_values_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        heatmap(np.array(values), NAMES, NAMES)
