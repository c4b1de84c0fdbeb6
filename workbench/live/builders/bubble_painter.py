"""Drawing of the cells and subdomains under the bubbles while these are moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.live.builders.bubble_pictures import PictureRequest, picture
from workbench.live.transport.worker import LatestOnly

REST = 0.15
"""Seconds without a change after which subdomains are drawn with more cells."""


class BubblePainter:
    """Draws in a thread of its own. request: returns the picture to draw now. show: takes each message with its
    buffer."""

    def __init__(self, request: Callable[[], PictureRequest], show: Callable[[dict[str, Any], bytes], None]) -> None:
        self._request = request
        self._show = show
        self._worker = LatestOnly("workbench-subdomains")
        self._painted: PictureRequest | None = None

    def ask(self) -> None:
        """Draw again if something has changed; returns at once."""
        self._worker.ask(self._paint)

    def wait(self, timeout: float) -> bool:
        """Wait until all is drawn; False when that takes longer than `timeout` seconds."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Draw no more."""
        self._worker.close()

    def _paint(self) -> None:
        """Draw with few cells at once, and with more when nothing has changed for `REST` seconds."""
        request = self._request()
        if request == self._painted:
            return
        self._painted = None
        for number, cells in enumerate(request.sides):
            if number and self._worker.overtaken(REST):
                return
            self._show(*picture(request, cells))
        self._painted = request
