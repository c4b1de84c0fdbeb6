"""Kernels of accelerators on padded arrays of a grid: copies, ghosts, cells near the interface, sums of each bubble.

rows: the first inner cell of each row of nx; `count` is that of the inner cells, or of what else a loop goes over.
"""

from __future__ import annotations

from workbench.compiler.words import group, items, member, members, shared_array
from workbench.devices.kernels.frames import add_together
from workbench.devices.kernels.parameters import Bytes, Doubles, LongPlaces, Places, Real


def fill(ghosts: Places, sources: Places, signs: Doubles, values: Doubles, count: int) -> None:
    """Ghosts get the values of the cells that they mirror."""
    for k in items(count, 0, count):
        values[ghosts[k]] = signs[k] * values[sources[k]]


def put(rows: LongPlaces, cells, padded, count: int, *, nx: int) -> None:
    """padded = cells without ghosts."""
    for item in items(count, 0, count):
        padded[rows[item // nx] + item % nx] = cells[item]


def inside(rows: LongPlaces, phi: Doubles, found: Bytes, count: int, *, nx: int) -> None:
    """found = 1 in each inner cell where phi is negative, else 0; shape (count,)."""
    for item in items(count, 0, count):
        found[item] = 1 if phi[rows[item // nx] + item % nx] < 0 else 0


def near(
    rows: LongPlaces, phi: Doubles, within: Real, up: int, over: int, layers: int, found: Bytes, count: int, *, nx: int
) -> None:
    """found = 1 where |phi| is below `within` in an inner cell or next to it, else 0. up, over: from a row to the
    next one, and from a plane; layers: 1 in three dimensions, else 0."""
    for item in items(count, 0, count):
        i, reached = rows[item // nx] + item % nx, 0
        for z in range(-layers, layers + 1):
            for y in range(-1, 2):
                for x in range(-1, 2):
                    if abs(phi[i + x + y * up + z * over]) < within:
                        reached = 1
        found[i] = reached


def has_crossed(i, rows, phi, labels, *, nx):
    """True if the sign of phi in inner cell i is no longer that of its label."""
    return (phi[rows[i // nx] + i % nx] < 0) != (labels[i] > 0)


def listed(ends: Places, places: LongPlaces, count: int) -> None:
    """The places of what a scan counts."""
    for i in items(count, 0, count):
        if ends[i + 1] > ends[i]:
            places[ends[i]] = i


def into_buckets(
    rows: LongPlaces, owner: LongPlaces, values: Doubles, cells: int, sums: Doubles, count: int, *, nx: int
) -> None:
    """sums[owner, bucket] += the values of the owner's cells in a bucket, of which there are `count`."""
    for bucket in items(count, 0, count):
        for item in range(bucket, cells, max(1, count)):
            i = rows[item // nx] + item % nx
            if values[i] != 0:
                sums[owner[i] * count + bucket] += values[i]


def of_buckets(sums: Doubles, totals: Doubles, count: int) -> None:
    """totals[owner] = the sum of the owner's buckets, of which there are `count`; a group has one owner."""
    room, total = shared_array(sums.dtype.type, members()), 0.0
    for bucket in range(member(), count, members()):
        total += sums[group() * count + bucket]
    add_together(room, (total,))
    if member() == 0:
        totals[group()] = room[0]
