"""Work stealing: a core takes the chunks of its own share first, then chunks that other cores have not begun.

With fixed shares a core that is busy with another program, a browser for example, would delay all others. A chunk gives
the same numbers on every core, and each has a separate place for its sums, so results do not depend on the core. A
kernel has the form

    for lane in lanes(turns):
        for chunk in shared(turns, lane, chunks):

with `turns` from `launch`, and may use `lane` as the index of work space that no other core uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

APART = 16
"""Words between the counters of two cores: two cache lines, which processors fetch in pairs."""


def counters(lanes: int) -> np.ndarray:
    """Zeros for the numbers of chunks taken from each core's share. Shape (lanes, 16); the first column counts."""
    return np.zeros((lanes, APART), np.int64)


def lanes(turns: Any) -> Iterator[int]:  # pragma: no cover
    """The cores of a launch: a loop over them in a kernel runs on all of them in parallel (see `outlining`)."""
    yield from range(turns.shape[0])


@intrinsic
def _next(typing: Any, turns: Any, lane: Any) -> Any:
    """Atomic fetch-and-add: turns[lane, 0], incremented by one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        place = [arguments[1], context.get_constant(types.intp, 0)]
        address = cgutils.get_item_pointer(context, builder, kind, array, place, wraparound=False, boundscheck=False)
        return builder.atomic_rmw("add", address, context.get_constant(types.int64, 1), "monotonic")

    return types.int64(types.Array(types.int64, 2, "C"), types.intp), generate


@njit(nogil=True)
def shared(turns, lane, chunks):  # pragma: no cover
    """The chunks that this core works on; each goes to one core only."""
    lanes = turns.shape[0]
    for away in range(lanes):
        owner = (np.int64(lane) + away) % lanes
        first, end = chunks * owner // lanes, chunks * (owner + 1) // lanes
        # Read before the atomic add, which is slow on a counter that all cores write; mostly nothing is left.
        while first + turns[owner, 0] < end:
            chunk = first + _next(turns, owner)  # pyright: ignore[reportCallIssue]
            if chunk < end:
                yield chunk
