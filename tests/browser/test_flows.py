"""Arrows of a timeline, as the module of the page computes their way."""

import pytest

from tests.browser import lab
from tests.browser.test_ticks import LOAD
from workbench.live.ui.assets import joined

pytestmark = pytest.mark.browser
PASSAGE = """([events, x]) => {
  const [start, end] = [events.map(([from]) => from), events.map(([, to]) => to)];
  const box = { left: 100, width: 1000, right: 1100 };
  const span = { from: 0, to: 10, width: 10 };
  const toX = (seconds) => box.left + (seconds / span.width) * box.width;
  const plot = { span, box, toX, toTime: (at) => ((at - box.left) / box.width) * span.width };
  return window.tested.passage(plot, { start, end, count: events.length }, x);
}"""


@pytest.fixture
def passage(chromium):
    """The place at which an arrow from x passes a lane with these events; 100 pixels are a second."""
    page = lab.context(chromium).new_page()
    page.evaluate(LOAD, joined("plots/flows.js"))
    yield lambda events, x: page.evaluate(PASSAGE, [events, x])
    page.context.close()


def test_an_arrow_passes_a_lane_between_its_boxes(passage):
    # Idle there, and idle everywhere.
    assert passage([[0, 2], [4, 6]], 400) == pytest.approx(400)
    assert passage([], 300) == pytest.approx(300)
    # Within a box it goes to the nearer side, some pixels off.
    assert passage([[0, 2], [4, 6]], 520) == pytest.approx(497)
    assert passage([[0, 2], [4, 6]], 680) == pytest.approx(703)
    # Where there is no room it goes along the border, but not out of sight.
    assert passage([[2, 4], [4.02, 7]], 480) == pytest.approx(501)
    assert passage([[0, 3], [3, 10]], 500) == pytest.approx(400)
    assert passage([[-1, 11]], 500) == pytest.approx(500)
