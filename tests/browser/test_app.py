"""The workbench as a Voila page: a kernel for each user, and nothing fetched from elsewhere."""

from __future__ import annotations

import time

import psutil
import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser


BUBBLES = ".wb-building canvas.wb-canvas[data-bubbles]"
# As in the app's own settings, in seconds rather than minutes.
SOON = ("--MappingKernelManager.cull_idle_timeout=5", "--MappingKernelManager.cull_interval=1")


def kernels():
    """The processes of all kernels that these tests have started."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if any("ipykernel" in word for word in process.cmdline()):
                found.add(process.pid)
        except psutil.Error:
            continue
    return found


def test_two_users_share_nothing_and_nothing_is_fetched_from_elsewhere(page, chromium, app_url):
    arrived = []
    page.on("requestfinished", lambda request: arrived.append(request.url))
    answer = page.goto(app_url, timeout=60_000)
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    page.wait_for_selector(BUBBLES, timeout=60_000)
    assert page.title() == "CG workbench"
    assert page.locator(".jp-CodeCell .jp-Editor, .jp-InputArea").count() == 0
    own = tuple(f"{kind}{app_url.partition('//')[2]}" for kind in ("http://", "blob:http://", "ws://"))
    assert arrived
    assert [url for url in arrived if not url.startswith((*own, "data:"))] == []

    other = chromium.new_context(viewport={"width": 1280, "height": 800}).new_page()
    other.goto(app_url, timeout=60_000)
    other.wait_for_selector(BUBBLES, timeout=60_000)
    count = "([at, count]) => document.querySelector(at)?.dataset.bubbles === count"
    page.wait_for_function(count, arg=[BUBBLES, "4"])
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_function(count, arg=[BUBBLES, "5"])
    other.wait_for_function(count, arg=[BUBBLES, "4"])
    other.context.close()


def test_a_page_keeps_its_kernel_and_a_page_that_is_gone_does_not(page, tmp_path):
    before = kernels()
    with lab.voila_server(tmp_path, *SOON) as url:
        page.goto(url, timeout=60_000)
        page.wait_for_selector(BUBBLES, timeout=60_000)
        own = kernels() - before
        assert len(own) == 1
        page.wait_for_timeout(8000)
        assert own <= kernels()
        page.goto("about:blank")
        end = time.monotonic() + 60
        while own & kernels():
            assert time.monotonic() < end, "the kernel of a closed page is still there"
            time.sleep(0.2)
