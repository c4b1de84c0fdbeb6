"""The device protocol on an accelerator, and its operators, in kernels that OpenCL and CUDA share.

Kernel texts are in `kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices import operator_protocols
from workbench.devices.accelerator import (
    coarse,
    deflation,
    factors,
    grid_columns,
    nesting,
    parts,
    programs,
    sparse_rows,
)
from workbench.devices.accelerator.block_algebra import BlockAlgebra
from workbench.devices.accelerator.bound import bind
from workbench.devices.accelerator.box_stencil import box_product
from workbench.devices.accelerator.box_sweeps import BoxSweeps
from workbench.devices.accelerator.clock import DeviceClock
from workbench.devices.accelerator.deflation import CompactColumns, CsrVectors
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.drawn import drawn
from workbench.devices.accelerator.fast_diagonalization import FastDiagonalization
from workbench.devices.accelerator.grid_columns import face_series, restricted_product
from workbench.devices.accelerator.launcher import Budget, Launcher
from workbench.devices.accelerator.pieces import PieceVectors
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.watch import BlockWatch, Watch
from workbench.devices.base import DeviceBase
from workbench.devices.bound import Bound, Request
from workbench.devices.clock import Clock, Recorder
from workbench.devices.dot_lines import DOTS
from workbench.devices.host import box_parts
from workbench.devices.host.boxes import Boxes, EarlierParts, Rows
from workbench.devices.host.face_codes import FaceCodes
from workbench.devices.jacobi_boxes import JacobiBoxes
from workbench.devices.kernels import small
from workbench.devices.operator_protocols import DeviceVector, OperatorTraits
from workbench.devices.ops import peaks, stencil
from workbench.devices.ops.levels import labels_in_rounds
from workbench.devices.ops.operators import OperatorsOfAllDevices, method
from workbench.devices.programs.block_workspace import BlockWorkspace
from workbench.devices.programs.program import Storage
from workbench.devices.programs.workspace import Workspace
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lines.schedule import Step
from workbench.lines.types import Shapes
from workbench.settings import ON_DEVICE

if TYPE_CHECKING:
    from workbench.devices.accelerator.runtime import Function
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
    diagonal_first = nesting.diagonal_first
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


SHARE_OF_ROWS = 8
"""The rows of the watch take at most 1/8 of the free memory."""
CHECK_EVERY = 16
"""Iterations between the first two reads of the scalars by the host, and the fewest between any two."""
LONGEST_INTERVAL = 1024
"""Most iterations between two reads."""


class Accelerator(Operators, DeviceBase):
    """The device protocol on a runtime. Vectors are `Vector`s; dot products stay on the device as `Dots`."""

    check_every = CHECK_EVERY

    def limited(self, limit: int | None) -> Accelerator:
        """This device with a memory limit in bytes; None changes nothing."""
        return self if limit is None else self._with(Budget(limit, self.runtime.memory, self.name), ON_DEVICE)

    def reducing(self, where: str) -> Accelerator:
        """This device and memory limit, with partial sums added `where`: a value of the setting `reduction`."""
        return self if where == self.reduction else self._with(self.budget, where)

    def _with(self, budget: Budget, reduction: str) -> Accelerator:
        return Accelerator(self.runtime, budget, reduction)

    def grown_parts(
        self, csr: CsrVectors, sizes: tuple[tuple[int, float], tuple[int, float]], bottom: int, least: float
    ) -> nesting.GrownParts | None:
        """Parts of the rows of a matrix, and parts of these, as `nesting.grown_parts` has them."""

        def seeds_of(of: CsrVectors, size: int, threshold: float) -> tuple[DeviceVector, int]:
            return labels_in_rounds(of, size, threshold, self)

        return nesting.grown_parts(self, csr, sizes, bottom, least, seeds_of)

    def need_room(self, nbytes: int, way_out: str = "") -> None:
        """Raise InputError if `nbytes` more do not fit; way_out ends the sentence."""
        self.budget.need(nbytes, way_out)

    def available_memory(self, stored: int) -> int:
        """Bytes that the budget still allows."""
        return max(0, self.budget.room - (0 if self.budget.limit else stored))

    @property
    def note(self) -> str:
        """Name of the hardware, for the notes of a run."""
        return f"device {self.name} is {self.runtime.title}"

    def clock(self, recorder: Recorder) -> Clock:
        """A clock that records the steps of a traced run."""
        return DeviceClock(self.runtime, recorder)

    def watch(self, workspace: Workspace, every: int | None) -> operator_protocols.Watch:
        """A watch that stores the scalars of up to `every` iterations and stops at the first that meets a criterion.

        None: as many as are worth it, fewer where the memory limit of a run leaves little room.
        """
        self.prepare(workspace.dtype)
        return Watch(self, workspace, every or self._longest_interval(workspace))

    def block_watch(self, space: BlockWorkspace) -> BlockWatch | None:
        # What is repeated refers to the workspace, whose memory is freed with the last reference.
        repeats, space.repeats = space.repeats, None
        if space.device_matrices is None or repeats is None or space.clock:
            return None
        applied = [space.operator(name) for name in space.operators if not space.inlines(name)]
        if any(operator.waits for operator in (*space.operators.values(), *applied)):
            return None
        needed = small.local_bytes(repeats.steps, space.columns, self.wide(space.dtype).itemsize)
        return BlockWatch(self, space, repeats) if needed <= programs.LOCAL_MEMORY else None

    def _longest_interval(self, workspace: Workspace) -> int:
        if self.budget.limit is None:
            return LONGEST_INTERVAL
        row = workspace.scalars_end * workspace.scalars.itemsize
        return max(CHECK_EVERY, min(LONGEST_INTERVAL, self.budget.room // (SHARE_OF_ROWS * row)))

    def synchronize(self) -> None:
        """Wait for all work."""
        self.runtime.synchronize()

    def bind_steps(
        self, steps: Sequence[Step], workspace: Storage, shapes: Shapes, kernels: dict[tuple[str, int] | int, Function]
    ) -> list[Callable[[], None]]:
        """The launches of each step of a program."""
        return programs.bind_steps(self, steps, workspace, shapes, kernels)

    def batched(self, runs: list[Callable[[], None]], workspace: Storage) -> list[Callable[[], None]]:
        """The launches of a program as one call, where the runtime can record them and nothing waits for the host."""
        return runs if programs.waits(self, workspace) else [programs.Repeated(self.runtime, runs)]


def as_accelerator(device: Device) -> Accelerator:
    """The device as an accelerator. Raises InputError for a device that is none."""
    if not isinstance(device, Accelerator):
        raise InputError(f"an accelerator is needed, got device {device.name}; use device opencl or cuda")
    return device
