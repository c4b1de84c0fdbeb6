"""Messages to the browser: a publisher that ticks at a fixed rate, and a link with credits to each canvas.

The kernel sends only what the browser has asked for or has shown that it paints: no page, no traffic, and a slow page
gets fewer and larger messages instead of a queue. The browser says `ready` when a view appears, comes back or received
nothing for too long; then all is sent again. So a reload, a lost message or a closed page need no code elsewhere.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Generator
from typing import Any

from workbench.live.transport.rate_limit import NEAR, RateLimit

CREDIT = 48
"""Messages on their way at most. The browser acknowledges those of twelve seconds at once, because each answer costs
JupyterLab more than many paints; what comes between two paints is painted at once, so that a slow page still shows
the latest state."""
RATE = 21.0
"""Ticks a second, and paints. A paint in a worker takes 1.5 ms of a core even where no GPU draws the page."""
POLL_SOON = 0.01
"""Seconds between two ticks at least, however often something changes."""
LAST_TICK = 1.0
"""Seconds that closing waits for a tick under way."""
PAINTS = 8
"""Paints per message while a run is active. A message costs several times as much as a paint, mostly in JupyterLab: the
page draws its content in this many strokes. All else but progress is sent and drawn at once."""
PERIOD = PAINTS / RATE
"""Seconds between messages while a run is active."""

PollAgain = bool | float
"""The next look at a view without a wake-up: at the next tick if True, after these seconds if a number, else none."""
View = Callable[[], PollAgain]


def message_rate_limit(period: float = PERIOD) -> RateLimit:
    """Says when the next message of an active run is due, at the tick that is nearest."""
    return RateLimit(period, early=0.5 / RATE)


class Publisher:
    """One thread for all views of a dashboard. It sleeps until `wake`, then looks at each view as often as it asks for.

    A view is a function that sends what is new and returns whether more is to come without a further wake-up: at the
    next tick, or, for a number, after these seconds. Each look takes Python's lock, which the solver needs too.
    """

    def __init__(self, rate: float = RATE) -> None:
        self._period = 1 / rate
        self.views: tuple[View, ...] = ()
        self._changing = threading.Lock()
        self._asked = threading.Event()
        self._closed = threading.Event()
        self._resting = threading.Event()
        self._thread = threading.Thread(target=self._work, name="workbench-publish", daemon=True)

    def add(self, view: View, *, first: bool = False) -> None:
        """Serve one more view from now on. first: before all others, for a view that answers a button."""
        with self._changing:
            self.views = (view, *self.views) if first else (*self.views, view)
            if self._thread.ident is None:
                self._thread.start()
        self.wake()

    def remove(self, view: View) -> None:
        """Serve a view no more."""
        with self._changing:
            self.views = tuple(other for other in self.views if other != view)

    def wake(self) -> None:
        """Look at the views, since something has changed; may be called from any thread, returns at once."""
        self._asked.set()

    @contextlib.contextmanager
    def at_rest(self) -> Generator[None]:
        """Bring no view up to date inside, so that a solve can be measured by itself; afterwards they catch up."""
        self._resting.set()
        try:
            yield
        finally:
            self._resting.clear()
            self.wake()

    def close(self) -> None:
        """Stop ticking for good: no view is served any more afterwards, except by a tick that takes long."""
        self._closed.set()
        self.wake()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(LAST_TICK)

    def _work(self) -> None:
        due: dict[View, float] = {}
        while True:
            soonest = min(due.values(), default=None)
            self._asked.wait(None if soonest is None else max(0.0, soonest - time.monotonic()))
            if asked := self._asked.is_set():
                # Cleared before looking, so that a change made meanwhile is found in the next tick.
                self._asked.clear()
            if self._closed.is_set():
                return
            due = {} if self._resting.is_set() else self._tick(due, asked=asked)
            time.sleep(POLL_SOON)

    def _tick(self, due: dict[View, float], *, asked: bool) -> dict[View, float]:
        """Look at the views that are due, or at all if asked to; when each is due next, if it is."""
        found: dict[View, float] = {}
        for view in self.views:
            begun, at = time.monotonic(), due.get(view)
            if asked or (at is not None and at <= begun + NEAR):
                again, now = _safely(view), time.monotonic()
                if again is True:
                    # By the clock and not from the end of the work, so that the rate is kept.
                    at = max((begun if at is None else min(at, begun)) + self._period, now)
                else:
                    at = now + again if again else None
            if at is not None:
                found[view] = at
        return found


def _safely(view: View) -> PollAgain:
    """Look at a view; its error is logged and does not freeze the others."""
    try:
        return view()
    except Exception:
        logging.getLogger(__name__).exception("a live view could not be brought up to date")
        return False


class Link:
    """The kernel's end of the wire to one canvas. `send` is the widget's; `receive` may run on any thread.

    hidden: set while the canvas stands behind another tab; nothing is sent until it is shown again.
    """

    def __init__(self, send: Callable[[dict[str, Any], list[bytes]], object], wake: Callable[[], None]) -> None:
        self._send = send
        self._wake = wake
        self._sent = 0
        self._painted = 0
        self._present = False
        self._resend = threading.Event()
        self.hidden = False

    def receive(self, message: dict[str, Any]) -> None:
        """Take a message of the browser: `ready`, or `ack` with the sequence number of the last message painted."""
        match message.get("kind"):
            case "ready":
                self._painted = self._sent
                self._present = True
                self._resend.set()
            case "ack":
                self._painted = max(self._painted, min(int(message.get("seq", 0)), self._sent))
        self._wake()

    @property
    def free(self) -> bool:
        """True while the browser shows the canvas and has painted enough to be sent more."""
        return self._present and not self.hidden and self._sent - self._painted < CREDIT

    def restart(self) -> bool:
        """True if everything must be sent again; asked once per tick, and true once per request."""
        if self._resend.is_set():
            self._resend.clear()
            return True
        return False

    def send(self, message: dict[str, Any], buffer: bytes = b"") -> None:
        """Send one message with one buffer."""
        self._sent += 1
        self._send({**message, "seq": self._sent}, [buffer] if buffer else [])
