"""Ghost planes of vectors in the memory of an accelerator."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from workbench.devices.accelerator.runtime import Vector
from workbench.devices.host.slab import Slab
from workbench.extensions.mpi.device.links import Link, Piece

if TYPE_CHECKING:
    from workbench.devices.accelerator.runtime import Handle, Runtime


class SlabVector(Vector):
    """The rows of a rank in the middle of a longer vector, `taller`, with the ghosts around them."""

    __slots__ = ("taller", "views")

    def __init__(self, handle: Handle, shape: tuple[int, ...], dtype: np.dtype, taller: Vector) -> None:
        super().__init__(handle, shape, dtype)
        self.taller = taller
        self.views: dict[int, Vector] = {}
        """Views with fewer ghost planes, by their number."""


class RankAccelerator(Protocol):
    """The accelerator of a rank."""

    @property
    def runtime(self) -> Runtime: ...

    @property
    def rank(self) -> int: ...

    def without_ghosts(self, shape: tuple[int, ...], dtype: np.dtype) -> Vector:
        """An uninitialized vector of just this shape."""
        ...


class DeviceHalo:
    """The ghost planes of a slab on an accelerator; see `halo.Halo`.

    Where parts of memory may begin at any byte, a vector is the middle of a longer one. Elsewhere an operator works on
    copies with room for ghosts: two more reads and writes of a vector per application.
    """

    def __init__(self, device: RankAccelerator, slab: Slab, link: Link) -> None:
        self._device, self.slab, self._link = device, slab, link
        self._rooms: dict[tuple[str, int, tuple[int, ...], np.dtype], Vector] = {}
        self.copies = device.runtime.part(device.runtime.allocate(2), 1, 1) is None
        """Set where operators work on copies."""

    def vector(self, shape: tuple[int, ...], dtype: np.dtype) -> Vector:
        """An uninitialized vector (rows,), or block vector (rows, columns), with room for ghosts."""
        if self.copies:
            return self._device.without_ghosts(shape, dtype)
        taller = self._device.without_ghosts(self._tall(self.slab.depth, shape), dtype)
        first, nbytes = self.slab.inner.start * self._row(taller), math.prod(shape) * dtype.itemsize
        return SlabVector(self._device.runtime.part(taller.handle, first, nbytes), shape, dtype, taller)

    def has_room(self, vector: object) -> bool:
        """True for a vector that `vector` has made."""
        return isinstance(vector, SlabVector)

    def taller(self, vector: Vector, depth: int, use: str = "out") -> Vector:
        """The vector with up to `depth` ghost planes on each side: in the same memory, or room for a copy."""
        shape = self._tall(depth, vector.shape)
        if not isinstance(vector, SlabVector):
            key = use, depth, vector.shape, vector.dtype
            if key not in self._rooms:
                self._rooms[key] = self._made(shape, vector.dtype)
            return self._rooms[key]
        if depth not in vector.views:
            within, row = self.slab.within(depth), self._row(vector)
            first = (self.slab.inner.start - within.inner.start) * row
            part = self._device.runtime.part(vector.taller.handle, first, shape[0] * row)
            vector.views[depth] = Vector(part, shape, vector.dtype)
        return vector.views[depth]

    def keep(self, vector: Vector, taller: Vector, depth: int) -> None:
        """Let the vector have the rows of `taller(vector, depth)`."""
        if not isinstance(vector, SlabVector):
            first = self.slab.within(depth).inner.start * self._row(vector)
            self._device.runtime.copy(vector.handle, taller.handle, vector.nbytes, source_at=first)

    def placed(self, vector: Vector, depth: int, use: str) -> Vector:
        """The taller vector, whose ghost planes are not filled."""
        taller = self.taller(vector, depth, use)
        if not isinstance(vector, SlabVector):
            first = self.slab.within(depth).inner.start * self._row(vector)
            self._device.runtime.copy(taller.handle, vector.handle, vector.nbytes, target_at=first)
        return taller

    def exchange(self, vector: Vector, depth: int, reach: int = 0) -> Vector:
        """The taller vector: `depth` ghost planes on each side are from the neighbours, up to `reach` zeros."""
        reach = max(depth, reach)
        runtime, slab, row = self._device.runtime, self.slab, self._row(vector)
        taller, inner = self.placed(vector, reach, f"argument with {depth}"), slab.within(reach).inner
        first, last, count = inner.start * row, inner.stop * row, depth * slab.plane * row
        # The other ghosts of a copy have been zero from the start.
        if isinstance(vector, SlabVector):
            for begin, end in ((0, first - count), (last + count, taller.nbytes)):
                if end > begin:
                    runtime.clear(runtime.part(taller.handle, begin, end - begin), end - begin)
        sent, received = [], []
        if slab.first:
            sent.append(Piece(taller.handle, first, count, self._device.rank - 1))
            received.append(Piece(taller.handle, first - count, count, self._device.rank - 1))
        if slab.last < slab.grid[0]:
            sent.append(Piece(taller.handle, last - count, count, self._device.rank + 1))
            received.append(Piece(taller.handle, last, count, self._device.rank + 1))
        if sent:
            self._link.exchange(sent, received)
        return taller

    def _made(self, shape: tuple[int, ...], dtype: np.dtype) -> Vector:
        """Zeros."""
        made = self._device.without_ghosts(shape, dtype)
        self._device.runtime.clear(made.handle, made.nbytes)
        return made

    def _tall(self, depth: int, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (math.prod(self.slab.within(depth).taller), *shape[1:])

    def _row(self, vector: Vector) -> int:
        """Bytes of a row."""
        return vector.itemsize * math.prod(vector.shape[1:])
