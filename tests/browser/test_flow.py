"""A flow on its page: played, paused, with a method that is changed, an earlier step, and a race."""

import pytest

from tests.browser import lab
from tests.browser.bench import Bench, opened

pytestmark = pytest.mark.browser

CELL = "from workbench.live import workbench\nworkbench(n=64)"


@pytest.mark.parametrize("place", ["voila"])
def test_a_flow_is_played_changed_and_looked_back_at(page, request, place, shoot):
    opened(page, request, place, CELL)
    bench = Bench(page, lambda stage: shoot(f"flow_{stage}"))
    page.locator(".wb-tab[data-key=flow]").click()
    view, words = page.locator(".wb-flow"), page.locator(".wb-flow .wb-words").first
    picture = view.locator(".wb-field canvas")
    act = lambda name: view.locator(f".wb-runbar button[data-act={name}]")  # noqa: E731
    act("run").wait_for()
    act("run").click()
    bench.until(lambda: "steps a second" in words.inner_text())
    bench.until(lambda: int(picture.get_attribute("data-frames") or 0) > 3)
    act("pause").click()
    bench.until(lambda: "paused after" in words.inner_text())
    paused = words.inner_text()
    lab.pick(view.locator(".wb-adding").first, "preconditioner", "mg")
    act("step").click()
    bench.until(lambda: words.inner_text() != paused and "paused after" in words.inner_text())
    bench.until(lambda: "geometric multigrid" in view.inner_text())
    view.get_by_role("button", name="Race four methods").click()
    bench.until(lambda: "latest steps replayed" in view.inner_text())
    bench.until(lambda: view.locator("table tbody tr").count() == 4)
    bench.shoot("raced")
    act("stop").click()
    bench.until(lambda: "stopped after" in words.inner_text())
