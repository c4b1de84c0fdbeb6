"""Callbacks that hear of changes."""

from __future__ import annotations

import logging
from collections.abc import Callable

Listener = Callable[..., object]


class Listeners:
    """of: whose changes, for the log. Any thread may call the methods."""

    def __init__(self, of: str) -> None:
        self._of = of
        self._all: tuple[Listener, ...] = ()

    def add(self, listener: Listener) -> None:
        """Call it after every change from now on."""
        self._all = (*self._all, listener)

    def forget(self, listener: Listener) -> None:
        """Call it no more."""
        self._all = tuple(other for other in self._all if other != listener)

    def notify(self, *values: object) -> None:
        """Call all with these values."""
        for listener in self._all:
            try:
                listener(*values)
            # One listener's mistake must not keep the others from hearing.
            except Exception:
                logging.getLogger(__name__).exception("a listener of %s failed", self._of)
