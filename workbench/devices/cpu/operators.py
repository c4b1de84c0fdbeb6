"""The operators of the CPU; each class has its own kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from workbench.devices.base import DeviceBase
from workbench.devices.bound import Bound, Request
from workbench.devices.coarse import Form, Levels
from workbench.devices.cpu import block_algebra, neumann
from workbench.devices.cpu.bound import bind
from workbench.devices.cpu.box import BoxProduct
from workbench.devices.cpu.box_sweeps import BoxSweeps
from workbench.devices.cpu.columns import Columns
from workbench.devices.cpu.csr import CsrProduct, CsrTerm
from workbench.devices.cpu.pieces import PieceVectors
from workbench.devices.cpu.sparse_inverse import FactorizedInverse, inverse_factor
from workbench.devices.cpu.stencil import FaceProduct, StencilProduct
from workbench.devices.cpu.subdomains import CompactColumns, Subdomains
from workbench.devices.cpu.triangular import CsrFactor, StencilFactor
from workbench.devices.cpu.unfused import CallableProduct, CoarseLevel
from workbench.devices.fast_diagonalization import Diagonalized
from workbench.devices.host_cycles import HostLevels
from workbench.devices.jacobi_boxes import JacobiBoxes
from workbench.devices.operator_protocols import BlockAlgebra
from workbench.devices.pieces import Pieces
from workbench.devices.restricted_product import ProductThenRestriction
from workbench.host import box_parts, factorization
from workbench.host.boxes import Boxes
from workbench.host.face_codes import FaceCodes

FUSED: dict[tuple[type, type], Callable[[Any, Any], Any]] = {
    (StencilProduct, Subdomains): StencilProduct.restricted,
    (FaceProduct, Subdomains): FaceProduct.restricted,
}
"""Products that restrict their result in the same pass, by the types of A and Z."""


class Operators(DeviceBase):
    """Products, preconditioners and the second level on the CPU; `protocol` says what each method returns."""

    whole_triangles: bool = True
    """Triangular solves with the whole matrix are efficient on one core."""

    def bind(self, request: Request) -> Bound:
        """A kernel of the kernel language."""
        return bind(self, request)

    def stencil(self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]) -> StencilProduct:
        """The matrix-vector product of a symmetric stencil."""
        return StencilProduct(main, lower, strides)

    def faces(self, faces: FaceCodes, dtype: np.dtype) -> FaceProduct:
        """The product with codes of faces."""
        return FaceProduct(faces, dtype)

    def box(
        self, grid: tuple[int, int, int], reach: int, diagonal: float, coupling: float, dtype: np.dtype
    ) -> BoxProduct:
        """The matrix-vector product of a box operator on a grid (nz, ny, nx)."""
        return BoxProduct(grid, reach, diagonal, coupling, dtype)

    def box_sweeps(
        self,
        shapes: Sequence[tuple[int, int]],
        main: Any,
        lower_x: Any,
        lower_y: Any,
        sweeps: int,
        precision: str = "float64",
        kernel: str = "auto",
    ) -> BoxSweeps:
        """Jacobi sweeps on many boxes; for the data see `jacobi_boxes.JacobiBoxes`. kernel: auto, plain or blocked."""
        return BoxSweeps(JacobiBoxes.of(shapes, main, lower_x, lower_y, sweeps, precision), kernel)

    def csr(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> CsrProduct:
        """The matrix-vector product of a CSR matrix."""
        return CsrProduct(data, indices, indptr)

    def callable(self, product: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype) -> CallableProduct:
        """The product with anything that maps a vector to a vector."""
        return CallableProduct(product, size, dtype)

    def scaled_bands(
        self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """The lower bands of L D^-1 of a stencil, and D^-1."""
        return neumann.scaled_bands(main, lower, strides)

    def stencil_series(
        self, bands: tuple[np.ndarray, ...], strides: tuple[int, ...], inverse_diagonal: np.ndarray, order: int
    ) -> neumann.OnePassSeries | neumann.SeveralPassSeries:
        """K^H D^-1 K for the strictly lower bands of L D^-1, K the Neumann series of that order."""
        return neumann.stencil_series(bands, strides, inverse_diagonal, order)

    def face_series(
        self, faces: FaceCodes, dtype: np.dtype, order: int
    ) -> neumann.OnePassSeries | neumann.SeveralPassSeries:
        """K^H D^-1 K for codes of faces, K the Neumann series of that order."""
        return neumann.face_series(faces, dtype, order)

    def csr_terms(self, lower: sparse.csr_array, scale: np.ndarray) -> tuple[CsrTerm, CsrTerm, CsrTerm]:
        """base - L x, (base - L x)*scale and base - L^H x for a strictly lower triangle in CSR form."""
        upper = sparse.csr_array(lower.conj().T.tocsr())
        rows = (lower.data, lower.indices, lower.indptr)
        transposed = CsrTerm(upper.data, upper.indices, upper.indptr, summed=True)
        return CsrTerm(*rows), CsrTerm(*rows, scale=scale), transposed

    def block_algebra(self) -> BlockAlgebra:
        """Gram matrices of block vectors, and block vectors times small matrices."""
        return block_algebra

    def pieces(self, pieces: Pieces, dtype: np.dtype) -> PieceVectors:
        """Local vectors of pieces."""
        return PieceVectors(pieces, dtype)

    def fast_diagonalization(self, boxes: Sequence[Diagonalized], dtype: np.dtype, precision: np.dtype) -> None:
        """None: NumPy multiplies by the eigenvectors, box by box on all cores."""

    def subdomains(self, labels: np.ndarray, count: int, dtype: np.dtype, boxes: Boxes | None = None) -> Subdomains:
        """Piecewise constant deflation vectors given by a label per unknown."""
        return Subdomains(labels, count, dtype, boxes)

    def numbered_parts(
        self, phase: np.ndarray, grid: tuple[int, ...], per_side: tuple[int, ...]
    ) -> tuple[np.ndarray, Boxes] | None:
        """The part of each cell, and the boxes."""
        return box_parts.numbered_parts(phase, grid, per_side)

    def box_matrix(
        self,
        main: np.ndarray,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        labels: np.ndarray,
        boxes: Boxes,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """E of parts of boxes."""
        return box_parts.stencil_parts_matrix(main, lower, strides, labels, boxes)

    def face_box_matrix(
        self, faces: FaceCodes, labels: np.ndarray, boxes: Boxes
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """E of parts of boxes from codes of faces."""
        return box_parts.face_parts_matrix(faces, labels, boxes)

    def columns(self, rows: np.ndarray) -> Columns:
        """A few dense vectors, given as the rows of a matrix."""
        return Columns(rows)

    def restricted_product(self, bound: Any, z: Any) -> Any:
        """out = A x and Z^H out, in one pass where both kinds allow it."""
        fused = FUSED.get((type(bound), type(z)))
        device: Any = self
        return fused(bound, z) if fused else ProductThenRestriction(device, bound, z)

    def compact_columns(self, az: sparse.csr_array) -> CompactColumns:
        """AZ in compact form."""
        return CompactColumns(az)

    def coarse_level(
        self, form: Form | None, solve: Callable[[np.ndarray], np.ndarray], count: int, dtype: np.dtype
    ) -> CoarseLevel:
        """E^-1 by the coarse solver's `solve`, or by the cycles of its form."""
        if not isinstance(form, Levels):
            return CoarseLevel(solve)
        levels = HostLevels(form)
        return CoarseLevel(levels.solve, levels.parts)

    def stencil_pivots(
        self,
        main: np.ndarray,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        block: int,
        omega: float,
        shift: float,
    ) -> tuple[np.ndarray, int, int]:
        """E of the modified IC(0) of a stencil's blocks, last pivots replaced, and the row that broke down or -1."""
        return factorization.stencil_pivots(main, lower, strides, block, omega, shift)

    def csr_pivots(
        self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, block: int, omega: float, shift: float
    ) -> tuple[np.ndarray, np.ndarray, int, int]:
        """The same for a CSR matrix, with the values of the factor first."""
        return factorization.csr_pivots(data, indices, indptr, block, omega, shift)

    def stencil_factor(
        self,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        inverse: np.ndarray,
        width: int,
        block: int,
        scale: float,
    ) -> StencilFactor:
        """u = scale M^-1 r for M = (E + L) E^-1 (E + L^H) on a stencil."""
        return StencilFactor(lower, strides, inverse, width, block, scale)

    def csr_factor(self, lower: sparse.csr_array, inverse: np.ndarray, block: int, scale: float) -> CsrFactor:
        """The same with L in CSR form."""
        return CsrFactor(lower, inverse, block, scale)

    def inverse_factor(self, matrix: sparse.csr_array) -> tuple[sparse.csr_array, int]:
        """The factor G of a factorized sparse inverse, and the row that broke down or -1."""
        return inverse_factor(matrix)

    def factorized_inverse(self, factor: sparse.csr_array) -> FactorizedInverse:
        """u = G^H (G r)."""
        return FactorizedInverse(factor)
