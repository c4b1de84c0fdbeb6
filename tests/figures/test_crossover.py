"""The crossover figure: one curve per method with gaps where it cannot run, and rings on the fastest."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.figures import crossover

UNKNOWNS = [1000, 10_000, 100_000]
SECONDS = {"one": [1e-6, 4e-5, 6e-4], "two": [2e-6, 2e-5, None]}


def test_times_are_per_unknown_and_rings_mark_the_fastest():
    (axes,) = crossover(UNKNOWNS, SECONDS, title="modelled", at=5000).axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    np.testing.assert_allclose(lines["one"].get_ydata(), [1, 4, 6])
    np.testing.assert_allclose(lines["two"].get_xdata(), [1000, 10_000])
    np.testing.assert_allclose(lines["the fastest"].get_ydata(), [1, 2, 6])
    assert axes.get_ylabel().endswith("ns")
    assert axes.get_title(loc="left") == "modelled"
    assert any("N = 5,000" in text.get_text() for text in axes.texts)


def test_a_method_that_cannot_run_stays_in_the_legend():
    (axes,) = crossover(UNKNOWNS, {**SECONDS, "three": [None] * 3}).axes
    assert "three" in [line.get_label() for line in axes.get_lines()]


def test_invalid_data_are_refused():
    with pytest.raises(InputError, match="one has 2 times for 3 sizes"):
        crossover(UNKNOWNS, {"one": [1.0, 2.0]})
    with pytest.raises(InputError, match="no method can run"):
        crossover(UNKNOWNS, {"one": [None] * 3})
