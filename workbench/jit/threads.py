"""Launches of CPU kernels: one kernel at a time, on all cores, or on one core where the work is too small."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.jit import environment, pool
from workbench.jit.compiled import Kernel, kinds_of, loading
from workbench.jit.linking import linker
from workbench.jit.work_stealing import counters

if TYPE_CHECKING:
    from workbench.jit.c_abi import Kinds

CHUNK = 16384
"""Elements of a chunk: 128 KiB of doubles, so that a chunk of two or three vectors stays in a core's own cache."""
MOST_CHUNKS = 1024
WORTH_SHARING = 131072
"""Below this many elements a pass ends before a second core has woken up."""

# A kernel uses all cores, so a second one at the same time gains nothing; and the pool has one launch at a time.
_one_at_a_time = threading.Lock()


def launch(size: int, kernel: Kernel, *arguments: object) -> None:
    """Run a kernel over `size` elements, no other kernel at the same time. Its first argument is the array `taken`."""
    with _one_at_a_time:
        taken = _one
        if size >= WORTH_SHARING:
            taken = _all
            if len(taken) > pool.threads:
                with loading:
                    pool.start(linker(), len(taken))
        if kernel.run(taken, arguments):
            kernel.run_other(taken, arguments)


def cores() -> int:
    """Number of threads that share a kernel; WORKBENCH_THREADS sets it."""
    return _threads.count


_threads = environment.threads()
_all, _one = counters(cores()), counters(1)


def launch_on_one_core(run: Callable[..., int], *arguments: object) -> int:
    """The result of machine code that launches kernels by itself, no other kernel at the same time. The array `taken`
    of one core is its last argument."""
    with _one_at_a_time:
        return run(*arguments, _one)


def prepare(kernel: Kernel, *arguments: object) -> Kinds:
    """Load a kernel for these arguments, or begin to compile it, as part of the setup; it does not run. Returns the
    kinds of the arguments."""
    kinds = kinds_of((_all, *arguments))
    kernel.prepare(kinds)
    return kinds


def _forked() -> None:
    """Use one core in a forked process, which lacks the parent's threads. The results are the same."""
    global _all, _one_at_a_time
    _one_at_a_time = threading.Lock()
    if pool.threads > 1:
        _all = _one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def chunks_of(size: int) -> int:
    """Number of chunks of a vector. It depends on the size alone, so that sums do not depend on the machine."""
    return max(1, min(MOST_CHUNKS, size // CHUNK))
