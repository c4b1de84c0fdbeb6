"""The number of threads, by the environment or by the processors."""

from __future__ import annotations

import dataclasses
import os

from workbench.errors import InputError

VARIABLES = ("WORKBENCH_THREADS", "NUMBA_NUM_THREADS")
"""Variables for the number of threads; the first one that is set counts. The second limits a user's own numba functions
too."""
MOST = 1024


@dataclasses.dataclass(frozen=True)
class Threads:
    """The number of threads that share a kernel, and the variable that sets it, empty where none does."""

    count: int
    variable: str


def threads() -> Threads:
    """The number that the environment sets, else the processors that this process may use."""
    for name in VARIABLES:
        text = os.environ.get(name, "").strip()
        if text:
            if not text.isdecimal() or not 1 <= int(text) <= MOST:
                raise InputError(f"{name} is {text!r}, and must be a number of threads from 1 to {MOST}; change it")
            return Threads(int(text), name)
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Threads(min(MOST, processors), "")
