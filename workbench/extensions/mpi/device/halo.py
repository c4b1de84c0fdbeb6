"""Ghosts of vectors: room for them around every vector, and their exchange with other ranks."""

from __future__ import annotations

import itertools
import math
import weakref
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from workbench.devices.host import memory
from workbench.devices.host.slab import Slab

if TYPE_CHECKING:
    from mpi4py import MPI

    from workbench.extensions.mpi.device.sums import Sums
    from workbench.extensions.mpi.device.watched import WatchedCommunicator


class Piece(NamedTuple):
    """Rows of a vector that travel between this rank and another, by a slice or by their numbers."""

    rank: int
    rows: slice | np.ndarray


class Halo:
    """The ghost planes of a slab. A vector is the middle of a longer array, with the ghosts around it.

    communicator: of mpi4py.
    """

    def __init__(self, communicator: WatchedCommunicator, slab: Slab) -> None:
        self.slab, self._communicator = slab, communicator
        self._rooms: dict[int, weakref.ref[np.ndarray]] = {}
        """The memory of the vectors made here, by its id."""

    def length(self, depth: int) -> int:
        """The entries of a vector with up to `depth` ghost planes on each side."""
        return math.prod(self.slab.within(depth).taller)

    def inner(self, depth: int) -> slice:
        """The rows of this rank among them."""
        return self.slab.within(depth).inner

    def vector(self, dtype: np.dtype, columns: int = 0) -> np.ndarray:
        """Zeros of shape (rows,), or (rows, columns), with room for ghosts."""
        taller = memory.vector(self.length(self.slab.depth) * max(1, columns), dtype)
        made = (taller.reshape(-1, columns) if columns else taller)[self.inner(self.slab.depth)]
        base, key = made.base, id(made.base)
        assert isinstance(base, np.ndarray)
        self._rooms[key] = weakref.ref(base, lambda _: self._rooms.pop(key, None))
        return made

    def has_room(self, vector: object) -> bool:
        """True for a vector that `vector` has made."""
        return isinstance(vector, np.ndarray) and id(vector.base) in self._rooms and len(vector) == self.slab.size

    def taller(self, vector: np.ndarray, depth: int) -> np.ndarray:
        """The vector with up to `depth` ghost planes on each side, in the same memory."""
        if not self.has_room(vector):
            raise TypeError("a vector without room for ghosts")
        base = vector.base
        assert base is not None
        before = self.inner(depth).start * (vector.nbytes // max(1, len(vector)))
        shape = (self.length(depth), *vector.shape[1:])
        offset = vector.ctypes.data - base.ctypes.data - before
        return np.ndarray(shape, vector.dtype, buffer=base, offset=offset)

    def keep(self, vector: np.ndarray, taller: np.ndarray, depth: int) -> None:
        """Let the vector have the rows of `taller(vector, depth)`: they are in the same memory."""

    def exchange(self, vector: np.ndarray, depth: int, reach: int = 0) -> np.ndarray:
        """The taller vector: `depth` ghost planes on each side are from the neighbours, up to `reach` zeros."""
        reach = max(depth, reach)
        taller, inner, count = self.taller(vector, reach), self.inner(reach), depth * self.slab.plane
        if inner.start > count:
            taller[: inner.start - count] = 0
        if len(taller) - inner.stop > count:
            taller[inner.stop + count :] = 0
        received, sent = self._pieces(depth, reach)
        requests = [self._communicator.Irecv(taller[rows], rank) for rank, rows in received]
        requests += [self._communicator.Isend(taller[rows], rank) for rank, rows in sent]
        self.wait(requests)
        return taller

    def wait(self, requests: list[MPI.Request]) -> None:
        """Wait for an exchange."""
        self._communicator.wait_all(requests)

    def _pieces(self, depth: int, reach: int) -> tuple[list[Piece], list[Piece]]:
        """The rows of a taller vector that are received, and those that are sent."""
        inner, count, rank = self.inner(reach), depth * self.slab.plane, self._communicator.rank
        received, sent = [], []
        if self.slab.first:
            received.append(Piece(rank - 1, slice(inner.start - count, inner.start)))
            sent.append(Piece(rank - 1, slice(inner.start, inner.start + count)))
        if self.slab.last < self.slab.grid[0]:
            received.append(Piece(rank + 1, slice(inner.stop, inner.stop + count)))
            sent.append(Piece(rank + 1, slice(inner.stop - count, inner.stop)))
        return received, sent


class DeviceOfRank(Protocol):
    """The device of a rank on its cores."""

    slab: Slab
    halo: Halo
    sums: Sums


def agreed_ghosts(
    communicator: WatchedCommunicator, slab: Slab, ghosts: np.ndarray
) -> tuple[list[tuple[int, slice]], list[tuple[int, np.ndarray]]]:
    """The places among `ghosts` that come from each other rank, and the own rows that it reads, from 0 on.

    ghosts: numbers in the whole system, ascending. All ranks call this together.
    """
    firsts = np.array([*communicator.allgather(slab.rows.start), slab.whole])
    ends = itertools.pairwise(map(int, np.searchsorted(ghosts, firsts)))
    places = [slice(a, b) for a, b in ends]
    wanted = communicator.alltoall([ghosts[place] for place in places])
    received = [(rank, place) for rank, place in enumerate(places) if place.stop > place.start]
    return received, [(rank, rows - slab.rows.start) for rank, rows in enumerate(wanted) if rows.size]


class PatternHalo(Halo):
    """The unknowns of other ranks that the rows of a matrix are coupled to, once around every vector; depth is 1.

    ghosts: their numbers in the whole system, ascending, so that the order of columns stays that of the matrix. What
    each rank sends is agreed on once, by all ranks together.
    """

    def __init__(self, communicator: WatchedCommunicator, slab: Slab, ghosts: np.ndarray) -> None:
        super().__init__(communicator, slab)
        self.ghosts, below = ghosts, int(np.searchsorted(ghosts, slab.rows.start))
        self._inner, self._length = slice(below, below + slab.size), slab.size + ghosts.size
        received, sent = agreed_ghosts(communicator, slab, ghosts)
        pieces = []
        for rank, place in received:
            # Ghosts of later ranks lie behind the rows of this one.
            behind = slab.size if rank > communicator.rank else 0
            pieces.append(Piece(rank, slice(place.start + behind, place.stop + behind)))
        self._exchanged = pieces, [Piece(rank, rows + below) for rank, rows in sent]

    def length(self, depth: int) -> int:
        return self._length

    def inner(self, depth: int) -> slice:
        return self._inner

    def _pieces(self, depth: int, reach: int) -> tuple[list[Piece], list[Piece]]:
        return self._exchanged
