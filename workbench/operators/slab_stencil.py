"""The rows of a stencil that one rank has."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.constant import largest
from workbench.devices.host.boxes import Boxes, EarlierParts, Rows
from workbench.devices.host.face_codes import BITS, CHOICES, FaceCodes
from workbench.devices.host.slab import Slab
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.base import BoundOperator
from workbench.operators.matrix_rows import MatrixRows
from workbench.operators.stencil import BandStencil, Stencil
from workbench.operators.two_phase import TwoPhaseStencil

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector

NOTHING_PASSES = CHOICES - 1
"""The code of a face at the edge of a grid."""


class SlabStencil(Stencil):
    """The rows of the planes of a slab, with the entries of the ghost planes around it.

    tall: the stencil on the taller grid, `slab.taller`, as if it ended there. Rows of ghosts are used for what the rows
    of the slab need of them: a product needs one ghost plane, the Neumann series of order m the diagonal and couplings
    of m + 1.

    Examples:
        >>> from workbench.devices.host.slab import Slab
        >>> from workbench.operators.slab_stencil import SlabStencil, planes_of
        >>> from workbench.registry import find
        >>> A = find("problem", "two-layer:8").assemble().operator
        >>> rows = SlabStencil(planes_of(A, Slab((8, 8), 4, 8).planes), Slab((8, 8), 4, 8))
        >>> rows.shape, rows.nnz
        ((32, 32), 148)
    """

    def __init__(self, tall: Any, slab: Slab) -> None:
        super().__init__(slab.own)
        self.tall, self.slab = tall, slab

    @property
    def main(self) -> np.ndarray:
        return self.tall.main[self.slab.inner]

    @property
    def lower(self) -> tuple[np.ndarray, ...]:
        """Bands of the rows; the lowest plane is coupled to ghosts below, which have no place in it."""
        return tuple(band[self.slab.inner] for band in self.tall.lower)

    @property
    def nnz(self) -> int:
        """Entries of the rows of this slab."""
        cells = self.shape[0]
        outside = sum(cells // side for side in self.grid[1:])
        ends = (self.slab.first == 0) + (self.slab.last == self.slab.grid[0])
        return cells * (1 + 2 * len(self.grid)) - 2 * outside - ends * self.slab.plane

    @property
    def nbytes(self) -> int:
        return self.tall.nbytes

    @property
    def dtype(self) -> np.dtype:
        return self.tall.dtype

    @property
    def faces(self) -> FaceCodes:
        """Codes of the taller slab."""
        return self.tall.faces

    def on(self, dtype: np.dtype) -> SlabStencil:
        """This operator on vectors in another real precision."""
        return SlabStencil(self.tall.on(dtype), self.slab)

    @property
    def exact(self) -> SlabStencil:
        return SlabStencil(self.tall.exact, self.slab)

    def diagonal(self) -> np.ndarray:
        return self.tall.diagonal()[self.slab.inner]

    @property
    def largest_diagonal(self) -> float:
        return self.tall.largest_diagonal if isinstance(self.tall, TwoPhaseStencil) else largest(self.diagonal())

    def to_csr(self) -> sparse.csr_array:
        raise InputError("a rank holds rows of A alone, and this needs the whole matrix; run without ranks")

    def to_rows(self) -> MatrixRows:
        """The entries of the rows of this slab (12 nnz + 4 N bytes), with one ghost plane on each side as columns."""
        near = self.slab.within(1)
        rows = sparse.csr_array(self._near.to_csr()[near.inner])
        return MatrixRows.of(rows, self.slab, near.planes.start * self.slab.plane)

    def astype(self, dtype: np.dtype) -> Any:
        return SlabStencil(self.tall.astype(dtype), self.slab)

    def bind(self, device: Any) -> BoundOperator:
        return device.with_halo(self._near.bind(device), 1, 1)

    def neumann(self, device: Any, order: int) -> BoundOperator:
        if self.slab.depth < order + 1:
            raise InputError(f"neumann:{order} needs {order + 1} ghost planes, and this slab has {self.slab.depth}")
        far: Any = planes_of(self.tall, self._planes(order + 1))
        return device.with_halo(far.neumann(device, order), order + 1, order)

    @property
    def triangle_norm(self) -> float:
        raise InputError("a rank holds rows of A alone, and ||L D^-1|| needs the whole matrix; run without ranks")

    def box_matrix(self, device: Device, labels: np.ndarray, boxes: Boxes, earlier: EarlierParts | None = None) -> None:
        """None: a rank makes the rows of E of its own parts, by `rows_of_e`."""

    def rows_of_e(self, device: Device, labels: DeviceVector, boxes: Boxes, first: int) -> Rows | None:
        """The rows of E of the parts of boxes in this slab, as `Device.face_box_matrix` makes them; None without codes
        of faces. Their columns are the parts of all ranks.

        labels: of the slab with one ghost plane on each side, numbered from the first part in this slab, which is
        `first` among those of all ranks.
        """
        if not isinstance(self.tall, TwoPhaseStencil):
            return None
        start = self.slab.within(1).inner.start
        return device.face_box_matrix(self._near.faces, labels, boxes, shift=start, first=first)

    @functools.cached_property
    def _near(self) -> Any:
        """The stencil with one ghost plane on each side."""
        return planes_of(self.tall, self._planes(1))

    def _planes(self, depth: int) -> slice:
        """The planes of the taller slab that make a slab with fewer ghosts."""
        within = self.slab.within(min(depth, self.slab.depth))
        first = within.planes.start - self.slab.planes.start
        return slice(first, first + within.taller[0])


def planes_of(stencil: Any, planes: slice) -> Any:
    """The planes of a stencil as one of their own, without the couplings to others.

    Diagonal entries of the lowest and the highest plane are of no use.

    """
    grid = (planes.stop - planes.start, *stencil.grid[1:])
    if grid == stencil.grid:
        return stencil
    plane = stencil.shape[0] // stencil.grid[0]
    rows = slice(planes.start * plane, planes.stop * plane)
    if isinstance(stencil, TwoPhaseStencil):
        codes = stencil.faces.codes[rows].copy()
        codes[:plane] |= NOTHING_PASSES << (BITS * (len(grid) - 1))
        return TwoPhaseStencil(grid, dataclasses.replace(stencil.faces, codes=codes), stencil.dtype)
    lower = [band[rows] for band in stencil.lower]
    lower[-1] = lower[-1].copy()
    lower[-1][:plane] = 0
    return BandStencil(grid, stencil.main[rows], tuple(lower))
