"""An accelerator as a device: the vocabulary of the CPU device, in kernels that OpenCL and CUDA share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from workbench.devices.accelerator import deflation, factors, host, products, programs
from workbench.devices.accelerator.box import box_product
from workbench.devices.accelerator.budget import Budget
from workbench.devices.accelerator.clock import DeviceClock
from workbench.devices.accelerator.dots import OnePass
from workbench.devices.accelerator.runtime import Function, Runtime, Vector
from workbench.devices.accelerator.watch import Watch
from workbench.devices.clock import Clock, Recorder
from workbench.devices.coarse import Form
from workbench.devices.constant import constant_of
from workbench.devices.cpu import factorization
from workbench.devices.cpu.sparse_inverse import inverse_factor
from workbench.devices.kernels import block_products as block_kernels
from workbench.devices.kernels import scalars as scalar_kernels
from workbench.devices.kernels.plane_slice import WINDOW
from workbench.devices.kernels.prelude import ROOM, STOP, prelude
from workbench.devices.kernels.source import KernelText
from workbench.devices.lines.function import Lines
from workbench.devices.lines.workspace import Workspace
from workbench.devices.plane_slice import PlaneSlice
from workbench.devices.series import TermByTerm

SHARE_OF_ROWS = 8
"""The scalars of iterations take at most 1/8 of the free memory."""
CHECK_EVERY = 16
"""Iterations between the first two looks of the host at the scalars, and the least there are between any two."""
LONGEST_BATCH = 1024
"""The most that there may be between two looks: their scalars take half a megabyte."""


class Accelerator:
    """Device memory and kernels behind a runtime. Vectors are `Vector`s; dot products stay on the device as `Dots`.

    The host waits only where it reads: `to_host`, `read_scalar`, `norm`, `vdot` and a watch's rows.
    """

    check_every = CHECK_EVERY
    whole_triangles = False
    """A recurrence through the whole matrix would leave all but one work-item idle."""

    def __init__(self, runtime: Runtime, budget: Budget | None = None) -> None:
        self.runtime, self.layout = runtime, runtime.layout
        self.name = runtime.name
        self.budget = budget or Budget(None, runtime.memory, runtime.name)
        self._kernels: dict[tuple[Any, ...], Function] = {}
        self._subtract = OnePass(self, "s = b - s", ("b", "s"))
        self._vdot = self.dots()

    @property
    def longest_batch(self) -> int:
        """The most iterations between two looks, fewer where a run's memory is limited and little of it is left."""
        if self.budget.limit is None:
            return LONGEST_BATCH
        return max(CHECK_EVERY, min(LONGEST_BATCH, self.budget.room // (SHARE_OF_ROWS * STOP * 16)))

    def limited(self, limit: int | None) -> Accelerator:
        """The same device for a run that may use so many bytes of its memory."""
        return self if limit is None else Accelerator(self.runtime, Budget(limit, self.runtime.memory, self.name))

    def need_room(self, nbytes: int, way_out: str = "") -> None:
        """Raise InputError where there is no room for so many bytes more; way_out ends the sentence."""
        self.budget.need(nbytes, way_out)

    @property
    def note(self) -> str:
        """Which device this is, for the notes of a run."""
        return f"device {self.name} is {self.runtime.title}"

    def clock(self, recorder: Recorder) -> Clock:
        """A clock that notes what it is put around."""
        return DeviceClock(self.runtime, recorder)

    # Memory.

    def need(self, dtype: np.dtype) -> None:
        """Raise InputError where the device does not compute in this precision."""
        host.need_precision(self.runtime, np.dtype(dtype))

    def array(self, values: np.ndarray, dtype: np.dtype) -> Vector:
        """A copy of host values on the device, of the same shape; a device vector is passed on, a constant one is made
        there."""
        if isinstance(values, Vector):
            return values
        if (value := constant_of(values)) is not None:
            return self._filled(complex(value), values.shape, np.dtype(dtype))
        values = np.ascontiguousarray(values, dtype)
        made = self.empty(values.shape, values.dtype)
        self.runtime.upload(made.handle, values)
        return made

    def _filled(self, value: complex, shape: tuple[int, ...], dtype: np.dtype) -> Vector:
        made = self.empty(shape, dtype)
        parts = self.number(value.real, dtype), self.number(value.imag, dtype)
        self.sweep(self.kernel(scalar_kernels.FILL, "fill", dtype), made.size, made, *parts)
        return made

    def empty(self, shape: tuple[int, ...], dtype: np.dtype | type) -> Vector:
        """Memory that holds anything."""
        dtype = np.dtype(dtype)
        nbytes = int(np.prod(shape)) * dtype.itemsize
        if self.budget.limit is not None:
            self.budget.need(nbytes)
        made = Vector(self.runtime.allocate(nbytes), tuple(shape), dtype)
        self.budget.take(made)
        return made

    def zeros(self, size: int, dtype: np.dtype) -> Vector:
        made = self.empty((size,), dtype)
        self.runtime.clear(made.handle, made.nbytes)
        return made

    def zero_block(self, size: int, columns: int, dtype: np.dtype) -> Vector:
        """An N x columns block vector of zeros, row-major."""
        made = self.empty((size, columns), dtype)
        self.runtime.clear(made.handle, made.nbytes)
        return made

    def take_column(self, block: Vector, column: int, target: Vector) -> None:
        """target = a column of a block vector."""
        kernel = self.kernel(block_kernels.TAKE, "take", block.dtype)
        self.sweep(kernel, target.size, block, target, np.int64(block.shape[1]), np.int64(column))

    def put_column(self, source: Vector, block: Vector, column: int) -> None:
        """A column of a block vector = source."""
        kernel = self.kernel(block_kernels.PUT, "put", block.dtype)
        self.sweep(kernel, source.size, source, block, np.int64(block.shape[1]), np.int64(column))

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

    def seen(self, vector: Vector, window: PlaneSlice) -> np.ndarray:
        """What a window shows of a vector, as a new NumPy array of shape `window.seen`; no more than that is copied.

        Waits for the device. Cost: one read of the cells that count. Raises InputError where there is no room for it.
        """
        made = self.empty(window.seen, np.finfo(vector.dtype).dtype)
        kernel = self.kernel(WINDOW, "window", vector.dtype)
        about = (window.first, *window.apart, *window.shape, window.step, window.begins, window.reach, window.seen[1])
        self.sweep(kernel, window.seen[0] * window.seen[1], vector, made, *map(np.int64, about))
        return self.to_host(made)

    def pinned(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """A host array in page-locked memory, for vectors that are copied again and again; not filled."""
        size = int(np.prod(shape))
        return self.runtime.pinned(size * np.dtype(dtype).itemsize).view(dtype).reshape(shape)

    def fetch(self, vector: Vector, values: np.ndarray) -> None:
        """Fill a contiguous host array of the same dtype from the start of the vector; waits for the device."""
        self.runtime.download(vector.handle, values)

    def whole(self, vector: Vector) -> Vector:
        """The vector with all its parts in place; here there is only one."""
        return vector

    def overlap(self, a: Vector, b: Vector) -> bool:
        return a.handle is b.handle

    # Kernels.

    def kernel(
        self, body: str | KernelText, name: str, dtype: np.dtype, index: Any = np.int32, group: int | None = None
    ) -> Function:
        """A kernel, with the prelude for a dtype in front. group: work-items of a group, if not those of sweeps."""
        key = (body, name, np.dtype(dtype), np.dtype(index), group)
        if key not in self._kernels:
            layout = self.layout if group is None else dataclasses.replace(self.layout, group=group)
            source = KernelText.of(body, name) if isinstance(body, str) else body
            self._kernels[key] = self.runtime.compile(prelude(layout, dtype, index), source)
        return self._kernels[key]

    def sweep(self, function: Function, items: int, *arguments: Any) -> None:
        """Run over so many elements, which is also the last argument."""
        values = tuple(getattr(argument, "handle", argument) for argument in arguments)
        groups, group = self.layout.groups_for(items), self.layout.group
        self.runtime.launch(function, groups, group, (*values, np.int64(items)), spread=True)

    def launch(
        self, function: Function, groups: int, *arguments: Any, group: int | None = None, spread: bool = False
    ) -> None:
        """Run so many groups. spread: fewer would do as well."""
        values = tuple(getattr(argument, "handle", argument) for argument in arguments)
        self.runtime.launch(function, groups, group or self.layout.group, values, spread=spread)

    def number(self, value: float, dtype: np.dtype) -> np.generic:
        """A number as the real type of a dtype, for a kernel."""
        return np.finfo(dtype).dtype.type(value)

    def wide(self, dtype: np.dtype) -> np.dtype:
        """The dtype of scalars and sums."""
        return self.layout.accumulator(dtype)

    # Scalars.

    def scalars(self, count: int, dtype: np.dtype) -> Vector:
        """Room for the scalars of a workspace, and for what stops it."""
        single = np.complex64 if np.dtype(dtype).kind == "c" else np.float32
        return self.zeros(max(count, ROOM), np.dtype(dtype) if self.layout.double else np.dtype(single))

    def read_scalar(self, scalars: Vector, slot: int) -> Any:
        return self.to_host(scalars)[slot].item()

    def write_scalar(self, scalars: Vector, slot: int, value: complex) -> None:
        wide = scalars.dtype
        kernel = self.kernel(scalar_kernels.SET, "set_scalar", wide)
        parts = self.number(np.real(value), wide), self.number(np.imag(value), wide)
        self.launch(kernel, 1, scalars, np.int32(slot), *parts)

    def watch(self, workspace: Workspace, every: int) -> Watch:
        """Keeps the scalars of up to `every` iterations on the device, and stops at the one that the host waits for."""
        self.prepare(workspace.dtype)
        return Watch(self, workspace, every)

    def prepare(self, dtype: np.dtype) -> None:
        """Compile what measures vectors of this dtype at looks; dot products taken elsewhere have the same kernel."""
        for helper in (self._subtract, self._vdot):
            helper.prepare(np.dtype(dtype))

    # Programs.

    def lines(self, text: str, *, fuse: bool = True, operators: Mapping[str, Any] | None = None) -> Lines:
        """Compile paper lines into a function of named arrays and numbers. Raises LinesError."""
        return Lines(self, text, fuse=fuse, operators=operators)

    def workspace(
        self,
        size: int,
        dtype: np.dtype,
        *,
        vectors: Mapping[str, Any],
        operators: Mapping[str, Any] | None = None,
        fuse: bool = True,
        clock: Clock | None = None,
    ) -> Workspace:
        """The named vectors and scalars of one solve."""
        return Workspace(self, size, dtype, vectors=vectors, operators=operators, fuse=fuse, clock=clock)

    def bind_steps(self, steps: Any, workspace: Any, vectors: Any, kernels: dict[Any, Any]) -> list[Callable[[], None]]:
        """What to launch for each step of a program."""
        return programs.bind_steps(self, steps, workspace, vectors, kernels)

    def together(self, runs: list[Callable[[], None]], workspace: Any) -> list[Callable[[], None]]:
        """The launches of a program as one call, where the runtime can record them and nothing waits for the host."""
        waits = any(getattr(operator, "waits", False) for operator in workspace.operators.values())
        return runs if waits else [programs.Repeated(self.runtime, runs)]

    def subtract_from(self, b: Vector, s: Vector) -> None:
        """s = b - s."""
        self._subtract.apply(b, s)

    def norm(self, vector: Vector) -> float:
        """||v||."""
        return float(np.sqrt(np.real(self.vdot(vector, vector))))

    def vdot(self, a: Vector, b: Vector) -> complex:
        """(a, b)."""
        dots = self._vdot.apply(a, b)
        assert dots is not None
        return dots.to_host()[0].item()

    # Operators.

    def stencil(self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]) -> Any:
        """The product with a symmetric stencil."""
        return products.StencilProduct(self, main, lower, strides)

    def box(self, grid: tuple[int, int, int], reach: int, diagonal: float, coupling: float, dtype: np.dtype) -> Any:
        """The product with a box operator on a grid (nz, ny, nx)."""
        return box_product(self, grid, reach, diagonal, coupling, dtype)

    def csr(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, lanes: int | None = None) -> Any:
        """The product with a CSR matrix; `lanes` work-items share a row, see `products.Rows`."""
        return products.CsrProduct(self, data, indices, indptr, lanes)

    def callable(self, product: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype) -> Any:
        """The product with a function of the host: a vector there and one back."""
        return host.CallableProduct(self, product, size, dtype)

    def stencil_series(
        self, bands: tuple[np.ndarray, ...], strides: tuple[int, ...], inverse_diagonal: Any, order: int
    ) -> Any:
        """K^H D^-1 K for the strictly lower bands of L D^-1, K the Neumann series of that order, term by term."""
        terms = products.stencil_terms(self, bands, strides, inverse_diagonal)
        return TermByTerm(order, terms, self, inverse_diagonal)

    def csr_terms(self, lower: sparse.csr_array, scale: Any) -> tuple[Any, Any, Any]:
        """base - L x, (base - L x)*scale and base - L^H x for a strictly lower triangle in CSR form."""
        upper = sparse.csr_array(lower.conj().T.tocsr())
        return (
            products.CsrTerm(self, lower),
            products.CsrTerm(self, lower, scale=scale),
            products.CsrTerm(self, upper, summed=True),
        )

    def dots(self) -> Any:
        """The dot products (x, y), (y, y) and (x, x) of two vectors in one pass."""
        return OnePass(self, "xy = (x, y)\nyy = (y, y)\nxx = (x, x)", ("x", "y"))

    def applied(self, operator: Any) -> Any:
        """An element-by-element operator as one with apply(r, u), for where it cannot join a pass."""
        text = "y = M(x)\nxy = (x, y)\nyy = (y, y)\nxx = (x, x)"
        return OnePass(self, text, ("x", "y"), {"M": operator})

    def chebyshev_step(self, inverse: Vector) -> Any:
        """p = a p + b D^-1 (r - s), u = u + p."""
        return products.ChebyshevStep(self, inverse)

    # Factors are computed on the host: they are setup, and recurrences.

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

    def subdomains(self, labels: np.ndarray, count: int, dtype: np.dtype) -> Any:
        """Piecewise constant deflation vectors given by a label per unknown."""
        return deflation.Subdomains(self, labels, count, dtype)

    def columns(self, rows: np.ndarray) -> Any:
        """A few vectors without structure, given as the rows of a matrix."""
        return deflation.Columns(self, rows)

    def compact_columns(self, az: sparse.csr_array) -> Any:
        """AZ in compact form."""
        return deflation.CompactColumns(self, az)

    def restricted_product(self, bound: Any, z: Any) -> Any:
        """out = A x and Z^H out."""
        return deflation.ProductThenRestriction(bound, z)

    def coarse_level(
        self, form: Form | None, solve: Callable[[np.ndarray], np.ndarray], count: int, dtype: np.dtype
    ) -> Any:
        """E^-1, shape (count,) to (count,), on the device where its form allows it, else by `solve` on the host."""
        return deflation.coarse_level(self, form, solve, count, dtype)
