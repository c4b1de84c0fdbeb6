"""Who may use the machine: runs of one process take turns, first come, first served."""

from __future__ import annotations

import threading
from collections.abc import Callable


class RunQueue:
    """A queue for one machine. Whoever is first in it has the turn, until it is given back."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._line: list[QueueSlot] = []

    @property
    def taken(self) -> bool:
        """Somebody has the machine."""
        return bool(self._line)

    def poke(self) -> None:
        """Let all that wait look again at what they wait for."""
        with self._changed:
            self._changed.notify_all()


class QueueSlot:
    """One's own place in a queue: `ask` for it, `take` it, `give_back`. Nothing here is done twice by asking twice.

    All methods may be called from any thread, and return at once but `take`.
    """

    def __init__(self, turns: RunQueue) -> None:
        self._turns = turns

    @property
    def held(self) -> bool:
        """It is one's turn. Costs no lock, so that it may be asked between two iterations."""
        line = self._turns._line
        return bool(line) and line[0] is self

    @property
    def ahead(self) -> int:
        """How many come first, who has the turn included; 0 for one that did not ask."""
        line = self._turns._line
        return next((place for place, other in enumerate(line) if other is self), 0)

    def ask(self) -> None:
        """Stand at the end of the queue, unless one stands in it."""
        with self._turns._changed:
            if self not in self._turns._line:
                self._turns._line = [*self._turns._line, self]

    def take(self, unless: Callable[[], bool]) -> bool:
        """Ask, and wait until it is one's turn; False when `unless` came true before. It is looked at after a `poke`.

        The place in the queue is kept either way.
        """
        self.ask()
        with self._turns._changed:
            self._turns._changed.wait_for(lambda: self.held or unless())
            return self.held

    def give_back(self) -> None:
        """Leave the queue, or let the next in it begin."""
        with self._turns._changed:
            self._turns._line = [other for other in self._turns._line if other is not self]
            self._turns._changed.notify_all()

    def poke(self) -> None:
        """As `RunQueue.poke`."""
        self._turns.poke()


MACHINE = RunQueue()
"""The queue of this process, in which sessions, races and live sweeps stand unless they are told otherwise."""
