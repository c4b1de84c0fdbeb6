"""The operators of accelerators; kernel texts are in `kernels`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator import coarse, deflation, factors, grid_columns, nesting, parts, sparse_rows
from workbench.devices.accelerator.block_algebra import BlockAlgebra
from workbench.devices.accelerator.bound import bind
from workbench.devices.accelerator.box_stencil import box_product
from workbench.devices.accelerator.box_sweeps import BoxSweeps
from workbench.devices.accelerator.deflation import CompactColumns
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.drawn import drawn
from workbench.devices.accelerator.fast_diagonalization import FastDiagonalization
from workbench.devices.accelerator.grid_columns import face_series, restricted_product
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.pieces import PieceVectors
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.bound import Bound, Request
from workbench.devices.dot_lines import DOTS
from workbench.devices.host import box_parts
from workbench.devices.host.boxes import Boxes, EarlierParts, Rows
from workbench.devices.host.face_codes import FaceCodes
from workbench.devices.jacobi_boxes import JacobiBoxes
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.ops import peaks, stencil
from workbench.devices.ops.operators import OperatorsOfAllDevices, method

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.devices.ops.triangular import CsrFactor


class CallableProduct(OperatorTraits):
    """out = f(x) for a host function: every application copies x to the host and out to the device."""

    waits = True
    traffic = 0
    flops = 0
    notes = ("a function of the host is called in every iteration; its vectors travel to the host and back",)

    def __init__(
        self, device: Launcher, product: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype
    ) -> None:
        self._device, self._product = device, product
        self._size = size
        self._x, self._out = (device.pinned((size,), np.dtype(dtype)) for _ in range(2))
        self._dots = device.new_pass(DOTS, ("x", "y"))
        self._dots.prepare(np.dtype(dtype))

    def apply(self, x: Vector, out: Vector, *wanted: str) -> Dots | None:
        self._device.fetch(x, self._x)
        # The function may keep a reference to its argument.
        self._out[:] = np.reshape(self._product(self._x.copy()), (self._size,))
        self._device.runtime.upload(out.handle, self._out)
        return self._dots.apply(x, out) if wanted else None


TUNED = (factors, grid_columns, sparse_rows)
"""The modules that register overrides of kernels."""


class Operators(OperatorsOfAllDevices, Launcher):
    """Products, preconditioners and the second level on an accelerator; `protocol` says what each method returns."""

    whole_triangles = False
    """A triangular solve with the whole matrix would leave all but one work-item idle."""

    box_stencil = box_product
    callable = method(CallableProduct)
    block_algebra = method(BlockAlgebra)
    pieces = method(PieceVectors)
    fast_diagonalization = method(FastDiagonalization)
    columns = method(deflation.Columns)
    compact_columns = method(CompactColumns)
    coarse_level = coarse.coarse_level
    stencil_series = stencil.series
    face_series = face_series
    restricted_product = restricted_product
    merged_parts = parts.merged_parts
    nested_levels = nesting.nested
    inverse_of_last = nesting.inverse
    drawn = drawn
    plane = volume = peaks.downsampled

    @property
    def inverts(self) -> bool:
        """True if the runtime has a library for `inverse_of_last`."""
        return hasattr(self.runtime, "cholesky_inverse")

    def bind(self, request: Request) -> Bound:
        """A kernel of the kernel language."""
        return bind(self, request)

    def box_sweeps(
        self,
        shapes: Sequence[tuple[int, int]],
        main: np.ndarray | float,
        lower_x: np.ndarray | float,
        lower_y: np.ndarray | float,
        sweeps: int,
        precision: str = "float64",
        kernel: str = "auto",
    ) -> BoxSweeps:
        """Jacobi sweeps on many boxes; for the data see `jacobi_boxes.JacobiBoxes`.

        kernel: auto, plain, blocked or, on CUDA, persistent.
        """
        return BoxSweeps(self, JacobiBoxes.of(shapes, main, lower_x, lower_y, sweeps, precision), kernel)

    def stencil_factor(
        self,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        inverse: Vector,
        width: int,
        block: int,
        scale: float,
    ) -> factors.GridBlockFactor | CsrFactor:
        """u = scale M^-1 r for M = (E + L) E^-1 (E + L^H) on a stencil, block by block."""
        if factors.GridBlockFactor.takes(self, strides, width, block):
            return factors.GridBlockFactor(self, lower, inverse, width, block, scale)
        return self.csr_factor(factors.lower_of_stencil(lower, strides, block), inverse, block, scale)

    # Deflation.

    def subdomains(
        self, labels: np.ndarray, count: int, dtype: np.dtype, boxes: Boxes | None = None
    ) -> deflation.BoxSubdomains | deflation.Subdomains:
        """Piecewise constant deflation vectors given by a label per unknown."""
        if boxes is not None and deflation.small_boxes(boxes):
            return deflation.BoxSubdomains(self, labels, boxes, dtype)
        return deflation.Subdomains(self, labels, count, dtype)

    def numbered_parts(
        self, phase: np.ndarray, grid: tuple[int, ...], per_side: tuple[int, ...], earlier: EarlierParts | None = None
    ) -> tuple[DeviceVector, Boxes] | None:
        """The part of each cell, on the device, and the boxes."""
        if deflation.many_boxes(grid, per_side) and (found := parts.numbered_parts(self, phase, grid, per_side)):
            return found
        # Few work-items would number large boxes.
        return box_parts.numbered_parts(np.asarray(phase), grid, per_side, earlier)

    def box_matrix(
        self,
        main: np.ndarray,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        labels: np.ndarray,
        boxes: Boxes,
    ) -> Rows | None:
        """E of parts of boxes on the device; None for boxes of very many cells."""
        if not deflation.small_boxes(boxes):
            return None
        return deflation.box_matrix(self, main, lower, strides, labels, boxes)

    def face_box_matrix(
        self,
        faces: FaceCodes,
        labels: np.ndarray,
        boxes: Boxes,
        earlier: EarlierParts | None = None,
        shift: int = 0,
        first: int = 0,
    ) -> Rows | None:
        """E of codes of faces, as in `box_matrix`."""
        if not deflation.small_boxes(boxes):
            return None
        return deflation.face_box_matrix(self, faces, labels, boxes, shift, first)
