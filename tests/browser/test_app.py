"""The workbench as a Voila page: a kernel for each user, and nothing fetched from elsewhere."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request

import psutil
import pytest

from tests.browser import lab
from tests.waiting import LIMIT

pytestmark = pytest.mark.browser


BUBBLES = ".wb-building canvas.wb-canvas[data-bubbles]"
VISIBILITY = "() => getComputedStyle(document.querySelector('.wb-result .wb-mark')).visibility"
# As in the app's own settings, in seconds rather than minutes.
SOON = ("--MappingKernelManager.cull_idle_timeout=5", "--MappingKernelManager.cull_interval=1")


def test_two_users_share_nothing_and_nothing_is_fetched_from_elsewhere(page, chromium, app_url):
    arrived = []
    page.on("requestfinished", lambda request: arrived.append(request.url))
    answer = page.goto(f"{app_url}/{lab.WORKBENCH}")
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    page.wait_for_selector(BUBBLES)
    assert page.title() == "CG workbench"
    assert page.locator(".jp-CodeCell .jp-Editor, .jp-InputArea").count() == 0
    own = tuple(f"{kind}{app_url.partition('//')[2]}" for kind in ("http://", "blob:http://", "ws://"))
    assert arrived
    assert [url for url in arrived if not url.startswith((*own, "data:"))] == []

    other = lab.context(chromium).new_page()
    other.goto(f"{app_url}/{lab.WORKBENCH}")
    other.wait_for_selector(BUBBLES)
    count = "([at, count]) => document.querySelector(at)?.dataset.bubbles === count"
    page.wait_for_function(count, arg=[BUBBLES, "4"])
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_function(count, arg=[BUBBLES, "5"])
    other.wait_for_function(count, arg=[BUBBLES, "4"])
    other.context.close()


def until_ended(own):
    """Wait until these kernels are no more."""
    end = time.monotonic() + LIMIT
    while own & lab.kernels():
        assert time.monotonic() < end, "the kernel of a closed page is still there"
        time.sleep(0.2)


def opened(page, url):
    """Open the app; returns its kernel, when it is the only one that was not there before."""
    before = lab.kernels()
    page.goto(f"{url}/{lab.WORKBENCH}")
    page.wait_for_selector(BUBBLES)
    # Once alone: a kernel that starts another program is for a moment two processes of one name.
    alone = lambda: len(own := lab.kernels() - before) == 1 and own  # noqa: E731
    return lab.until(page, alone, "a page must have one kernel of its own")


@pytest.mark.slow
def test_a_page_keeps_its_kernel_and_a_page_that_is_gone_does_not(chromium, tmp_path):
    """Also one that had no time to say that it goes, as when a browser crashes."""
    with lab.voila_server(tmp_path, *SOON) as url:
        context, other = lab.context(chromium), lab.context(chromium)
        kept = opened(context.new_page(), url)
        gone = opened(other.new_page(), url)
        # Nothing is run before the page is unloaded.
        other.close()
        until_ended(gone)
        # The kernel of the other page has been idle for longer.
        assert kept <= lab.kernels()
        context.close()


def test_a_page_whose_kernel_died_says_so_and_what_to_do(page, app_url, shoot):
    (kernel,) = opened(page, app_url)
    lab.turn_to(page, "Solve")
    page.locator(".wb-solving [data-act=run]").click()
    page.locator(".wb-result .wb-mark").wait_for()
    psutil.Process(kernel).kill()
    said = re.compile(r"The kernel was restarted or has ended\..*Reload the page to start again\.(Reload)?$")
    page.locator(".wb-gone", has_text=said).wait_for()
    page.wait_for_function("() => document.querySelector('.wb-solving button').closest('[inert]')")
    # The green sign of the result stayed, and icons of a broken chain covered the page.
    lab.until(page, lambda: page.evaluate(VISIBILITY) == "hidden", "the sign of the result is still shown")
    lab.until(page, lambda: page.evaluate(lab.BROKEN_CHAINS) == 0, "icons of a broken chain are shown")
    shoot("lost_kernel_app")
    page.reload()
    page.locator(".wb-solving [data-act=run]:enabled").wait_for()
    assert page.locator(".wb-gone").count() == 0


def test_a_page_that_is_left_ends_its_kernel_itself(page, tmp_path):
    """Where no kernel is culled."""
    with lab.voila_server(tmp_path, "--MappingKernelManager.cull_idle_timeout=0") as url:
        own = opened(page, url)
        page.goto("about:blank")
        until_ended(own)
        assert "_xsrf" not in (tmp_path / "server.log").read_text(encoding="utf-8")
        # No one else can end one: not without the token, whatever the cookie.
        own = opened(page, url)
        kernel = page.evaluate("() => JSON.parse(document.querySelector('#jupyter-config-data').textContent).kernelId")
        asked = urllib.request.Request(f"{url}/voila/api/shutdown/{kernel}", data=b"", method="POST")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(asked, timeout=LIMIT)
        assert own <= lab.kernels()
