"""Kernels of ranks: dot products of ghosts, and the sums of a rank that are added up over all of them."""

from __future__ import annotations

from workbench.compiler.words import group, groups, items, member, members, shared_array, strips
from workbench.devices.kernels.frames import store_sum, store_sums
from workbench.devices.kernels.parameters import Sums, Vector
from workbench.jit.dot_sums import with_row


def ghost_dots(x: Vector, y: Vector, partial: Sums, before: int, own: int, n: int) -> None:
    """Partial sums of (x, y), (y, y) and (x, x) over the rows before and behind the `own` rows of a rank."""
    dtype = partial.dtype.type
    room, sums = shared_array(dtype, (members() + strips()) * 3), (dtype(0),) * 3
    for i in items(n, 0, n):
        row = i if i < before else i + own
        sums = with_row(sums, x[row], y[row], dtype=dtype)
    store_sums(room, partial, sums, group(), groups())


def rank_sums(partial: Sums, count: int, ghosts: Sums, ghost_count: int, sums: Sums) -> None:
    """sums[k] = row k of the partial sums less that of the ghosts; a group has one k."""
    dtype = sums.dtype.type
    k, room, total = group(), shared_array(dtype, members()), dtype(0)
    for i in range(member(), count, members()):
        total += partial[k * count + i]
    for i in range(member(), ghost_count, members()):
        total -= ghosts[k * ghost_count + i]
    store_sum(room, total, sums, k)
