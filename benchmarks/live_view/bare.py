"""The minimal cost of drawing to a solve: a bare page, on which a worker paints two canvases as often as the views do.

It receives no message, has nothing around the canvases, and a paint is one stroke or one small picture. Anything beyond
that is the cost of the views and of JupyterLab.
"""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.live_view import rounds
from benchmarks.live_view.chromium import Chromium
from workbench.live.transport.publisher import RATE
from workbench.live.transport.rate_limit import PERIOD
from workbench.plots.scenes.cuts import LIVE_PIXELS
from workbench.run import Session

PAGE = Path(__file__).with_name("bare.html")


def with_a_bare_page(browser: Chromium, count: int) -> list[dict[str, Any]]:
    """Rounds of a run of this process, with the page painting and with the page idle."""
    asked = urllib.parse.urlencode({"side": LIVE_PIXELS, "stroke-ms": 1000 / RATE, "picture-ms": 1000 * PERIOD})
    browser.page.goto(f"{PAGE.as_uri()}?{asked}")
    try:
        painted = _Painted(browser.page)
        return rounds.made(painted, painted.at_rest, count, browser.pid)
    finally:
        browser.renew()


class _Painted:
    """Runs during which the page paints."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._session = Session(rounds.configuration())

    def run(self) -> Session:
        self._paint(True)
        self._session = Session(rounds.configuration())
        self._session.start()
        return self._session

    def stop(self) -> None:
        self._session.stop()

    def clear(self) -> None:
        self._paint(False)

    @contextlib.contextmanager
    def at_rest(self) -> Iterator[None]:
        self._paint(False)
        try:
            yield
        finally:
            self._paint(True)

    def _paint(self, on: bool) -> None:
        self._page.evaluate("on => window.paint(on)", on)
