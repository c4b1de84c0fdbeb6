"""Parts of boxes that are merged by twos along each side, phases kept apart."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import cores, launch
from workbench.jit.work_stealing import APART

BOXES_PER_CHUNK = 256


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
    count = coarse[0] * coarse[1] * coarse[2]
    for thread in threads(taken):
        # Of the at most eight boxes that are merged.
        heads, tails = room[thread, 0], room[thread, 1]
        for chunk in shared(taken, thread, chunks):
            for box in range(count * chunk // chunks, count * (chunk + 1) // chunks):
                cz, cy, cx = box // (coarse[1] * coarse[2]), box // coarse[2] % coarse[1], box % coarse[2]
                lists = 0
                for z in range(2 * cz, min(2 * cz + 2, fine[0])):
                    for y in range(2 * cy, min(2 * cy + 2, fine[1])):
                        for x in range(2 * cx, min(2 * cx + 2, fine[2])):
                            inner = (z * fine[1] + y) * fine[2] + x
                            heads[lists], tails[lists] = firsts[inner], firsts[inner + 1]
                            lists += 1
                # The lists of phases are sorted: the least of their heads comes next.
                at = ends[box] if fill else 0
                while True:
                    least = -1
                    for k in range(lists):
                        if heads[k] < tails[k] and (least < 0 or phases[heads[k]] < phases[heads[least]]):
                            least = k
                    if least < 0:
                        break
                    phase = phases[heads[least]]
                    for k in range(lists):
                        if heads[k] < tails[k] and phases[heads[k]] == phase:
                            if fill:
                                parents[heads[k]] = at
                            heads[k] += 1
                    if fill:
                        merged[at] = phase
                    at += 1
                if not fill:
                    ends[box + 1] = at
