"""The operators of the CPU; each class has its own kernel, or is a function of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.base import DeviceBase
from workbench.devices.bound import Bound, Request
from workbench.devices.clock import TimedCalls
from workbench.devices.coarse import Form, Levels
from workbench.devices.cpu import block_algebra, block_rows, neumann
from workbench.devices.cpu.box_stencil import BoxStencilProduct
from workbench.devices.cpu.box_sweeps import BoxSweeps
from workbench.devices.cpu.columns import Columns
from workbench.devices.cpu.pieces import PieceVectors
from workbench.devices.cpu.restricted import RestrictedProduct
from workbench.devices.cpu.subdomains import CompactColumns, Subdomains
from workbench.devices.cpu.triangular import StencilFactor
from workbench.devices.cycles import HostLevels
from workbench.devices.fast_diagonalization import Diagonalized
from workbench.devices.host import box_parts
from workbench.devices.jacobi_boxes import JacobiBoxes
from workbench.devices.on_cores import bind
from workbench.devices.operator_protocols import BlockAlgebra, OperatorTraits
from workbench.devices.ops.faces import FaceProduct
from workbench.devices.ops.operators import OperatorsOfAllDevices
from workbench.devices.ops.stencil import StencilProduct
from workbench.devices.restricted_product import ProductThenRestriction
from workbench.lines.types import OperatorDot, accumulator

if TYPE_CHECKING:
    from workbench.devices import operator_protocols
    from workbench.devices.operator_protocols import DeviceOperator, Restriction


class CoarseLevel:
    """E^-1 a by a function of NumPy arrays. parts: the calls in it that a trace records separately."""

    waits = False
    notes = ()

    def __init__(
        self, solve: Callable[[np.ndarray], np.ndarray], parts: Callable[[], TimedCalls] = lambda: iter(())
    ) -> None:
        self.solve, self.parts = solve, parts

    def correct_curvature(self, dots: np.ndarray, coarse: np.ndarray, solved: np.ndarray) -> np.ndarray:
        """Subtract (coarse, solved) from the first dot product, (p, A p)."""
        dots[0] -= np.vdot(coarse, solved)
        return dots


class CallableProduct(OperatorTraits):
    """out = f(x) for a Python function, with those dot products in NumPy that are requested."""

    traffic = 0
    flops = 0

    def __init__(self, product: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype) -> None:
        self._product = product
        self._shape = (size,)
        self._dots = np.zeros(3, accumulator(dtype))

    def apply(self, x: np.ndarray, out: np.ndarray, *wanted: str) -> np.ndarray:
        out[:] = np.reshape(self._product(x), self._shape)
        if wanted:
            vectors = {name: vector.astype(self._dots.dtype, copy=False) for name, vector in (("x", x), ("y", out))}
            for left, right in wanted:
                self._dots[OperatorDot(left + right).place] = np.vdot(vectors[left], vectors[right])
        return self._dots


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
