"""Which core takes which chunk of a kernel: those of its own share first, then what the others have not begun.

Had every core its share for good, one that something else uses for a moment, a browser for example, would hold up all
the others; so they take over its chunks meanwhile. A chunk makes the same numbers on every core, and what it sums has a
place of its own, so results do not depend on who took it. A kernel reads

    for lane in lanes(turns):
        for chunk in shared(turns, lane, chunks):

with `turns` from `launch`, and may use `lane` to find work space that no other core uses meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

APART = 16
"""Words from one core's counter to the next: two cache lines, which processors fetch in pairs."""


def counters(lanes: int) -> np.ndarray:
    """How many chunks were taken from each core's share: none yet. Shape (lanes, 16), the first column counts."""
    return np.zeros((lanes, APART), np.int64)


def lanes(turns: Any) -> Iterator[int]:  # pragma: no cover
    """The cores of a launch: a loop over them in a kernel runs on all of them at once (see `outlining`)."""
    yield from range(turns.shape[0])


@intrinsic
def _next(typing: Any, turns: Any, lane: Any) -> Any:
    """turns[lane, 0], one larger afterwards, whoever else asks at the same time."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        place = [arguments[1], context.get_constant(types.intp, 0)]
        address = cgutils.get_item_pointer(context, builder, kind, array, place, wraparound=False, boundscheck=False)
        return builder.atomic_rmw("add", address, context.get_constant(types.int64, 1), "monotonic")

    return types.int64(types.Array(types.int64, 2, "C"), types.intp), generate


@njit(nogil=True)
def shared(turns, lane, chunks):  # pragma: no cover
    """The chunks that this core works on, each given to one core only."""
    lanes = turns.shape[0]
    for away in range(lanes):
        owner = (np.int64(lane) + away) % lanes
        first, end = chunks * owner // lanes, chunks * (owner + 1) // lanes
        # Looked at before it is asked for: a counter that all cores write to is slow, and most find nothing left.
        while first + turns[owner, 0] < end:
            chunk = first + _next(turns, owner)  # pyright: ignore[reportCallIssue]
            if chunk < end:
                yield chunk
