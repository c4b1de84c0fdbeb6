"""The turn of a check: what a judge computes waits for it, and a judge that only compares waits for nothing."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class CheckTurn:
    """A turn among the checks of this page, and of all pages where they take turns. It is asked for by the first
    computation of a check, and lasts until `check_turn` ends.

    say: called with the number of checks ahead whenever it changes while the check waits, and with 0 when its turn has
    come.
    """

    def __init__(self, say: Callable[[int], object]) -> None:
        # Imported here, since help pages know the declared lessons and import no run.
        from workbench.run.jobs.run_queue import CHECKS, QueueSlot

        self._slot = QueueSlot(CHECKS)
        self._say = say
        self._taken = False

    @property
    def waited(self) -> float:
        """Seconds before its turn; 0 for a check that asked for none."""
        return self._slot.waited

    def take(self) -> None:
        """Wait for the turn, once."""
        if self._taken:
            return
        self._slot.enqueue()
        while not self._slot.held:
            ahead = self._slot.ahead
            self._say(ahead)
            # Bound here: the loop goes on with another number.
            self._slot.acquire(unless=lambda before=ahead: self._slot.ahead != before)
        self._taken = True
        self._say(0)

    def leave(self) -> None:
        """Let the next check have it."""
        self._slot.release()


_PRESENT: ContextVar[CheckTurn | None] = ContextVar("check_turn", default=None)


@contextlib.contextmanager
def check_turn(say: Callable[[int], object] = lambda _ahead: None) -> Generator[CheckTurn]:
    """Let what is computed in this block wait for one turn. say: as in `CheckTurn`."""
    turn = CheckTurn(say)
    token = _PRESENT.set(turn)
    try:
        yield turn
    finally:
        _PRESENT.reset(token)
        turn.leave()


def computed(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function that solves, or computes a spectrum, wait for the turn of the check that calls it; elsewhere it
    runs at once. Below a cache: what is known needs no turn.

    Examples:
        >>> from workbench.extensions.lessons.check_turn import check_turn, computed
        >>> with check_turn() as turn:
        ...     computed(sum)([1, 2]), turn.waited < 1
        (3, True)
    """

    @functools.wraps(function)
    def in_turn(*args: P.args, **named: P.kwargs) -> T:
        if (turn := _PRESENT.get()) is not None:
            turn.take()
        return function(*args, **named)

    return in_turn
