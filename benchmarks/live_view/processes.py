"""CPU time of a process and its descendants, thread by thread, by Linux's accounting."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil

Times = dict[tuple[int, int], float]
"""Seconds on a core by process and thread; empty if the system does not report it."""


def on_cores(pid: int) -> Times:
    """The times until now of a process and of its descendants."""
    found: Times = {}
    for process in (pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))):
        # A process or a thread may end while they are read, and other systems have no such files.
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{process}/task").iterdir():
                with contextlib.suppress(OSError, ValueError):
                    found[process, int(thread.name)] = schedstat(thread)[0]
    return found


def more(before: Times, after: Times) -> float | None:
    """Difference of two readings; None if the system does not report it. A thread that has ended is left out."""
    return sum(after[thread] - before.get(thread, 0.0) for thread in after) if before and after else None


def schedstat(task: Path) -> tuple[float, float]:
    """Seconds of a thread on a core, and waiting for one. Raises OSError or ValueError if not reported."""
    on, waiting, _ = (task / "schedstat").read_text(encoding="ascii").split()
    return int(on) * 1e-9, int(waiting) * 1e-9
