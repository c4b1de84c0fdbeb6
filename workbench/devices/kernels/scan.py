"""Kernels of running sums of integers, sums of runs, one of each group, and from them the sum at each place; and of a
sort by them.

`value` is a function of a place and the given arrays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.compiler.words import barrier, group, groups, items, member, members, shared_array
from workbench.devices.kernels.frames import add_together
from workbench.devices.kernels.parameters import Doubles, LongPlaces, Places


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


def begun(labels: Places, keys: Places, order: Places, rows: int) -> None:
    """The keys and the order with which a sort by labels begins."""
    for i in items(rows, 0, rows):
        keys[i], order[i] = labels[i], i


def split(keys: Places, order: Places, ends: Places, keys_made: Places, order_made: Places, rows: int) -> None:
    """A pass of a stable sort by keys: even ones come first, and each loses its last bit. ends: running sums of 1 for
    even keys."""
    for i in items(rows, 0, rows):
        at = ends[i] if keys[i] & 1 == 0 else ends[rows] + i - ends[i]
        keys_made[at], order_made[at] = keys[i] >> 1, order[i]


def together(labels: Places, order: Places, places: Places, parents: Places, starts: Places, rows: int) -> None:
    """For rows in an order by parts: the place of each row, the part at each place, and the first place of each
    part."""
    for i in items(rows, 0, rows):
        part = labels[order[i]]
        places[order[i]], parents[i] = i, part
        if i == 0 or labels[order[i - 1]] != part:
            starts[part] = i
        if i == rows - 1:
            starts[part + 1] = rows


def ranks(labels: Places, places: Places, starts: Places, found: Places, rows: int) -> None:
    """The number of each row among those of its part."""
    for i in items(rows, 0, rows):
        found[i] = places[i] - starts[labels[i]]


def counted(starts: Places, children: Places, parts: int) -> None:
    """The rows of each part."""
    for part in items(parts, 0, parts):
        children[part] = starts[part + 1] - starts[part]


def is_even(i, keys):
    """One for an even key, else 0."""
    return 1 - (keys[i] & 1)


def numbered(seeds: Doubles, before: Places, labels: Places, rows: int) -> None:
    """The part 0, 1, .. of each row from the row that is its seed. before: the seeds before each row."""
    for i in items(rows, 0, rows):
        labels[i] = before[np.int64(seeds[i])]


def is_seed_of_itself(i, seeds):
    """One for a row that is the seed of its part, else 0."""
    return 1 if seeds[i] == i else 0
