"""A run on two ranks in the explorer: live while it runs, stopped by its button, its picture there afterwards."""

import pytest

from tests.browser.conftest import FIELD

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("place", ["voila"])
def test_a_run_on_ranks_is_live_and_stops(explorer):
    explorer.choose("problem", "bubbles-3d")
    explorer.fill("n", "64")
    explorer.choose("preconditioner", "jacobi")
    explorer.fill("rtol", "1e-13")
    explorer.fill("ranks", "2")
    explorer.click("Run")
    explorer.until(lambda: "start of the ranks" in explorer.status)
    explorer.until(lambda: explorer.state == "running" and explorer.count > 20)
    seen = explorer.count
    explorer.until(lambda: explorer.count > seen)
    explorer.until(lambda: int(explorer.seen(FIELD)["iteration"]) > 0)
    explorer.click("Stop")
    explorer.until(lambda: "Stopped by the user" in explorer.status)
    explorer.until(lambda: int(explorer.seen(FIELD)["iteration"]) == explorer.unchanging(lambda: explorer.count) - 1)
