"""The operators of accelerators; kernel texts are in `kernels`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from workbench.devices.accelerator import deflation, factors, host, parts, products
from workbench.devices.accelerator import faces as face_operators
from workbench.devices.accelerator.block_algebra import BlockAlgebra
from workbench.devices.accelerator.box import box_product
from workbench.devices.accelerator.box_sweeps import BoxSweeps
from workbench.devices.accelerator.compact_columns import CompactColumns
from workbench.devices.accelerator.fast_diagonalization import FastDiagonalization
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.pieces import PieceVectors
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.coarse import Form
from workbench.devices.cpu.sparse_inverse import inverse_factor
from workbench.devices.fast_diagonalization import Diagonalized
from workbench.devices.jacobi_boxes import JacobiBoxes
from workbench.devices.pieces import Pieces
from workbench.devices.restricted_product import ProductThenRestriction
from workbench.devices.series import TermByTerm
from workbench.host import box_parts, factorization
from workbench.host.boxes import Boxes
from workbench.host.face_codes import FaceCodes


class Operators(Launcher):
    """Products, preconditioners and the second level on an accelerator; `protocol` says what each method returns."""

    whole_triangles = False
    """A triangular solve with the whole matrix would leave all but one work-item idle."""

    def stencil(self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]) -> Any:
        """The matrix-vector product of a symmetric stencil."""
        return products.StencilProduct(self, main, lower, strides)

    def faces(self, faces: FaceCodes, dtype: np.dtype) -> Any:
        """The matrix-vector product with codes of faces."""
        return face_operators.FaceProduct(self, faces, dtype)

    def box(self, grid: tuple[int, int, int], reach: int, diagonal: float, coupling: float, dtype: np.dtype) -> Any:
        """The matrix-vector product of a box operator on a grid (nz, ny, nx)."""
        return box_product(self, grid, reach, diagonal, coupling, dtype)

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
        """Jacobi sweeps on many boxes; for the data see `jacobi_boxes.JacobiBoxes`.

        kernel: auto, plain, blocked or, on CUDA, persistent.
        """
        return BoxSweeps(self, JacobiBoxes.of(shapes, main, lower_x, lower_y, sweeps, precision), kernel)

    def csr(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, items_per_row: int | None = None) -> Any:
        """The matrix-vector product of a CSR matrix; for `items_per_row` see `products.Rows`."""
        return products.CsrProduct(self, data, indices, indptr, items_per_row)

    def callable(self, product: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype) -> Any:
        """The product by a host function; one vector is copied to the host and one back."""
        return host.CallableProduct(self, product, size, dtype)

    def scaled_bands(
        self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]
    ) -> tuple[tuple[Vector, ...], Vector]:
        """The lower bands of L D^-1 of a stencil, and D^-1; made on the device from its copy of the stencil."""
        return products.scaled_bands(self, main, lower, strides)

    def stencil_series(
        self, bands: tuple[Vector, ...], strides: tuple[int, ...], inverse_diagonal: Any, order: int
    ) -> Any:
        """K^H D^-1 K for the strictly lower bands of L D^-1, K the Neumann series of that order, term by term."""
        lower, scaled, upper = products.stencil_terms(self, bands, strides, inverse_diagonal)
        return TermByTerm([lower] * (order - 1) + [scaled], upper, self.zeros, inverse_diagonal)

    def face_series(self, faces: FaceCodes, dtype: np.dtype, order: int) -> TermByTerm:
        """K^H D^-1 K for codes of faces, term by term."""
        return face_operators.face_series(self, faces, dtype, order)

    def csr_terms(self, lower: sparse.csr_array, scale: Any) -> tuple[Any, Any, Any]:
        """base - L x, (base - L x)*scale and base - L^H x for a strictly lower triangle in CSR form."""
        upper = sparse.csr_array(lower.conj().T.tocsr())
        return (
            products.CsrTerm(self, lower),
            products.CsrTerm(self, lower, scale=scale),
            products.CsrTerm(self, upper, summed=True),
        )

    def block_algebra(self) -> BlockAlgebra:
        """Gram matrices of block vectors, and block vectors times small matrices."""
        return BlockAlgebra(self)

    # Factors are computed on the host: they are part of the setup, and sequential.

    stencil_pivots = staticmethod(factorization.stencil_pivots)
    csr_pivots = staticmethod(factorization.csr_pivots)
    inverse_factor = staticmethod(inverse_factor)

    def stencil_factor(
        self,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        inverse: Vector,
        width: int,
        block: int,
        scale: float,
    ) -> Any:
        """u = scale M^-1 r for M = (E + L) E^-1 (E + L^H) on a stencil, block by block."""
        if factors.GridBlockFactor.takes(self, strides, width, block):
            return factors.GridBlockFactor(self, lower, inverse, width, block, scale)
        return self.csr_factor(factors.lower_of_stencil(lower, strides, block), inverse, block, scale)

    def csr_factor(self, lower: sparse.csr_array, inverse: Vector, block: int, scale: float) -> Any:
        """The same with L in CSR form."""
        return factors.BlockFactor(self, lower, inverse, block, scale)

    def factorized_inverse(self, factor: sparse.csr_array) -> Any:
        """u = G^H (G r)."""
        return products.FactorizedInverse(self, factor)

    # Deflation.

    def pieces(self, pieces: Pieces, dtype: np.dtype) -> PieceVectors:
        """Local vectors of pieces."""
        return PieceVectors(self, pieces, dtype)

    def fast_diagonalization(
        self, boxes: Sequence[Diagonalized], dtype: np.dtype, precision: np.dtype
    ) -> FastDiagonalization:
        """z = A_i^-1 r for Kronecker sums on boxes."""
        return FastDiagonalization(self, boxes, dtype, precision)

    def subdomains(self, labels: np.ndarray, count: int, dtype: np.dtype, boxes: Boxes | None = None) -> Any:
        """Piecewise constant deflation vectors given by a label per unknown."""
        if boxes is not None and deflation.small_boxes(boxes):
            return deflation.BoxSubdomains(self, labels, boxes, dtype)
        return deflation.Subdomains(self, labels, count, dtype)

    def numbered_parts(
        self, phase: np.ndarray, grid: tuple[int, ...], per_side: tuple[int, ...]
    ) -> tuple[Any, Boxes] | None:
        """The part of each cell, on the device, and the boxes."""
        if deflation.many_boxes(grid, per_side) and (found := parts.numbered_parts(self, phase, grid, per_side)):
            return found
        # Few work-items would number large boxes.
        return box_parts.numbered_parts(phase, grid, per_side)

    def box_matrix(
        self,
        main: np.ndarray,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        labels: np.ndarray,
        boxes: Boxes,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """E of parts of boxes in host memory, summed on the device; None for boxes of very many cells."""
        if not deflation.small_boxes(boxes):
            return None
        return deflation.box_matrix(self, main, lower, strides, labels, boxes)

    def face_box_matrix(
        self, faces: FaceCodes, labels: np.ndarray, boxes: Boxes
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """The same for codes of faces."""
        return deflation.face_box_matrix(self, faces, labels, boxes) if deflation.small_boxes(boxes) else None

    def columns(self, rows: np.ndarray) -> Any:
        """A few dense vectors, given as the rows of a matrix."""
        return deflation.Columns(self, rows)

    def compact_columns(self, az: sparse.csr_array) -> Any:
        """AZ in compact form."""
        return CompactColumns(self, az)

    def restricted_product(self, bound: Any, z: Any) -> Any:
        """out = A x and Z^H out."""
        device: Any = self
        return ProductThenRestriction(device, bound, z)

    def coarse_level(
        self, form: Form | None, solve: Callable[[np.ndarray], np.ndarray], count: int, dtype: np.dtype
    ) -> Any:
        """E^-1, shape (count,) to (count,), on the device where its form allows it, else by `solve` on the host."""
        return deflation.coarse_level(self, form, solve, count, dtype)
