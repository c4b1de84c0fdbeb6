"""Memory and its limit, kernels and reductions of one accelerator, common to OpenCL and CUDA."""

from __future__ import annotations

import dataclasses
import math
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.arrays.scaling import in_range, norm
from workbench.compiler.constants import named
from workbench.devices.accelerator.dots import OnePass
from workbench.devices.accelerator.functions import Prepared
from workbench.devices.accelerator.runtime import Function, Runtime, Vector
from workbench.devices.accelerator.user_vector import UserVector
from workbench.devices.constant import constant_of
from workbench.devices.dot_lines import DOTS
from workbench.devices.kernels import block_products as block_kernels
from workbench.devices.kernels import scalars as scalar_kernels
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.prelude import NAMED, prelude
from workbench.errors import InputError
from workbench.settings import ON_DEVICE

if TYPE_CHECKING:
    from workbench.devices.accelerator.runtime import Handle


USABLE = 0.9
"""Fraction of the memory, or of its limit, for arrays; the driver, compiled kernels and fragmentation need the rest."""


class Budget:
    """Counts the bytes of vectors until they are dropped, and refuses those beyond a limit.

    limit: bytes of memory to assume, None for those of the device. memory: bytes of the device. where: its name. The
    fraction `USABLE` is for vectors and matrices.
    """

    def __init__(self, limit: int | None, memory: int, where: str) -> None:
        self.limit, self.used = limit, 0
        self.allocated = 0
        """Bytes of the vectors that exist, with or without a limit."""
        self._memory, self._where = memory if limit is None else limit, where

    @property
    def room(self) -> int:
        """Bytes that can still be taken."""
        return int(USABLE * self._memory) - self.used

    def need(self, nbytes: int, way_out: str = "") -> None:
        """Raise InputError if `nbytes` more do not fit; way_out ends the sentence."""
        if nbytes > self.room:
            raise InputError(
                f"device {self._where} may use {(self.room + self.used) / 1e6:.4g} of {self._memory / 1e6:.4g} MB "
                f"for vectors and matrices, and {(self.used + nbytes) / 1e6:.4g} MB are needed; "
                + (way_out or "take a smaller problem, raise the memory limit, or use device cpu")
            )

    def take(self, vector: Vector) -> None:
        """Count a vector until it is dropped."""
        self._count(vector.nbytes)
        vector.dropped = self._count

    def _count(self, nbytes: int) -> None:
        self.allocated += nbytes
        if self.limit is not None:
            self.used += nbytes


class Launcher:
    """Vectors, compiled kernels, launches and dot products of one accelerator.

    Launches return at once; the host waits where it reads: `to_host`, `fetch`, `norm` and `vdot`. reduction: where the
    partial sums of programs and Gram matrices are added, on the device or on the host, which then waits for them.
    """

    def __init__(self, runtime: Runtime, budget: Budget | None = None, reduction: str = ON_DEVICE) -> None:
        self.runtime, self.layout = runtime, runtime.layout
        self.name = runtime.name
        # On a processor a work-item computes whole rows.
        self.sums_columns = not self.layout.chunked
        self.budget = budget or Budget(None, runtime.memory, runtime.name)
        self.reduction = reduction
        self._kernels: dict[tuple[object, ...], Function] = {}
        self._functions: dict[tuple[object, ...], Prepared] = {}
        self.scans: dict[tuple[object, ...], tuple[Prepared, Prepared]] = {}
        """Kernels of running sums, see `scan`; a setup makes dozens of them."""
        self._setters: dict[np.dtype, Prepared] = {}
        """Kernels that set a scalar, by dtype."""
        self._placed: dict[int, tuple[weakref.ref[np.ndarray], weakref.ref[Vector]]] = {}
        self._subtract = OnePass(self, "s = b - s", ("b", "s"))
        self._vdot = OnePass(self, DOTS, ("x", "y"))
        # Its sums lie in one buffer, which a run and a snapshot may both use.
        self._summing = threading.Lock()

    # Memory.

    def need(self, dtype: np.dtype) -> None:
        """Raise InputError where the device does not compute in this precision."""
        if not self.layout.double and dtype in (np.dtype(np.float64), np.dtype(np.complex128)):
            raise InputError(
                f"device {self.name} ({self.runtime.title}) does not compute in double precision; give A and b as "
                "float32, or use device cpu"
            )

    def array(self, values: np.ndarray | Vector | UserVector, dtype: np.dtype | type) -> Vector:
        """A copy of host values on the device, of the same shape; a device vector is returned as it is, a
        constant one is filled on the device."""
        if isinstance(values, Vector):
            return values
        if (value := constant_of(values)) is not None:
            return self._filled(complex(value), values.shape, np.dtype(dtype))
        values = np.ascontiguousarray(values, dtype)
        made = self.empty(values.shape, values.dtype)
        self.runtime.upload(made.handle, values)
        return made

    def holds(self, values: object) -> bool:
        """True for a user's vector in the memory of this device."""
        return isinstance(values, UserVector) and values.device == self.name

    def to_device(self, values: np.ndarray | Vector | UserVector) -> Vector:
        """The device's copy of a host array, or the vector that is there already; A and M share the bands of a stencil.

        A copy lives as long as it is in use, and is shared until the next `forget_copies`.
        """
        if isinstance(values, UserVector):
            return values.vector
        if isinstance(values, Vector):
            return values
        kept = self._placed.get(id(values))
        if kept is not None and kept[0]() is values and (found := kept[1]()) is not None:
            return found
        made = self.array(values, values.dtype)
        self._placed[id(values)] = weakref.ref(values), weakref.ref(made)
        return made

    def keep(self, copies: Sequence[tuple[np.ndarray, Vector]]) -> None:
        """Host arrays whose copies are here, until these are in use no more."""
        self._placed |= {id(values): (weakref.ref(values), weakref.ref(made)) for values, made in copies}

    def forget_copies(self) -> None:
        """A setup begins: host arrays may have changed since the last one."""
        self._placed.clear()

    def _filled(self, value: complex, shape: tuple[int, ...], dtype: np.dtype) -> Vector:
        made = self.empty(shape, dtype)
        parts = self.number(value.real, dtype), self.number(value.imag, dtype)
        self.function(scalar_kernels.fill, dtype, pairs=dtype.kind == "c").over(made.size, made, *parts)
        return made

    def empty(self, shape: tuple[int, ...], dtype: np.dtype | type) -> Vector:
        """An uninitialized vector."""
        dtype = np.dtype(dtype)
        nbytes = math.prod(shape) * dtype.itemsize
        if self.budget.limit is not None:
            self.budget.need(nbytes)
        made = Vector(self.runtime.allocate(nbytes), tuple(shape), dtype)
        self.budget.take(made)
        return made

    def zeros(self, size: int, dtype: np.dtype | type) -> Vector:
        made = self.empty((size,), dtype)
        self.runtime.clear(made.handle, made.nbytes)
        return made

    def zero_block(self, size: int, columns: int, dtype: np.dtype) -> Vector:
        """An N x columns block vector of zeros, row-major."""
        made = self.empty((size, columns), dtype)
        self.runtime.clear(made.handle, made.nbytes)
        return made

    def as_block(self, vector: Vector) -> Vector:
        """The vector as a block vector of one column, in the same memory."""
        return Vector(vector.handle, (vector.size, 1), vector.dtype)

    def as_vector(self, block: Vector) -> Vector:
        """A block vector of one column as a vector, in the same memory."""
        return Vector(block.handle, (block.size,), block.dtype)

    def take_columns(self, block: Vector, first: int, targets: Sequence[Vector]) -> None:
        """targets[k] = column first + k of a block vector."""
        self._columns(block, first, targets, taken=True)

    def put_columns(self, sources: Sequence[Vector], block: Vector, first: int) -> None:
        """Column first + k of a block vector = sources[k]."""
        self._columns(block, first, sources, taken=False)

    def prepare_columns(self, block: Vector, vectors: Sequence[Vector]) -> None:
        """Compile both copies for that number of vectors."""
        for taken in (True, False):
            self.kernel(block_kernels.column_copies(len(vectors), taken=taken), "block_columns", block.dtype)

    def _columns(self, block: Vector, first: int, vectors: Sequence[Vector], *, taken: bool) -> None:
        kernel = self.kernel(block_kernels.column_copies(len(vectors), taken=taken), "block_columns", block.dtype)
        rows, columns = block.shape
        sizes = (np.int64(columns), np.int64(first), np.int64(rows))
        self.launch(kernel, self.layout.groups_for(rows * len(vectors)), block, *vectors, *sizes, spread=True)

    def copy(self, vector: Vector) -> Vector:
        made = self.empty(vector.shape, vector.dtype)
        self.runtime.copy(made.handle, vector.handle, vector.nbytes)
        return made

    def assign(self, target: Vector, source: Vector) -> None:
        """target = source."""
        self.runtime.copy(target.handle, source.handle, target.nbytes)

    def to_host(self, vector: Vector) -> np.ndarray:
        """The vector as a new NumPy array; waits for the device."""
        values = np.empty(vector.shape, vector.dtype)
        self.runtime.download(vector.handle, values)
        return values

    def pinned(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """A host array in page-locked memory, for vectors that are copied again and again; not filled."""
        size = int(np.prod(shape))
        return self.runtime.pinned(size * np.dtype(dtype).itemsize).view(dtype).reshape(shape)

    def fetch(self, vector: Vector, values: np.ndarray) -> None:
        """Fill a contiguous host array of the same dtype from the start of the vector; waits for the device."""
        self.runtime.download(vector.handle, values)

    def whole(self, vector: Vector) -> Vector:
        """The vector itself: all of its rows are on this device."""
        return vector

    def overlap(self, a: Vector, b: Vector) -> bool:
        return a.handle is b.handle

    # Kernels.

    def kernel(
        self,
        body: str | KernelText,
        name: str,
        dtype: np.dtype,
        index: np.dtype | type = np.int32,
        group: int | None = None,
    ) -> Function:
        """A kernel behind the prelude for a dtype. group: work-items of a group, by default those of `launch_over`."""
        key = (body, name, np.dtype(dtype), np.dtype(index), group)
        if key not in self._kernels:
            layout = self.layout if group is None else dataclasses.replace(self.layout, group=group)
            source = KernelText.of(body, name) if isinstance(body, str) else body
            self._kernels[key] = self.runtime.compile(prelude(layout, dtype, index), source)
        return self._kernels[key]

    def function(
        self,
        of: FunctionType,
        vector: np.dtype | type,
        /,
        *,
        annotations: Mapping[str, object] | None = None,
        group: int | None = None,
        **constants: object,
    ) -> Prepared:
        """A function in the grammar of kernels for vectors of a dtype, compiled; see `Prepared`."""
        key = (of, np.dtype(vector), group, repr(annotations), named(constants))
        if key not in self._functions:
            self._functions[key] = Prepared(self, of, np.dtype(vector), annotations or {}, constants, group)
        return self._functions[key]

    def launch_over(self, function: Function, items: int, *arguments: Vector | Handle | np.generic) -> None:
        """Run over `items` elements; their number is also the last argument of the kernel."""
        groups, group = self.layout.groups_for(items), self.layout.group
        self.runtime.launch(function, groups, group, (*_handles(arguments), np.int64(items)), spread=True)

    def launch(
        self,
        function: Function,
        groups: int,
        *arguments: Vector | Handle | np.generic,
        group: int | None = None,
        spread: bool = False,
    ) -> None:
        """Launch a number of groups. spread: fewer groups give the same result."""
        self.runtime.launch(function, groups, group or self.layout.group, tuple(_handles(arguments)), spread=spread)

    def number(self, value: float, dtype: np.dtype) -> np.generic:
        """A number as the real type of a dtype, for a kernel."""
        return np.finfo(dtype).dtype.type(value)

    def wide(self, dtype: np.dtype) -> np.dtype:
        """The dtype of scalars and sums."""
        return self.layout.accumulator(dtype)

    # Scalars.

    def scalars(self, count: int, dtype: np.dtype) -> Vector:
        """Memory for the scalars of a workspace and the slots of its watch."""
        single = np.complex64 if np.dtype(dtype).kind == "c" else np.float32
        return self.zeros(max(count, NAMED), np.dtype(dtype) if self.layout.double else np.dtype(single))

    def clear(self, array: Vector) -> None:
        self.runtime.clear(array.handle, array.nbytes)

    def write_scalar(self, scalars: Vector, slot: int, value: complex) -> None:
        wide = scalars.dtype
        if wide not in self._setters:
            self._setters[wide] = self.function(scalar_kernels.set_scalar, wide, pairs=wide.kind == "c")
        parts = self.number(np.real(value), wide), self.number(np.imag(value), wide)
        self._setters[wide].launch(1, scalars, np.int64(slot), *parts)

    # Reductions.

    def prepare(self, dtype: np.dtype) -> None:
        """Compile the reductions for vectors of this dtype, before a run is timed."""
        for helper in (self._subtract, self._vdot):
            helper.prepare(np.dtype(dtype))

    def subtract_from(self, b: Vector, s: Vector) -> None:
        """s = b - s."""
        self._subtract.apply(b, s)

    def norm(self, vector: Vector) -> float:
        """||v||; inf where it overflows. Cost: a pass; a copy to the host where the squares under- or overflow."""
        squares = float(np.real(self.vdot(vector, vector)))
        return math.sqrt(squares) if in_range(squares, self.wide(vector.dtype)) else self._norm_on_host(vector)

    def _norm_on_host(self, vector: Vector) -> float:
        return norm(self.to_host(vector))

    def vdot(self, a: Vector, b: Vector) -> complex:
        """(a, b)."""
        with self._summing:
            dots = self._vdot.apply(a, b)
            assert dots is not None
            return dots.to_host()[0].item()

    def over_ranks(self, partial: Vector) -> tuple[Vector, Callable[[], object]]:
        """The memory of the sums over all ranks for the partial sums of a pass, and the call that adds them.

        Here all rows are on this device: the partial sums themselves.
        """
        return partial, lambda: None

    # Paper lines of one pass.

    def new_pass(self, *given: Any) -> OnePass:
        """One pass that is not compiled yet, of the arguments of `one_pass`."""
        return OnePass(self, *given)


def _handles(arguments: tuple[Vector | Handle | np.generic, ...]) -> list[Handle | np.generic]:
    """The arguments of a kernel as a runtime takes them; a setup has thousands."""
    return [argument.handle if isinstance(argument, Vector) else argument for argument in arguments]
