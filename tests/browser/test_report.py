"""A report of papers as a file: alive without a kernel and without a network, in wide and narrow windows."""

from __future__ import annotations

import json

import pytest

from tests.browser import lab
from tests.browser.bench import until
from workbench.extensions.papers import reproduce
from workbench.extensions.papers.report_page import page
from workbench.live.inspect.plain import html_of

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(chromium, tmp_path):
    """A page of one item; a script error or anything fetched fails the test."""
    made = reproduce("two-level", "fig1", max_n=16)
    choices = {"max_n": 16, "quick": True, "device": "cpu", "machine": "here", "workbench": "1"}
    entry = json.loads(json.dumps(made.to_dict())) | {
        "paper": "two-level",
        "target": "fig1",
        "failed": "",
        "seconds": 1.0,
    }
    entry |= {"date": "2026-01-01T00:00+00:00", "configuration": choices}
    path = tmp_path / "index.html"
    path.write_text(page([(entry, html_of(*made.alive, height=320, assets=False, group="two-level-fig1"))]), "utf-8")
    shown = lab.context(chromium, viewport={"width": 1280, "height": 900}, color_scheme="dark").new_page()
    errors, fetched = [], []
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.on("request", lambda request: fetched.append(request.url))
    shown.goto(path.as_uri())
    shown.wait_for_selector(".wb-chart canvas.wb-canvas[data-paints]")
    yield shown
    shown.context.close()
    assert not errors
    assert [url for url in fetched if not url.startswith("blob:")] == [path.as_uri()]


def test_a_report_is_alive_and_as_wide_as_its_window(opened):
    canvas = opened.locator(".wb-chart canvas.wb-canvas")
    assert opened.evaluate("() => document.documentElement.dataset.wbTheme") == "dark"
    canvas.hover(position={"x": 300, "y": 150})
    opened.locator(".wb-chart .wb-readout", has_text="eigenvalues of A").wait_for()
    opened.locator(".wb-name-of-curve", has_text="eigenvalues of A").press("Enter")
    until(opened, lambda: opened.locator('.wb-name-of-curve[aria-pressed="false"]').count() == 1)
    for width in (640, 1280, 1920):
        opened.set_viewport_size({"width": width, "height": 900})
        until(opened, lambda width=width: opened.evaluate("() => document.documentElement.scrollWidth") <= width)
        # The item reaches to the right edge.
        until(opened, lambda width=width: right_edge(opened) > width - 40)


def right_edge(shown):
    return shown.evaluate("() => document.querySelector('.item').getBoundingClientRect().right")
