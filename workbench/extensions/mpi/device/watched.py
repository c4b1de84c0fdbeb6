"""The communicator of the ranks of a run, watched: a rank that waits too long for the others ends all of them.

Ranks that call different collective operations wait for ever, at full load, and MPI says nothing. So each rank has a
thread that looks once a second whether the same call still waits. Nothing is polled, and a call costs two additions.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from mpi4py import MPI

import workbench
from workbench.errors import RANKS_WAIT
from workbench.extensions.mpi.device import WAITED
from workbench.process import limits

HERE = Path(__file__).parent
PACKAGE = Path(workbench.__file__).parent
TICK = 1.0
"""Seconds between two looks at a call that waits, at most."""
OTHERS = 2 * TICK
"""Seconds between the sentence of a rank and the end of all, so that the others say where they wait."""


class WatchedCommunicator(MPI.Intracomm):
    """An mpi4py communicator whose calls that wait for other ranks are counted; see `WaitLimit`."""

    counted: int
    """Calls that have begun and those that have ended: odd while one waits."""

    def __init__(self, comm: MPI.Comm | None = None) -> None:
        self.counted = 0

    def wait_all(self, requests: Sequence[MPI.Request]) -> None:
        """Wait for messages and sums that have begun."""
        self.counted += 1
        MPI.Request.Waitall(requests)
        self.counted += 1


def _counted(name: str) -> Callable[..., object]:
    call = getattr(MPI.Intracomm, name)

    def counted(self: WatchedCommunicator, *given: object, **named: object) -> object:
        self.counted += 1
        try:
            return call(self, *given, **named)
        finally:
            self.counted += 1

    # As the sentence of a rank that waits has it.
    counted.__code__ = counted.__code__.replace(co_name=name)
    return counted


COLLECTIVE = ("Allreduce", "Allgatherv", "allgather", "alltoall", "bcast", "Split_type")
"""Operations that all ranks call together, in the same order; `Iallreduce` too, which does not wait."""
for _name in (*COLLECTIVE, "recv"):
    setattr(WatchedCommunicator, _name, _counted(_name))


class WaitLimit:
    """A thread that ends all ranks where a call of this thread has waited longer than `limit` seconds.

    Seconds are those in which this process runs: one that was suspended has not waited. report: what is done with the
    sentence, by default it is printed. limit: by default that of the environment.
    """

    def __init__(
        self,
        communicator: WatchedCommunicator,
        report: Callable[[str], object] | None = None,
        limit: float | None = None,
    ) -> None:
        self._communicator, self._report = communicator, report or _printed
        self._limit = limits.ranks_wait(os.environ.get(RANKS_WAIT, "")) if limit is None else limit
        self._waiting_thread, self._over = threading.get_ident(), threading.Event()
        threading.Thread(target=self._look, name="workbench-ranks-watch", daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._over.set()

    def _look(self) -> None:
        before, waited, tick = -1, 0.0, min(TICK, self._limit / 4)
        while not self._over.wait(tick):
            now = self._communicator.counted
            waited, before = waited + tick if now == before and now % 2 else 0.0, now
            if waited >= self._limit:
                self._end(waited)

    def _end(self, waited: float) -> None:
        frame = sys._current_frames().get(self._waiting_thread)
        self._report(f"rank {self._communicator.rank} has waited {waited:.3g} s for the other ranks{_place(frame)}")
        time.sleep(OTHERS)
        self._communicator.Abort(1)
        os._exit(1)


def _place(frame: FrameType | None) -> str:
    """The operation of ranks that waits, and the line that calls it."""
    name = ""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.parent != HERE:
            shown = path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else path.name
            return f" in {name or frame.f_code.co_name}, called by {shown}, line {frame.f_lineno}"
        name, frame = frame.f_code.co_name, frame.f_back
    return ""


def _printed(sentence: str) -> None:
    print(f"{sentence}; {WAITED}", file=sys.stderr, flush=True)
