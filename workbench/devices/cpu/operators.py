"""The operators of the CPU; each class has its own kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.base import DeviceBase
from workbench.devices.bound import Bound, Request
from workbench.devices.coarse import Form, Levels
from workbench.devices.cpu import block_algebra, block_rows, neumann
from workbench.devices.cpu.box_stencil import BoxStencilProduct
from workbench.devices.cpu.box_sweeps import BoxSweeps
from workbench.devices.cpu.columns import Columns
from workbench.devices.cpu.pieces import PieceVectors
from workbench.devices.cpu.restricted import RestrictedProduct
from workbench.devices.cpu.subdomains import CompactColumns, Subdomains
from workbench.devices.cpu.triangular import StencilFactor
from workbench.devices.cpu.unfused import CallableProduct, CoarseLevel
from workbench.devices.fast_diagonalization import Diagonalized
from workbench.devices.host import box_parts
from workbench.devices.host_cycles import HostLevels
from workbench.devices.jacobi_boxes import JacobiBoxes
from workbench.devices.on_cores import bind
from workbench.devices.operator_protocols import BlockAlgebra
from workbench.devices.ops.faces import FaceProduct
from workbench.devices.ops.operators import OperatorsOfAllDevices
from workbench.devices.ops.stencil import StencilProduct
from workbench.devices.restricted_product import ProductThenRestriction

if TYPE_CHECKING:
    from workbench.devices import operator_protocols
    from workbench.devices.operator_protocols import DeviceOperator, Restriction

TUNED = (block_rows,)
"""The modules that register overrides of kernels."""

FUSED: dict[tuple[type, type], Callable[[Any, Any], Any]] = {
    (StencilProduct, Subdomains): RestrictedProduct,
    (FaceProduct, Subdomains): RestrictedProduct,
}
"""Products that restrict their result in the same pass, by the types of A and Z."""


class Operators(OperatorsOfAllDevices, DeviceBase):
    """Products, preconditioners and the second level on the CPU; `protocol` says what each method returns."""

    whole_triangles: bool = True
    """Triangular solves with the whole matrix are efficient on one core."""

    box_stencil = BoxStencilProduct
    callable = CallableProduct
    stencil_factor = StencilFactor
    pieces = PieceVectors
    subdomains = Subdomains
    columns = Columns
    compact_columns = CompactColumns
    stencil_series = staticmethod(neumann.stencil_series)
    face_series = staticmethod(neumann.face_series)
    numbered_parts = staticmethod(box_parts.numbered_parts)
    box_matrix = staticmethod(box_parts.stencil_parts_matrix)
    face_box_matrix = staticmethod(box_parts.face_parts_matrix)

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
        """Jacobi sweeps on many boxes; for the data see `jacobi_boxes.JacobiBoxes`. kernel: auto, plain or blocked."""
        return BoxSweeps(JacobiBoxes.of(shapes, main, lower_x, lower_y, sweeps, precision), kernel)

    def block_algebra(self) -> BlockAlgebra:
        """Gram matrices of block vectors, and block vectors times small matrices."""
        return block_algebra

    def fast_diagonalization(self, boxes: Sequence[Diagonalized], dtype: np.dtype, precision: np.dtype) -> None:
        """None: NumPy multiplies by the eigenvectors, box by box on all cores."""

    def restricted_product(self, bound: DeviceOperator, z: Restriction) -> operator_protocols.RestrictedProduct:
        """out = A x and Z^H out, in one pass where both kinds allow it."""
        fused = FUSED.get((type(bound), type(z)))
        device: Any = self
        return fused(bound, z) if fused else ProductThenRestriction(device, bound, z)

    def coarse_level(
        self, form: Form | None, solve: Callable[[np.ndarray], np.ndarray], count: int, dtype: np.dtype
    ) -> CoarseLevel:
        """E^-1 by the coarse solver's `solve`, or by the cycles of its form."""
        if not isinstance(form, Levels):
            return CoarseLevel(solve)
        levels = HostLevels(form)
        return CoarseLevel(levels.solve, levels.parts)
