"""Pictures of an active run, several to a message: a message costs JupyterLab more than its pictures do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from workbench.live.field.pictures import Picture
from workbench.live.transport.publisher import PERIOD, message_rate_limit

TURN = 2 * PERIOD
"""Seconds between messages: each comes together with one of the curves, and disturbs page and solver once for both."""


@dataclasses.dataclass(frozen=True)
class Frame:
    """A picture that is made only when it is sent: one after the other they cost less than each by itself, and the
    solver waits for Python's lock once. live: it is of an active run."""

    make: Callable[[], Picture]
    live: bool = False


class FrameBatch:
    """Keeps pictures until a message is due, and makes one message of them.

    A picture goes at once and replaces those that wait, unless it is of an active run and of the same `kind` as the one
    before.
    """

    def __init__(self) -> None:
        self._waiting: list[Frame] = []
        self._kind: object = None
        self._pace = message_rate_limit(TURN)

    @property
    def waits(self) -> bool:
        """True while pictures wait for a later message."""
        return bool(self._waiting)

    def add(self, shot: Frame, kind: object) -> Picture | None:
        """Add a picture; returns the message to send now, or None."""
        if shot.live and kind == self._kind:
            self._waiting.append(shot)
            return self.due()
        self._kind, self._waiting = kind, []
        self._pace.done()
        return _made([shot])

    def due(self) -> Picture | None:
        """The message of the pictures that wait, once it is due."""
        if not self._waiting or not self._pace.take():
            return None
        waiting, self._waiting = self._waiting, []
        return _made(waiting)


def _made(shots: list[Frame]) -> Picture:
    """The last one, with those `before` it and the milliseconds that all are shown in; its buffer comes last."""
    *before, (last, buffer) = [shot.make() for shot in shots]
    reported: list[dict[str, Any]] = [{**message, "bytes": len(data)} for message, data in before]
    whole = b"".join([*(data for _, data in before), buffer])
    return {**last, "before": reported, "milliseconds": 1000 * TURN}, whole
