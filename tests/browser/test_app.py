"""The workbench as a Voila page: a kernel for each user, and nothing fetched from elsewhere."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.browser

_spec = importlib.util.spec_from_file_location("workbench_test_lab_of_app", Path(__file__).with_name("lab.py"))
assert _spec is not None
assert _spec.loader is not None
lab = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(lab)

FIELD = ".wb-field canvas.wb-canvas"
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


def test_a_page_keeps_its_kernel_and_a_page_that_is_gone_does_not(page, tmp_path):
    before = kernels()
    with lab.voila_server(tmp_path, *SOON) as url:
        page.goto(url, timeout=60_000)
        page.wait_for_selector(FIELD, timeout=60_000)
        own = kernels() - before
        assert len(own) == 1
        page.wait_for_timeout(8000)
        assert own <= kernels()
        page.goto("about:blank")
        end = time.monotonic() + 60
        while own & kernels():
            assert time.monotonic() < end, "the kernel of a closed page is still there"
            time.sleep(0.2)
