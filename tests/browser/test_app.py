"""The workbench as a Voila page: a kernel for each user, and nothing fetched from elsewhere."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("place", ["voila"])
def test_two_users_and_a_reloaded_page_share_nothing(explorer, chromium, voila_url):
    arrived = []
    other = chromium.new_context(viewport={"width": 1280, "height": 800}).new_page()
    other.on("requestfinished", lambda request: arrived.append(request.url))
    answer = other.goto(voila_url, timeout=60_000)
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    other.wait_for_selector(".wb-field canvas.wb-canvas", timeout=60_000)
    assert other.title() == "CG workbench"
    assert other.locator(".jp-CodeCell .jp-Editor, .jp-InputArea").count() == 0
    own = tuple(f"{kind}{voila_url.partition('//')[2]}" for kind in ("http://", "blob:http://", "ws://"))
    assert arrived
    assert [url for url in arrived if not url.startswith((*own, "data:"))] == []

    explorer.fill("n", "64")
    explorer.run()
    explorer.until(lambda: explorer.page.locator(".wb-table tbody tr").count() == 1)
    assert other.locator(".wb-table tbody tr").count() == 0
    assert other.get_by_label("n", exact=True).input_value() == "256"
    assert other.locator("[role=status]").first.get_attribute("data-state") == "idle"
    other.context.close()

    # A reload begins afresh, and the page says so before anything is lost.
    explorer.page.reload()
    explorer.settle()
    explorer.until(lambda: "Reloading this page begins afresh" in explorer.status)
    assert explorer.seen()["curves"] == "0"
    assert explorer.page.locator(".wb-table tbody tr").count() == 0
