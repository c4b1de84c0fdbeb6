"""Parts of boxes that are merged by twos along each side, phases kept apart."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import cores, launch
from workbench.jit.work_stealing import APART

BOXES_PER_CHUNK = 256
MOST_MERGED = 8
"""Boxes that are merged into one, at most."""


def merged_parts(
    firsts: np.ndarray, phases: np.ndarray, per_side: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first part of each merged box and their number, the phase of each merged part, and that of each given part.

    firsts: the first part of each box and their number, for boxes per side, slowest first. phases: ascending within a
    box. Merged parts are numbered box by box and by phase as well. Cost: two reads of the phases.
    """
    fine = np.array((1,) * (3 - len(per_side)) + tuple(per_side), np.int64)
    coarse = -(-fine // 2)
    count = int(coarse.prod())
    chunks = max(1, count // BOXES_PER_CHUNK)
    ends = np.zeros(count + 1, np.int64)
    nothing = np.empty(0, phases.dtype), np.empty(0, np.int64)
    room = np.empty((cores(), 2, APART), np.int64)
    launch(phases.size, _merge, firsts, phases, fine, coarse, chunks, room, False, ends, *nothing)
    np.cumsum(ends, out=ends)
    made = np.empty(ends[-1], phases.dtype), np.empty(phases.size, np.int64)
    launch(phases.size, _merge, firsts, phases, fine, coarse, chunks, room, True, ends, *made)
    return ends, *made


@kernel()
def _merge(taken, firsts, phases, fine, coarse, chunks, room, fill, ends, merged, parents):  # pragma: no cover
    """Count the parts of each merged box, ends[box + 1]; or, with `fill`, store their phases, and of each given part
    the merged one."""
    count = coarse[0] * coarse[1] * coarse[2]
    for thread in threads(taken):
        lists = room[thread, 0], room[thread, 1]
        for chunk in shared(taken, thread, chunks):
            for box in range(count * chunk // chunks, count * (chunk + 1) // chunks):
                if fill:
                    merge_box(box, firsts, phases, fine, coarse, lists, ends[box], (merged, parents))
                else:
                    ends[box + 1] = merge_box(box, firsts, phases, fine, coarse, lists, 0, ())


def merge_box(box, firsts, phases, fine, coarse, lists, first, made):  # pragma: no cover
    """Merge the parts of at most eight boxes; the number behind that of the last merged part, of which the first one
    has the number `first`.

    fine, coarse: boxes per side before and after. lists: room for the first of the parts that are left of each box, and
    the one behind its last, MOST_MERGED each. made: the phase of each merged part and the merged part of each part;
    also the number of parts of each merged part and the rank of each part among these; or nothing.
    """
    heads, tails = lists
    cz, cy, cx = box // (coarse[1] * coarse[2]), box // coarse[2] % coarse[1], box % coarse[2]
    count = 0
    for z in range(2 * cz, min(2 * cz + 2, fine[0])):
        for y in range(2 * cy, min(2 * cy + 2, fine[1])):
            for x in range(2 * cx, min(2 * cx + 2, fine[2])):
                inner = (z * fine[1] + y) * fine[2] + x
                heads[count], tails[count] = firsts[inner], firsts[inner + 1]
                count += 1
    # The lists of phases are sorted: the least of their heads comes next.
    at = first
    while True:
        least = -1
        for k in range(count):
            if heads[k] < tails[k] and (least < 0 or phases[heads[k]] < phases[heads[least]]):
                least = k
        if least < 0:
            break
        phase, rank = phases[heads[least]], 0
        for k in range(count):
            if heads[k] < tails[k] and phases[heads[k]] == phase:
                if len(made) > 0:
                    made[1][heads[k]] = at
                if len(made) > 2:
                    made[3][heads[k]] = rank
                rank += 1
                heads[k] += 1
        if len(made) > 0:
            made[0][at] = phase
        if len(made) > 2:
            made[2][at] = rank
        at += 1
    return at
