"""Ghost planes of vectors: room for them around every vector, and their exchange with the neighbours."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np

from workbench.host import memory
from workbench.host.slab import Slab


class Halo:
    """The ghost planes of a slab. A vector is the middle of a longer array, with the ghosts around it.

    communicator: of mpi4py.
    """

    def __init__(self, communicator: Any, slab: Slab) -> None:
        from mpi4py import MPI

        self.slab, self._communicator, self._mpi = slab, communicator, MPI
        rank, last = communicator.rank, communicator.size - 1
        self._below = rank - 1 if rank else MPI.PROC_NULL
        self._above = rank + 1 if rank < last else MPI.PROC_NULL
        self._rooms: dict[int, weakref.ref[np.ndarray]] = {}
        """The memory of the vectors made here, by its id."""

    def vector(self, dtype: np.dtype, columns: int = 0) -> np.ndarray:
        """Zeros of shape (rows,), or (rows, columns), with room for ghosts."""
        taller = memory.vector(math.prod(self.slab.taller) * max(1, columns), dtype)
        made = (taller.reshape(-1, columns) if columns else taller)[self.slab.inner]
        base, key = made.base, id(made.base)
        assert isinstance(base, np.ndarray)
        self._rooms[key] = weakref.ref(base, lambda _: self._rooms.pop(key, None))
        return made

    def has_room(self, vector: Any) -> bool:
        """Whether a vector was made by `vector`."""
        return isinstance(vector, np.ndarray) and id(vector.base) in self._rooms and len(vector) == self.slab.size

    def taller(self, vector: np.ndarray, depth: int) -> np.ndarray:
        """The vector with up to `depth` ghost planes on each side, in the same memory."""
        if not self.has_room(vector):
            raise TypeError("a vector without room for ghost planes")
        wanted, base = self.slab.within(depth), vector.base
        assert base is not None
        before = wanted.inner.start * (vector.nbytes // max(1, len(vector)))
        shape = (math.prod(wanted.taller), *vector.shape[1:])
        offset = vector.ctypes.data - base.ctypes.data - before
        return np.ndarray(shape, vector.dtype, buffer=base, offset=offset)

    def keep(self, vector: np.ndarray, taller: np.ndarray, depth: int) -> None:
        """Let the vector have the rows of `taller(vector, depth)`: they are in the same memory."""

    def exchange(self, vector: np.ndarray, depth: int, reach: int = 0) -> np.ndarray:
        """The taller vector: `depth` ghost planes on each side are from the neighbours, up to `reach` zeros."""
        reach = max(depth, reach)
        taller, inner, count = self.taller(vector, reach), self.slab.within(reach).inner, depth * self.slab.plane
        first, last = inner.start, inner.stop
        if first > count:
            taller[: first - count] = 0
        if len(taller) - last > count:
            taller[last + count :] = 0
        below = taller[max(0, first - count) : first], taller[first : first + count], self._below
        above = taller[last : last + count], taller[last - count : last], self._above
        requests = []
        for ghosts, _, neighbour in (below, above):
            requests.append(self._communicator.Irecv(ghosts, neighbour))
        for _, edge, neighbour in (below, above):
            requests.append(self._communicator.Isend(edge, neighbour))
        self.wait(requests)
        return taller

    def wait(self, requests: list[Any]) -> None:
        """Wait for an exchange."""
        self._mpi.Request.Waitall(requests)
