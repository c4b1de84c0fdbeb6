"""Piecewise constant deflation vectors on the rows of a rank, with numbers that all ranks agree on."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.deflation.galerkin import PlacedMatrix, galerkin_matrix, matrix_of_rows, sparse_az
from workbench.deflation.parts import Parts
from workbench.deflation.subspace import BoundSubspace, SparseColumns, Subspace
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.slab import Slab, boxes_of_slab
from workbench.devices.protocol import Device
from workbench.lazy import sparse
from workbench.operators import BoundOperator
from workbench.operators.slab_stencil import SlabStencil, planes_of

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.operators import Operator


CELLS_AT_ONCE = 1 << 18
"""Cells of the planes whose rows of AZ are made at once: their entries need four words each meanwhile."""

NOTED = 10_000
"""Deflation vectors above which a run says that E is on every rank. Each rank then factors and solves with all of E,
which more ranks do not make faster, and 8 bytes for each vector are summed over them in every iteration; 10^4 to 10^5
on a few hundred ranks are estimated to be bearable. Nothing is refused: with coarse solver multilevel, memory is in
proportion to the number of vectors."""


class SlabSubspace(Subspace):
    """One indicator vector per subdomain, stored as the labels of the rows of a rank.

    labels: 0..d-1 of the cells of the slab with one ghost plane on each side, int32. boxes: what the subdomains of the
    whole grid are, None if they are not boxes. sizes: unknowns of each on all ranks, shape (d,).
    """

    piecewise_constant = True

    def __init__(self, labels: np.ndarray, slab: Slab, sizes: np.ndarray, boxes: Boxes | None) -> None:
        self._tall, self._slab, self._boxes, self._sizes = labels, slab.within(1), boxes, sizes

    @property
    def count(self) -> int:
        """The number of subdomains, d."""
        return self._boxes.count if self._boxes else self._sizes.size

    @property
    def sizes(self) -> np.ndarray:
        """Unknowns of each on all ranks, shape (d,)."""
        return self._boxes.sizes if self._boxes else self._sizes

    @property
    def labels(self) -> np.ndarray:
        """Labels of the rows."""
        return self._tall[self._slab.inner]

    def bind(self, operator: Operator, bound: BoundOperator, device: Any) -> BoundSubspace:
        """Copy Z to the device, and make E of the rows of all ranks. Cost: a part of AZ at a time, where E is not made
        without it; every rank has all of E."""
        count = self.count
        columns = SlabColumns(operator, self, count, bound, device)
        matrix = self._matrix(operator, device)
        boxes = device.placed_boxes(self._boxes) if isinstance(matrix, PlacedMatrix) else self._boxes
        return BoundSubspace(
            device.subdomains(self._placed, count, operator.dtype, self._boxes),
            lambda: device.compact_columns(sparse.csr_array(columns.az, dtype=operator.dtype)),
            matrix,
            lambda: np.sqrt(self.sizes),
            columns,
            notes=redundant(count, device.ranks),
            parts=Parts.of(boxes) if boxes else None,
        )

    @property
    def _placed(self) -> DeviceVector:
        """Labels as `Device.subdomains` takes them."""
        return self.labels

    def _own_parts(self) -> tuple[DeviceVector, Boxes, int] | None:
        """Labels as `SlabStencil.rows_of_e` takes them, the boxes of this slab, and the first of their parts; None
        where slabs share boxes."""
        if self._boxes is None or (mine := boxes_of_slab(self._boxes, self._slab)) is None:
            return None
        return self._tall - np.int32(mine[1]), *mine

    def _matrix(self, operator: Any, device: Any) -> sparse.csr_array | PlacedMatrix:
        """E. Where boxes lie in one slab each, every rank makes whole rows; else each adds to all of them."""
        mine = self._own_parts() if isinstance(operator, SlabStencil) else None
        rows = operator.rows_of_e(device, *mine) if mine else None
        if all(device.gathered(rows is not None)) and rows:
            return matrix_of_rows(device.joined_rows(*rows), getattr(device, "alone", device))
        count, parts = self.count, (self._az_of(operator, at) for at in self._steps())
        own = sum((galerkin_matrix(az, labels, count) for az, labels in parts), sparse.csr_array((count, count)))
        matrix = sparse.csr_array(sum(device.gathered(sparse.csr_array(own))))
        return sparse.csr_array((matrix + matrix.conj().T) / 2)

    def az(self, operator: SlabStencil) -> sparse.csr_array:
        """AZ of the rows, shape (N, d)."""
        return sparse.csr_array(sparse.vstack([self._az_of(operator, at)[0] for at in self._steps()], format="csr"))

    def _steps(self) -> list[slice]:
        """Planes of the slab that are treated at once."""
        slab = self._slab
        count = max(1, CELLS_AT_ONCE // slab.plane)
        return [slice(at, min(slab.last, at + count)) for at in range(slab.first, slab.last, count)]

    def _az_of(self, operator: SlabStencil, planes: slice) -> tuple[sparse.csr_array, np.ndarray]:
        """The rows of AZ of some planes, and the labels of these rows."""
        part = Slab(self._slab.grid, planes.start, planes.stop, 1)
        first = part.planes.start - operator.slab.planes.start
        tall = planes_of(operator.tall, slice(first, first + part.taller[0]))
        begin = (part.planes.start - self._slab.planes.start) * part.plane
        labels = self._tall[begin : begin + part.taller[0] * part.plane]
        return sparse_az(tall, labels, self.count)[part.inner], labels[part.inner]


def redundant(count: int, ranks: int) -> tuple[str, ...]:
    """A sentence where the number of vectors is a burden to every rank."""
    if count <= NOTED:
        return ()
    return (
        f"each of the {ranks} ranks has all of E and solves with it: {count} deflation vectors, of which "
        f"{8 * count / 1e6:.2g} MB are summed over the ranks in every iteration; more ranks make this no faster, fewer "
        "vectors do",
    )


class PartsOfSlab(SlabSubspace):
    """Parts of boxes that lie in one slab each.

    near: the labels of the slab with one ghost plane on each side, numbered from the first part in this slab, in host
    memory or on the device. boxes: of all ranks. own, first: the boxes of this slab, and the first of their parts.
    """

    def __init__(self, near: DeviceVector, slab: Slab, boxes: Boxes, own: Boxes, first: int, device: Any) -> None:
        self._slab, self._boxes = slab.within(1), boxes
        self._near, self._own, self._first, self._device = near, own, first, device

    @functools.cached_property
    def _tall(self) -> np.ndarray:
        near = self._near if isinstance(self._near, np.ndarray) else self._device.to_host(self._near)
        return near + np.int32(self._first)

    @property
    def _placed(self) -> DeviceVector:
        return self.labels if isinstance(self._near, np.ndarray) else self._device.rows_of_near(self._near)

    def _own_parts(self) -> tuple[DeviceVector, Boxes, int]:
        return self._near, self._own, self._first


class RowsSubspace(SlabSubspace):
    """One indicator vector per subdomain, stored as the labels of the rows of a matrix that a rank has.

    labels: of these rows. device: bound to A, so that labels of its ghosts come from their ranks.
    """

    def __init__(self, labels: np.ndarray, slab: Slab, sizes: np.ndarray, device: Any) -> None:
        super().__init__(device.with_ghosts(labels, slab), slab, sizes, None)
        self._own = labels

    @property
    def labels(self) -> np.ndarray:
        return self._own

    def _steps(self) -> list[slice]:
        return [slice(self._slab.first, self._slab.last)]

    def _az_of(self, operator: Operator, planes: slice) -> tuple[sparse.csr_array, np.ndarray]:
        return sparse_az(operator, self._tall, self.count), self._own


class SlabColumns(SparseColumns):
    """Z and AZ of the rows of a rank in host memory."""

    @functools.cached_property
    def az(self) -> sparse.csr_array:
        space: Any = self._space
        return space.az(self._operator)


def numbered(keys: np.ndarray, device: Device) -> tuple[np.ndarray, np.ndarray]:
    """The place of each key among those that occur on any rank, in ascending order, and these. Cost: runs of equal
    keys are looked up once."""
    begins = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))
    known = np.unique(np.concatenate(device.gathered(np.unique(keys[begins]))))
    places = np.searchsorted(known, keys[begins]).astype(np.int32)
    return np.repeat(places, np.diff(begins, append=keys.size)), known
