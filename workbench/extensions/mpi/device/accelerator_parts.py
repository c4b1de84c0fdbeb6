"""Labels of parts of boxes and rows of E in the memory of the accelerator of a rank."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.parts import PlacedBoxes
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.host.boxes import Boxes, EarlierParts
from workbench.extensions.mpi.device.links import Piece
from workbench.extensions.mpi.device.reductions import OnRanks

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.extensions.mpi.device.ghosts import DeviceHalo
    from workbench.extensions.mpi.device.links import Link


class JoinedBoxes(PlacedBoxes):
    """The boxes of all ranks. own, first: those of this rank, and the first of their parts."""

    own: PlacedBoxes
    first: int

    def __init__(
        self,
        device: Accelerator,
        grid: tuple[int, ...],
        per_side: tuple[int, ...],
        placed: dict[str, Vector],
        most: int,
        own: PlacedBoxes,
        first: int,
    ) -> None:
        super().__init__(device, grid, per_side, placed, most)
        vars(self).update(own=own, first=first)


class PartsOnAccelerator(OnRanks, Accelerator):
    """See `OnRanks`; what is in device memory stays there, and travels by the link of the ranks."""

    link: Link
    halo: DeviceHalo

    @functools.cached_property
    def alone(self) -> Accelerator:
        """The accelerator without the other ranks: its vectors have no ghosts, and its sums are its own."""
        return Accelerator(self.runtime, self.budget)

    def placed_boxes(self, boxes: Boxes) -> PlacedBoxes:
        """The boxes, described in the memory of `alone`."""
        return PlacedBoxes.of(self.alone, boxes)

    def joined_boxes(self, own: Boxes, grid: tuple[int, ...], per_side: tuple[int, ...]) -> tuple[Boxes, int]:
        if not isinstance(own, PlacedBoxes) or self.halo.copies:
            return super().joined_boxes(own, grid, per_side)
        shares = self.gathered((own.count, math.prod(own.per_side), own.most))
        first, before = (sum(share[k] for share in shares[: self.rank]) for k in (0, 1))
        placed = {name: self._joined(own.placed[name]) for name in ("phases", "sizes")}
        firsts = self.joined(self.to_host(own.placed["firsts"])[:-1] + np.int32(first))
        count = sum(share[0] for share in shares)
        numbers = {"box": self.joined(own.box + np.int32(before)), "firsts": np.append(firsts, np.int32(count))}
        placed |= {name: self.alone.array(values, np.int32) for name, values in numbers.items()}
        most = max(share[2] for share in shares)
        return JoinedBoxes(self.alone, grid, per_side, placed, most, own, first), first

    def numbered_parts(
        self, phase: np.ndarray, grid: tuple[int, ...], per_side: tuple[int, ...], earlier: EarlierParts | None = None
    ) -> tuple[DeviceVector, Boxes] | None:
        """Parts as on one accelerator; in host memory, for `subdomains`, if memory of the device has no parts."""
        found = self.alone.numbered_parts(phase, grid, per_side, earlier)
        # Large boxes are numbered on the host.
        if found is None or not self.halo.copies or isinstance(found[0], np.ndarray):
            return found
        return self.to_host(found[0]), found[1]

    def near_labels(self, labels: DeviceVector, first: int) -> DeviceVector:
        if isinstance(labels, np.ndarray):
            return super().near_labels(labels, first)
        plane = self.slab.plane
        low, high = (self.to_host(self._part(labels, at, plane)) for at in (0, labels.size - plane))
        below, above = self.ghost_labels(low, high, first)
        made = self.alone.empty((below.size + labels.size + above.size,), labels.dtype)
        for ghosts, at in ((below, 0), (above, below.size + labels.size)):
            if ghosts.size:
                self.runtime.upload(self._part(made, at, ghosts.size).handle, ghosts)
        self.runtime.copy(made.handle, labels.handle, labels.nbytes, target_at=below.nbytes)
        return made

    def rows_of_near(self, near: Vector) -> Vector:
        """The rows of this rank of a vector with one ghost plane on each side, in the same memory."""
        return self._part(near, self.slab.within(1).inner.start, self.slab.size)

    def joined_rows(
        self, data: DeviceVector, indices: DeviceVector, indptr: DeviceVector
    ) -> tuple[DeviceVector, DeviceVector, DeviceVector]:
        if isinstance(data, np.ndarray):
            return super().joined_rows(data, indices, indptr)
        ends = self.joined_ends(self.to_host(indptr))
        return self._joined(data), self._joined(indices), self.alone.array(ends, indptr.dtype)

    def _joined(self, own: Vector) -> Vector:
        sizes = self.gathered(own.nbytes)
        made = self.alone.empty((sum(sizes) // own.itemsize,), own.dtype)
        firsts = [sum(sizes[:rank]) for rank in range(self.ranks)]
        at = firsts[self.rank]
        self.runtime.copy(made.handle, own.handle, own.nbytes, target_at=at)
        others = [rank for rank in range(self.ranks) if rank != self.rank]
        sent = [Piece(made.handle, at, own.nbytes, rank) for rank in others]
        self.link.exchange(sent, [Piece(made.handle, firsts[rank], sizes[rank], rank) for rank in others])
        return made

    def _part(self, vector: Vector, first: int, size: int) -> Vector:
        part = self.runtime.part(vector.handle, first * vector.itemsize, size * vector.itemsize)
        return Vector(part, (size,), vector.dtype)
