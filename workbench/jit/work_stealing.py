"""Work stealing: a thread takes the chunks of its own share first, then chunks that other threads have not begun.

With fixed shares a core that is busy with another program, a browser for example, would delay all others. A chunk gives
the same numbers on every thread and has a separate place for its sums, so results do not depend on the thread. A kernel
has the form

    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):

with `taken` from `launch`, and may use `thread` as the index of work space that no other thread uses.

Work whose chunks depend on one another is shared by counters that threads publish, and by locks (`publish`,
`published`, `acquired`). A thread must not wait for another for long, since that one may have lost its core: it
returns, and the others do the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

APART = 16
"""Words between the counters of two threads: two cache lines, which processors fetch in pairs."""


def counters(threads: int) -> np.ndarray:
    """Numbers of chunks taken from each thread's share, zero at the start. Shape (threads, 16); column 0 counts."""
    return np.zeros((threads, APART), np.int64)


def threads(taken: Any) -> Iterator[int]:  # pragma: no cover
    """Indices of the threads of a launch; a loop over them in a kernel runs in parallel (see `by_threads`)."""
    yield from range(taken.shape[0])


@intrinsic
def _next(typing: Any, taken: Any, thread: Any) -> Any:
    """Atomic fetch-and-add: taken[thread, 0], incremented by one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        place = [arguments[1], context.get_constant(types.intp, 0)]
        address = cgutils.get_item_pointer(context, builder, kind, array, place, wraparound=False, boundscheck=False)
        return builder.atomic_rmw("add", address, context.get_constant(types.int64, 1), "monotonic")

    return types.int64(types.Array(types.int64, 2, "C"), types.intp), generate


@njit(nogil=True)
def shared(taken, thread, chunks):  # pragma: no cover
    """The chunks that a thread works on: those of its share, then those left of others; each is yielded once in all."""
    threads = taken.shape[0]
    for away in range(threads):
        owner = (np.int64(thread) + away) % threads
        first, end = chunks * owner // threads, chunks * (owner + 1) // threads
        # Read before the atomic add, which is slow on a counter that all threads write; mostly nothing is left.
        while first + taken[owner, 0] < end:
            chunk = first + _next(taken, owner)  # pyright: ignore[reportCallIssue]
            if chunk < end:
                yield chunk


@intrinsic
def publish(typing: Any, progress: Any, place: Any, value: Any) -> Any:
    """progress[place, 0] = value, after everything that this thread has written before; shape (places, 16)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = context.cast(builder, arguments[2], signature.args[2], types.int64)
        builder.store_atomic(count, _counter(context, builder, signature, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(progress, place, value), generate


@intrinsic
def published(typing: Any, progress: Any, place: Any) -> Any:
    """progress[place, 0]; what its thread wrote before is seen by everything after this."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_counter(context, builder, signature, arguments), "acquire", 8)

    return types.int64(progress, place), generate


@intrinsic
def acquired(typing: Any, locks: Any, place: Any) -> Any:
    """Whether this thread now holds the lock locks[place, 0], which was 0; publishing 0 releases it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held, free = (context.get_constant(types.int64, value) for value in (1, 0))
        before = builder.atomic_rmw("xchg", _counter(context, builder, signature, arguments), held, "acquire")
        return builder.icmp_signed("==", before, free)

    return types.boolean(locks, place), generate


def _counter(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The address of progress[place, 0]."""
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, arguments[0])
    row = context.cast(builder, arguments[1], signature.args[1], types.intp)
    place = [row, context.get_constant(types.intp, 0)]
    return cgutils.get_item_pointer(context, builder, kind, array, place, wraparound=False, boundscheck=False)
