"""How kernels are launched on the cores: one at a time, each on all of them, or on one where the work is too small."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

# A waiting OpenMP thread spins by default. Beside a browser, or any other busy process, it then spins on the very core
# that the working thread needs, and a kernel of half a millisecond takes ten; asleep it costs at most 30 microseconds.
# The variable is read when the OpenMP library is loaded, at the first parallel launch.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numba
from numba.core import config

from workbench.devices.cpu.portable import linker
from workbench.devices.cpu.work_stealing import counters

config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]  # pyright: ignore[reportAttributeAccessIssue]

CHUNK = 16384
"""Elements of a chunk: 128 KiB of doubles, so that a chunk of two or three vectors stays in a core's own cache."""
MOST_CHUNKS = 1024
WORTH_SHARING = 131072
"""Below this many elements a sweep is over before a second core has woken up."""

# A kernel uses all cores, so a second one beside it gains nothing; and numba's own thread pool, its fallback where
# neither OpenMP nor TBB can be had, ends the process when two threads enter it at once.
_one_at_a_time = threading.Lock()


def launch(size: int, kernel: Callable[..., Any], *arguments: Any) -> None:
    """Run a kernel over `size` elements, with no other kernel beside it. Before its arguments it gets `turns`."""
    with _one_at_a_time:
        turns = _all if size >= WORTH_SHARING else _one
        turns.fill(0)
        kernel(turns, *arguments)


def cores() -> int:
    """How many cores kernels use; NUMBA_NUM_THREADS sets it."""
    return config.NUMBA_NUM_THREADS  # pyright: ignore[reportAttributeAccessIssue]


_all, _one = counters(cores()), counters(1)


def prepare(kernel: Any, *arguments: Any) -> None:
    """Load a kernel for these arguments, or begin to compile it, without running it: setup must pay, not a solve."""
    kernel.prepare(tuple(numba.typeof(argument) for argument in (_all, *arguments)))


def _forked() -> None:
    """In a process that was forked: the threads of the other one are not there, and GNU's OpenMP ends a process that
    asks for them. One core then does all the work, and the results are the same."""
    global _all, _one_at_a_time
    _one_at_a_time = threading.Lock()
    if linker.cache_info().currsize:
        _all = _one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def chunks_of(size: int) -> int:
    """Into how many chunks a vector is cut. It depends on the size alone, so that sums do not depend on the machine."""
    return max(1, min(MOST_CHUNKS, size // CHUNK))
