"""The processes of a server and its kernels: processor time, waiting for a core, and memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from pathlib import Path

import psutil

COUNTED = "/proc/{}/schedstat"
"""Nanoseconds of a thread on a core, and ready without one; on Linux."""
EVERY = 0.25
"""Seconds between two looks; a kernel that has ended counts as it was seen last."""


class Processes:
    """A server, the process that forks, and all kernels, also those that have ended."""

    def __init__(self, folder: Path) -> None:
        """Find the server that runs in a folder."""
        children = psutil.Process().children()
        self.server = next(one for one in children if any(str(folder) in part for part in arguments_of(one)))
        self._cpu: dict[int, float] = {}
        self._queued: dict[int, float] = {}

    def alive(self) -> list[psutil.Process]:
        """The server and what it has started."""
        return [self.server, *self.server.children(recursive=True)]

    def look(self) -> None:
        """Note how long each has used a core, and how long it was ready to but another process had it."""
        for one in self.alive():
            with contextlib.suppress(psutil.Error, OSError):
                self._cpu[one.pid] = sum(one.cpu_times()[:2])
                self._queued[one.pid] = queued_seconds(one.pid)

    @property
    def cpu_seconds(self) -> float:
        """Of all processes together."""
        self.look()
        return sum(self._cpu.values())

    @property
    def server_seconds(self) -> tuple[float, float]:
        """Of the server alone: on a core, and waiting for one."""
        self.look()
        return self._cpu[self.server.pid], self._queued[self.server.pid]

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            self.look()
            await asyncio.sleep(EVERY)

    def megabytes(self) -> int:
        """The proportional share (PSS) of all that are alive."""
        total = 0
        for one in self.alive():
            with contextlib.suppress(psutil.Error):
                total += one.memory_full_info().pss
        return round(total / 1e6)

    def wait_until_idle(self) -> None:
        """A teacher opens the server before the class comes."""
        spent = -1.0
        while spent != (now := self.cpu_seconds):
            spent = now
            time.sleep(2)

    async def until_closed(self, seconds: float) -> int:
        """Wait until the kernels of pages that were left have ended; returns how many have not in that time."""
        end = time.monotonic() + seconds
        # The server of forks is the one that stays.
        while (left := len(self.alive()) - 2) > 0 and time.monotonic() < end:
            await asyncio.sleep(0.5)
        return max(0, left)


def arguments_of(process: psutil.Process) -> list[str]:
    """The command line of a process; empty once it has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def queued_seconds(pid: int) -> float:
    """The time for which the first thread of a process was ready to run and had no core; 0 where no system counts it.

    Raises OSError where the process has ended.
    """
    if not Path(COUNTED.format("self")).is_file():
        return 0.0
    return int(Path(COUNTED.format(pid)).read_text().split()[1]) / 1e9


def left_over(processes: list[psutil.Process]) -> int:
    """The number of processes that are still there."""
    left = 0
    for one in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            left += one.is_running() and one.status() != psutil.STATUS_ZOMBIE
    return left


def load() -> float:
    """Processes that were ready to run in the last minute, on average."""
    return os.getloadavg()[0]
