"""The run queue: jobs of one process use the machine one at a time, first come, first served.

Where several processes take turns, as the pages of a class do, each job also waits for the turn of its process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from workbench.machines.heap import give_back
from workbench.run.machine_use import MACHINE_USE, MachineUse

IDLE_SECONDS = 1.0
"""By then views have dropped what they do not keep of a run."""


class Turn(Protocol):
    """The turn of this process among those that share the machine, and the use of the machine while it lasts."""

    @property
    def ahead(self) -> int:
        """The number of runs of other processes before the one that was asked for; 0 while that may run."""
        ...

    def ask(self) -> None:
        """Ask for a turn, behind all that others have asked for."""
        ...

    def leave(self) -> None:
        """Give the turn back, or ask for it no longer."""
        ...


class RunQueue:
    """A first-in, first-out queue for one machine. The first slot in it holds the machine until it is released.

    use: entered while any job is queued. tidy: called `IDLE_SECONDS` after the last job has left, unless another one is
    queued by then.

    Examples:
        >>> from workbench.run import RunQueue, Session, configure
        >>> session = Session(configure("two-layer", n=16), queue=RunQueue())
        >>> session.wait().converged
        True
    """

    def __init__(self, use: MachineUse | None = None, tidy: Callable[[], object] | None = None) -> None:
        self._use, self._tidy = use, tidy
        self.turn: Turn | None = None
        """The turn of this process among others, if they take turns."""
        self.changed = threading.Condition()
        """Held while the queue changes, and notified then."""
        self.slots: list[QueueSlot] = []
        """The queued slots, in order."""

    @property
    def busy(self) -> bool:
        """True while a job holds the machine."""
        return bool(self.slots)

    def take_turns(self, turn: Turn) -> None:
        """Let each job wait for a turn of its own, in place of `use`; to be called before the first one."""
        self.turn = turn

    def replace(self, slots: list[QueueSlot]) -> None:
        """Change the slots, with the lock held."""
        before = self.slots
        for slot in slots:
            if slot not in before:
                slot.begin_waiting()
        # The turn first: nothing but the turn that a slot has asked for makes it hold the machine.
        if self.turn is not None and _front(before) is not _front(slots):
            if before:
                self.turn.leave()
            if slots:
                self.turn.ask()
        self.slots = slots
        if self.turn is None and self._use is not None and bool(before) != bool(slots):
            (self._use.begin if slots else self._use.end)()
        if self._tidy is not None and before and not slots:
            timer = threading.Timer(IDLE_SECONDS, self.tidy_up)
            timer.daemon = True
            timer.start()
        self._count({*before, *slots})

    def _count(self, slots: Iterable[QueueSlot]) -> None:
        for slot in slots:
            slot.count_waiting()

    def tidy_up(self) -> None:
        """Call `tidy`, unless a job is queued."""
        if self._tidy is not None and not self.busy:
            self._tidy()

    def wake(self) -> None:
        """Let all waiting jobs test their conditions again."""
        with self.changed:
            self._count(self.slots)
            self.changed.notify_all()


class QueueSlot:
    """The place of one job in a run queue. Every method is idempotent.

    together: another slot of the queue; while one of both is the first, both hold the machine. All methods may be
    called from any thread; all but `acquire` return at once.

    Examples:
        >>> from workbench.run import QueueSlot, RunQueue
        >>> queue = RunQueue()
        >>> first, second = QueueSlot(queue), QueueSlot(queue)
        >>> first.enqueue(), second.enqueue()
        (None, None)
        >>> first.held, second.ahead
        (True, 1)
    """

    def __init__(self, queue: RunQueue, together: QueueSlot | None = None) -> None:
        self._queue: RunQueue = together._queue if together is not None else queue
        self.group: object = together.group if together is not None else self
        """One object for all slots that hold the machine together."""
        self._waits: tuple[float, float | None] = 0.0, None
        """Seconds that it has waited before, and when it began to wait; None while it does not. Both are changed at
        once, so that whoever reads them meanwhile counts no second twice."""

    @property
    def held(self) -> bool:
        """True while this slot holds the machine. Takes no lock, so that it may be tested between two iterations."""
        slots, turn = self._queue.slots, self._queue.turn
        return _front(slots) is self.group and self in slots and (turn is None or turn.ahead == 0)

    @property
    def ahead(self) -> int:
        """The number of runs before this one, including the one that holds the machine; 0 when not queued."""
        slots, turn = self._queue.slots, self._queue.turn
        others = turn.ahead if turn is not None else 0
        if self not in slots:
            return 0
        return others + (0 if _front(slots) is self.group else slots.index(self))

    @property
    def waited(self) -> float:
        """Seconds in which it was queued and did not hold the machine, also between two turns; so far."""
        before, since = self._waits
        return before + (0.0 if since is None else time.monotonic() - since)

    def begin_waiting(self) -> None:
        """Count from now on. Called by the queue, with its lock held."""
        self._waits = self.waited, time.monotonic()

    def count_waiting(self) -> None:
        """Count while it waits, and no longer. Called by the queue, with its lock held, after each change."""
        waits = self in self._queue.slots and not self.held
        if waits == (self._waits[1] is not None):
            return
        self._waits = self.waited, time.monotonic() if waits else None

    def enqueue(self) -> None:
        """Enqueue, unless already queued."""
        with self._queue.changed:
            if self not in self._queue.slots:
                self._queue.replace([*self._queue.slots, self])

    def acquire(self, unless: Callable[[], bool]) -> bool:
        """Enqueue and block until this slot holds the machine; False when `unless` became true before.

        `unless` is evaluated after each change of the queue and after `wake`. The slot stays queued in either case.
        """
        self.enqueue()
        with self._queue.changed:
            self._queue.changed.wait_for(lambda: self.held or unless())
            return self.held

    def release(self) -> None:
        """Leave the queue; if this slot held the machine, the next one gets it."""
        with self._queue.changed:
            self._queue.replace([other for other in self._queue.slots if other is not self])
            self._queue.changed.notify_all()

    def wake(self) -> None:
        """Wake the queue, see `RunQueue.wake`."""
        self._queue.wake()


def _front(slots: list[QueueSlot]) -> object:
    """The group of the first slot; None without any."""
    return slots[0].group if slots else None


MACHINE = RunQueue(MACHINE_USE, give_back)
"""The default queue of this process, shared by sessions, races and live sweeps."""
CHECKS = RunQueue()
"""The queue of checks of answers, which are short and wait for no run."""
