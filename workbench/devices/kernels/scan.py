"""Kernels of running sums of integers: sums of runs, one of each group, and from them the sum at each place.

`value` is a function of a place and the given arrays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.compiler.words import barrier, group, groups, member, members, shared_array
from workbench.devices.kernels.frames import add_together
from workbench.devices.kernels.parameters import LongPlaces


def run_sums(given, sums: LongPlaces, count: int, *, value: Callable[..., int]) -> None:
    """The sum of the values of each group's run, the least one and the largest; 0 is among them. sums: shape
    (3, groups)."""
    size, here = members(), member()
    room, total, least, most = shared_array(np.int64, 3 * members()), 0, 0, 0
    for i in range(count * group() // groups() + here, count * (group() + 1) // groups(), members()):
        found = value(i, *given)
        total += found
        least, most = min(least, found), max(most, found)
    room[here], room[size + here], room[2 * size + here] = total, least, most
    barrier()
    reach = size // 2
    while reach > 0:
        if here < reach:
            other = here + reach
            room[here] += room[other]
            room[size + here] = min(room[size + here], room[size + other])
            room[2 * size + here] = max(room[2 * size + here], room[2 * size + other])
        barrier()
        reach = reach // 2
    if here == 0:
        for k in range(3):
            sums[k * groups() + group()] = room[k * size]


def running_sums(given, sums: LongPlaces, ends, count: int, *, value: Callable[..., int]) -> None:
    """ends[i + 1] = the sum of the first i + 1 values; every group adds those of the groups before it."""
    size, here = members(), member()
    room, before = shared_array(np.int64, members()), 0
    for k in range(here, group(), members()):
        before += sums[k]
    add_together(room, (before,))
    before = room[0]
    barrier()
    high = count * (group() + 1) // groups()
    for begin in range(count * group() // groups(), high, members()):
        i = begin + here
        room[here] = 0
        if i < high:
            room[here] = value(i, *given)
        barrier()
        reach = 1
        while reach < size:
            other = room[here - reach] if here >= reach else 0
            barrier()
            room[here] += other
            barrier()
            reach *= 2
        if i < high:
            ends[i + 1] = before + room[here]
        before += room[size - 1]
        barrier()
    if group() == 0 and here == 0:
        ends[0] = 0
