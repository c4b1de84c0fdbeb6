"""Launches of CPU kernels: one kernel at a time, on all cores, or on one core where the work is too small."""

from __future__ import annotations

import os
import threading
from typing import Any

# A waiting OpenMP thread spins by default. Next to a browser, or any other busy process, it may spin on the core that
# the working thread needs, and a kernel of half a millisecond takes ten; asleep it costs at most 30 microseconds.
# The variable is read when the OpenMP library is loaded, at the first parallel launch.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numba
from numba.core import config

from workbench.jit.compiled import Kernel, kinds_of
from workbench.jit.linking import linker
from workbench.jit.work_stealing import counters

config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]  # pyright: ignore[reportAttributeAccessIssue]

CHUNK = 16384
"""Elements of a chunk: 128 KiB of doubles, so that a chunk of two or three vectors stays in a core's own cache."""
MOST_CHUNKS = 1024
WORTH_SHARING = 131072
"""Below this many elements a pass ends before a second core has woken up."""

# A kernel uses all cores, so a second one at the same time gains nothing; and numba's own thread pool, the fallback if
# neither OpenMP nor TBB is available, ends the process when two threads enter it at once.
_one_at_a_time = threading.Lock()


def launch(size: int, kernel: Kernel, *arguments: Any) -> None:
    """Run a kernel over `size` elements, no other kernel at the same time. Its first argument is the array `taken`."""
    with _one_at_a_time:
        taken = _all if size >= WORTH_SHARING else _one
        if kernel.run(taken, arguments):
            kernel.run_other(taken, arguments)


def cores() -> int:
    """Number of cores that kernels use; NUMBA_NUM_THREADS sets it."""
    return config.NUMBA_NUM_THREADS  # pyright: ignore[reportAttributeAccessIssue]


def layer() -> str:
    """Name of numba's threading layer, empty until a parallel kernel has run."""
    try:
        return numba.threading_layer()  # pyright: ignore[reportPrivateImportUsage]
    except ValueError:
        return ""


_all, _one = counters(cores()), counters(1)


def prepare(kernel: Kernel, *arguments: Any) -> None:
    """Load a kernel for these arguments, or begin to compile it, as part of the setup; it does not run."""
    kernel.prepare(kinds_of((_all, *arguments)))


def _forked() -> None:
    """Use one core in a forked process: it lacks the parent's threads, and GNU's OpenMP ends a process that asks for
    them. The results are the same."""
    global _all, _one_at_a_time
    _one_at_a_time = threading.Lock()
    if linker.cache_info().currsize:
        _all = _one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def chunks_of(size: int) -> int:
    """Number of chunks of a vector. It depends on the size alone, so that sums do not depend on the machine."""
    return max(1, min(MOST_CHUNKS, size // CHUNK))
