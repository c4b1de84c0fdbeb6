"""Ticks of scales and axes, as the modules of the page compute them."""

import numpy as np
import pytest

from tests.browser import lab
from workbench.live.ui.assets import joined

pytestmark = pytest.mark.browser
LOAD = """async text => {
    window.tested = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}"""
ULP = float(np.finfo(float).eps)


@pytest.fixture
def ticks(chromium):
    """The words at the ticks of a linear colour bar."""
    page = lab.context(chromium).new_page()
    page.evaluate(LOAD, joined("field/colorscale.js"))
    yield lambda low, high: page.evaluate(
        "([low, high]) => window.tested.shadeTicks({ low, high, scale: 'linear' }).map(([, words]) => words)",
        [low, high],
    )
    page.context.close()


@pytest.mark.parametrize(
    ("low", "high"), [(1, 1 + ULP), (1, 1 + 2 * ULP), (1 - ULP, 1), (0.9999999999999999, 1.0000000000000002), (-3, -3)]
)
def test_a_range_of_rounding_errors_has_ticks(ticks, low, high):
    assert 1 <= len(ticks(low, high)) <= 8


def test_neighbours_are_told_apart(ticks):
    assert ticks(0.9999, 1.0001) == ["0.9999", "0.99995", "1", "1.00005", "1.0001"]
    assert ticks(0, 1) == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    for low, high in ((1000, 1001), (-1e6 - 1, -1e6), (1e-9, 1.001e-9)):
        found = ticks(low, high)
        assert len(set(found)) == len(found) > 2
