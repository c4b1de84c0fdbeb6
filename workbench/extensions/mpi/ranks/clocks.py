"""The lead of the clock of each rank over that of rank 0, from messages back and forth."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mpi4py import MPI


ROUNDS = 16
"""Messages to each rank and back; the fastest of them counts."""


class Offset(NamedTuple):
    """Seconds by which a clock is ahead of that of rank 0, and the largest error of that number."""

    ahead: float
    error: float


def offsets(world: MPI.Intracomm) -> list[Offset]:
    """The offset of each rank, on rank 0; empty on the others, which wait. The clock is time.perf_counter.

    A rank reads its clock between the two readings of rank 0, so that the error is at most half of the time between
    them. Cost: tens of microseconds for each rank, one after another.
    """
    if world.rank:
        for _ in range(ROUNDS):
            world.recv(source=0)
            world.send(time.perf_counter(), dest=0)
        return []
    found = [Offset(0.0, 0.0)]
    for rank in range(1, world.size):
        tried = []
        for _ in range(ROUNDS):
            sent = time.perf_counter()
            world.send(None, dest=rank)
            there = world.recv(source=rank)
            received = time.perf_counter()
            tried.append(Offset(there - (sent + received) / 2, (received - sent) / 2))
        found.append(min(tried, key=lambda offset: offset.error))
    return found


def largest_error(begun: list[Offset], ended: list[Offset]) -> float:
    """The largest error of times that were moved by the offsets of the start, given those of the end, in s."""
    pairs = zip(begun, ended, strict=True)
    return max((abs(a.ahead - b.ahead) + a.error + b.error for a, b in pairs), default=0.0)
