"""Operations of a device for deflation and coarse levels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.coarse import Form
from workbench.devices.host.boxes import Boxes, EarlierParts, Rows
from workbench.devices.host.face_codes import FaceCodes
from workbench.devices.operator_protocols import CoarseLevel, CoarseUpdate, DeviceVector, RestrictedProduct, Restriction
from workbench.lazy import sparse

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator


class SecondLevel(Protocol):
    """Deflation."""

    def subdomains(self, labels: np.ndarray, count: int, dtype: np.dtype, boxes: Boxes | None = None) -> Restriction:
        """Z of piecewise constant vectors, given by the label 0..count-1 of each unknown; boxes: what they number."""
        ...

    def numbered_parts(
        self, phase: np.ndarray, grid: tuple[int, ...], per_side: tuple[int, ...], earlier: EarlierParts | None = None
    ) -> tuple[DeviceVector, Boxes] | None:
        """The part of each cell of a grid of boxes split by phase, int32, shape (N,), and the boxes.

        On the device, or in host memory where that is faster; None where a box has very many phases. earlier: where
        those of boxes may be taken from that have not moved.
        """
        ...

    def box_matrix(
        self,
        main: np.ndarray,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        labels: np.ndarray,
        boxes: Boxes,
    ) -> Rows | None:
        """E = Z^H A Z of a stencil and parts of boxes, as data, indices and indptr, rows not sorted, the diagonal entry
        first; in the memory of an accelerator, else in host memory.

        None where a part is coupled to more others than the device keeps.
        """
        ...

    def face_box_matrix(
        self,
        faces: FaceCodes,
        labels: np.ndarray,
        boxes: Boxes,
        earlier: EarlierParts | None = None,
        shift: int = 0,
        first: int = 0,
    ) -> Rows | None:
        """E of codes of faces, as in `box_matrix`. shift: rows of A, and labels, before the cells of the boxes; their
        faces count as those behind the boxes do. first: is added to the numbers of parts in the result."""
        ...

    def columns(self, rows: np.ndarray) -> Any:
        """Z or AZ of a few dense columns, given as the rows of an array of shape (d, N)."""
        ...

    def sparse_vectors(self, by_rows: sparse.csr_array, by_columns: sparse.csr_array) -> Restriction:
        """Z of sparse vectors, shape (N, d); by_columns: Z^T."""
        ...

    def compact_columns(self, az: sparse.csr_array) -> CoarseUpdate:
        """AZ in compact form."""
        ...

    def diagonal_columns(self, az: sparse.csr_array, labels: np.ndarray) -> CoarseUpdate:
        """AZ by the distances of its columns from the label of their row, see `ops.storage`."""
        ...

    def restricted_product(self, bound: DeviceOperator, z: Restriction) -> RestrictedProduct:
        """out = A x and Z^H out, in one pass where the device has a kernel for it."""
        ...

    def coarse_level(
        self, form: Form | None, solve: Callable[[np.ndarray], np.ndarray], count: int, dtype: np.dtype
    ) -> CoarseLevel:
        """E^-1, shape (count,) to (count,): on the device where its form allows it, else by `solve` on the host."""
        ...
