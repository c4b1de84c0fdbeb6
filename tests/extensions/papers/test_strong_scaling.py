"""The model of ranks next to published strong scaling: points and how they were read, deviations, the crossing."""

import numpy as np
import pytest

from workbench.extensions.papers.strong_scaling import SOLVERS, compared, published

TOP, HALF = 147.34239, 52.44941
"""Of the figure: y at 8 s, and how far down half the time is."""
FIRST = {"cg": (62.073124, 98.985597), "pipecg": (59.899379, 110.042198)}


def test_points_are_those_of_the_figure():
    found = published()
    for name in SOLVERS:
        assert len(found[name]) == len(found["nodes"])
        for seconds, y in zip(found[name], FIRST[name], strict=False):
            assert seconds == pytest.approx(8 * 2 ** ((TOP - y) / HALF), abs=1e-3)


def test_by_specification_the_model_is_a_lower_bound():
    found = compared(fitted=False)
    for curve in found.curves:
        assert (curve.ratios < 1).all()
    assert found.crossing[0] == 28


def test_with_two_fitted_numbers_the_rest_is_predicted():
    found = compared(fitted=True)
    cg, pipelined = found.curves
    assert len(cg.ratios) == 12
    assert len(pipelined.ratios) == 14
    np.testing.assert_allclose(np.array(cg.modelled)[[0, -1]], np.array(cg.published)[[0, -1]], rtol=1e-3)
    assert 0.85 < cg.ratios.min() <= cg.ratios.max() < 1.35
    assert 0.65 < pipelined.ratios.min() <= pipelined.ratios.max() < 1.15
    assert found.crossing == (28, 28)
