"""The vectors and operators of one solve by name, which its programs work on."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.programs.in_blocks import in_blocks
from workbench.devices.programs.program import Program
from workbench.lines import schedule
from workbench.lines.types import VECTOR, LinesError, Shape

if TYPE_CHECKING:
    from workbench.devices.collectives import T
    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector, OperatorTraits
    from workbench.lines.schedule import Inlined

DTYPES = ("float32", "float64", "complex64", "complex128")

Made = TypeVar("Made", bound=Program)


class NamedVectors(Generic[Made]):
    """The vectors and operators of one solve on one device.

    vectors: arrays on the device, of shape (size,), or (size, s) for block vectors, and of one dtype; programs add
    theirs as they need them. stored: the dtype of those that programs add, where it is not that of the arithmetic; the
    arrays given have one of the two. operators: what a program may apply: bound operators, or element-wise ones that
    join a pass. clock: put around every step of the programs, while a run is traced.
    """

    stepping: bool = False
    """Is on while a method is stepped through; its values are then `shown`."""
    halted: int = 0
    """The place in an iteration where a device that repeats them has stopped; the method completes it, then sets 0."""
    device_matrices: Any = None
    """The small matrices of block methods in device memory; None where they are in host memory."""
    repeats: Any = None
    """Set by a method whose iterations a device that holds them can repeat, see `block_workspace.Repeats`."""
    default_shape: Shape = VECTOR
    """The shape of a vector that programs add, where nothing else determines it."""

    def __init__(
        self,
        device: Any,
        size: int,
        dtype: np.dtype,
        *,
        vectors: Mapping[str, DeviceVector],
        operators: Mapping[str, DeviceOperator | Inlined | OperatorTraits] | None = None,
        clock: Clock | None = None,
        stored: np.dtype | None = None,
    ) -> None:
        self.device, self.size, self.clock = device, size, clock
        self.dtype, self.stored = np.dtype(dtype), np.dtype(stored or dtype)
        if str(self.dtype) not in DTYPES:
            raise LinesError(f"vectors of dtype {self.dtype} cannot be used; convert them to one of {DTYPES}")
        self.operators: dict[str, Any] = dict(operators or {})
        self.vectors: dict[str, DeviceVector] = {}
        self.added: list[str] = []
        """Names of the vectors that the programs allocated here."""
        self.notes: list[str] = []
        """Remarks of a method on its run, in sentences."""
        self.steps: list[Any] = []
        """Records of a method on its iterations, see `multi.basis.Step`."""
        self._shapes: dict[str, Shape] = {}
        self._in_blocks: dict[tuple[str, int], Any] = {}
        # A program refers to its vectors, which are freed with the last program.
        self._programs: list[weakref.ref[Made]] = []
        for name, vector in vectors.items():
            self._check_vector(name, vector)
            self.vectors[name] = vector

    @property
    def programs(self) -> list[Made]:
        """All that were compiled here and are still in use, in order."""
        return [program for known in self._programs if (program := known())]

    def vector(self, name: str) -> DeviceVector:
        """The vector or block vector of that name, allocated (zero) when it does not exist yet."""
        if name not in self.vectors:
            shape = self._shapes.get(name, self.default_shape)
            self.vectors[name] = (
                self.device.zeros(self.size, self.stored)
                if shape == VECTOR
                else self.device.zero_block(self.size, shape.columns, self.stored)
            )
            self.added.append(name)
        return self.vectors[name]

    def inlines(self, operator: str) -> bool:
        """True for an operator that acts element by element and joins the passes as a formula."""
        return isinstance(self.operators[operator], schedule.Inlined)

    def remakes(self, operator: str) -> bool:
        """True if passes over block vectors compute its product, for less than its result in memory costs."""
        return False

    def block_operator(self, name: str, columns: int) -> Any:
        """An operator in its form for block vectors."""
        key = name, columns
        if key not in self._in_blocks:
            self._in_blocks[key] = in_blocks(self.device, self.operators[name], self.size, columns, self.dtype)
        return self._in_blocks[key]

    def itemsize(self, name: str) -> int:
        """Bytes of an entry of a vector, allocated or not."""
        return self.vectors[name].dtype.itemsize if name in self.vectors else self.stored.itemsize

    def shown(self, line: str, value: T) -> T:
        """The value that a method computes between its programs. line: how, as in `C = rho C`; for stepping."""
        return value

    def ends_at(self, line: str) -> None:
        """The line between its programs that a method cannot run, so that it ends there; for stepping."""

    def gathered(self, name: str) -> DeviceVector | None:
        """The whole vector of that name for a snapshot; None for an unknown name."""
        return self.vectors.get(name)

    def _check_vector(self, name: str, vector: DeviceVector) -> None:
        if vector.shape[:1] != (self.size,) or len(vector.shape) > 2:
            raise LinesError(f"vector {name} has shape {vector.shape}, the others ({self.size},); all must be equal")
        if name in self.vectors and vector.shape != self.vectors[name].shape:
            before = self.vectors[name].shape
            raise LinesError(f"{name} has shape {vector.shape}, and had {before} when the lines were compiled")
        if len(vector.shape) == 2 and not getattr(getattr(vector, "flags", None), "c_contiguous", True):
            raise LinesError(f"block vector {name} is not row-major; pass numpy.ascontiguousarray({name})")
        if vector.dtype not in (self.dtype, self.stored):
            raise LinesError(f"vector {name} has dtype {vector.dtype}, the others {self.dtype}; all must be equal")
