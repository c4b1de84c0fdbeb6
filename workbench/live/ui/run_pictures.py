"""The base of views that draw a run with Matplotlib, in a bounded share of the time."""

from __future__ import annotations

import threading
import time

import ipywidgets as widgets

from workbench.live.transport.publisher import PERIOD, PollAgain, Publisher
from workbench.live.ui.run_handle import RunHandle
from workbench.live.ui.view import View

SHARE = 0.1
"""Share of an active run's time that painting may take: Matplotlib keeps Python's lock, which the run needs too."""
PAINTING = threading.Lock()
"""Matplotlib serves one thread at a time."""


class RunView(View):
    """A box of widgets over a run. Subclasses say in `extent` how much there is to see, and `draw` it.

    An active run is drawn as often as takes a tenth of the time; a run that is paused or has ended is drawn at once.
    """

    box: widgets.VBox
    period = 0.0
    """Seconds between two pictures of an active run, at least."""

    def __init__(self, publisher: Publisher | None) -> None:
        self.watched: RunHandle | None = None
        self._alone, self.publisher = publisher is None, publisher or Publisher()
        self.hidden = False
        """Set while the box stands behind another tab: then nothing is drawn. Wake the publisher when it is seen."""
        self._lock = threading.RLock()
        self._shown: object = None
        self._next = 0.0

    def extent(self) -> object:
        """The amount that there is to see; it changes whenever there is more."""
        raise TypeError(f"{type(self).__name__} does not say how much there is to see")

    def draw(self) -> None:
        """Bring pictures and words up to date."""
        raise TypeError(f"{type(self).__name__} does not draw")

    def show(self) -> None:
        """Draw now, whatever the pace."""
        with self._lock:
            begun = time.monotonic()
            self._shown = self.extent()
            self.draw()
            now = time.monotonic()
            self._next = now + max(self.period, (now - begun) * (1 / SHARE - 1))

    def close(self) -> None:
        """Take it off the page for good; the run continues."""
        self.publisher.remove(self.publish)
        if self._alone:
            self.publisher.close()
        super().close()

    def publish(self) -> PollAgain:
        """Draw what is new when it is due; returns when to look again, see `PollAgain`. Called by the publisher's
        thread."""
        watched = self.watched
        if watched is None or self.hidden:
            return False
        # Before looking, so that what was added meanwhile is seen in the next tick.
        over = watched.over
        with self._lock:
            if self.extent() != self._shown and (not watched.busy or time.monotonic() >= self._next):
                self.show()
        return not over and max(PERIOD, self._next - time.monotonic())
