"""A limit on the time that a rank waits for the others: beyond it, the rank ends all of them.

Ranks that call different collective operations wait for ever, at full load, and MPI says nothing. So each rank has a
thread that checks once a second if the same call still waits. It costs two additions for each call.
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
CHECK_SECONDS = 1.0
"""Seconds between two checks, at most."""
CHECKS_PER_LIMIT = 4
"""Checks within a limit of a few seconds, so that it is kept to a quarter."""
REPORT_SECONDS = 2 * CHECK_SECONDS
"""Seconds between the report of a rank and the end of all ranks, so that the others report where they wait too."""


class WatchedCommunicator(MPI.Intracomm):
    """An mpi4py communicator that counts its calls that wait for other ranks; see `WaitLimit`."""

    begun_and_ended: int
    """Calls that have begun, plus calls that have ended: odd while a call waits."""

    def __init__(self, comm: MPI.Comm | None = None) -> None:
        self.begun_and_ended = 0

    def wait_all(self, requests: Sequence[MPI.Request]) -> None:
        """Wait for the end of messages and sums."""
        self.begun_and_ended += 1
        MPI.Request.Waitall(requests)
        self.begun_and_ended += 1


def _counted(name: str) -> Callable[..., object]:
    """A method of `MPI.Intracomm` that counts its calls."""
    call = getattr(MPI.Intracomm, name)

    def counted(self: WatchedCommunicator, *arguments: object, **named: object) -> object:
        self.begun_and_ended += 1
        try:
            return call(self, *arguments, **named)
        finally:
            self.begun_and_ended += 1

    # `_where` reads the name of the operation from the frame of this function.
    counted.__code__ = counted.__code__.replace(co_name=name)
    return counted


COLLECTIVE = ("Allreduce", "Allgatherv", "allgather", "alltoall", "bcast", "Split_type")
"""Operations that all ranks call in the same order, and that wait. `Iallreduce` is not among them: it does not wait."""
for _name in (*COLLECTIVE, "recv"):
    setattr(WatchedCommunicator, _name, _counted(_name))


class WaitLimit:
    """A thread that ends all ranks if a call of the thread that creates it waits longer than `limit` seconds.

    Seconds in which this process is suspended do not count. report: called with a sentence that says where the rank
    waits; by default it is printed. limit: by default that of the environment.
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
        threading.Thread(target=self._watch, name="workbench-ranks-watch", daemon=True).start()

    def close(self) -> None:
        """End the thread."""
        self._over.set()

    def _watch(self) -> None:
        before, waited, interval = -1, 0.0, min(CHECK_SECONDS, self._limit / CHECKS_PER_LIMIT)
        while not self._over.wait(interval):
            now = self._communicator.begun_and_ended
            same_call_waits = now == before and now % 2
            waited, before = waited + interval if same_call_waits else 0.0, now
            if waited >= self._limit:
                self._end(waited)

    def _end(self, waited: float) -> None:
        """Report where this rank waits, and end all ranks."""
        frame = sys._current_frames().get(self._waiting_thread)
        self._report(f"rank {self._communicator.rank} has waited {waited:.3g} s for the other ranks{_where(frame)}")
        time.sleep(REPORT_SECONDS)
        self._communicator.Abort(1)
        os._exit(1)


def _where(frame: FrameType | None) -> str:
    """The operation that waits and the line that calls it, in words; empty if no frame is outside of this package."""
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
