"""The CPU as a device: the vocabulary in which methods, operators, preconditioners and deflation speak, by numba."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from workbench.devices.clock import Clock, HostClock, Recorder
from workbench.devices.coarse import Form
from workbench.devices.cpu import factorization, memory, neumann
from workbench.devices.cpu.box import BoxProduct
from workbench.devices.cpu.columns import Columns
from workbench.devices.cpu.compiled import settle
from workbench.devices.cpu.csr import CsrProduct, CsrTerm
from workbench.devices.cpu.passes import bind_pass, compile_pass
from workbench.devices.cpu.polynomial import ChebyshevStep
from workbench.devices.cpu.sparse_inverse import FactorizedInverse, inverse_factor
from workbench.devices.cpu.stencil import StencilProduct
from workbench.devices.cpu.subdomains import CompactColumns, Subdomains
from workbench.devices.cpu.triangular import CsrFactor, StencilFactor
from workbench.devices.lines.function import Lines
from workbench.devices.lines.stepwise import StepByStep
from workbench.devices.lines.workspace import Workspace
from workbench.devices.rows import Rows
from workbench.errors import InputError
from workbench.lines.types import accumulator
from workbench.scaling import norm


class Cpu(StepByStep):
    """All cores of this machine. Vectors are NumPy arrays; kernels release the GIL."""

    name: ClassVar[str] = "cpu"
    note: ClassVar[str] = ""
    check_every: ClassVar[int] = 1
    longest_batch: ClassVar[int] = 1
    """The scalars lie in the host's memory: looking at them costs nothing."""
    whole_triangles: ClassVar[bool] = True
    """Recurrences through the whole matrix run well on a core."""

    memory_limit: int | None = None
    """Bytes that a run may use, None for all there are."""

    def limited(self, limit: int | None) -> Cpu:
        """The same device for a run that may use so many bytes."""
        if limit is None:
            return self
        made = Cpu()
        made.memory_limit = limit
        return made

    def need_room(self, nbytes: int, way_out: str = "") -> None:
        """Raise InputError where a run may not use so many bytes."""
        if self.memory_limit is not None and nbytes > self.memory_limit:
            raise InputError(
                f"device cpu may use {self.memory_limit / 1e6:.4g} MB and {nbytes / 1e6:.4g} MB are needed; take a "
                "smaller problem or raise the memory limit"
            )

    def clock(self, recorder: Recorder) -> Clock:
        """A clock that notes what it is put around."""
        return HostClock(recorder)

    def need(self, dtype: np.dtype) -> None:
        """Every precision is there."""

    def array(self, values: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """A contiguous vector on the device, copied only when it must be."""
        return np.ascontiguousarray(values, dtype)

    def copy(self, vector: np.ndarray) -> np.ndarray:
        made = memory.vector(vector.size, vector.dtype)
        made[:] = vector
        return made

    def assign(self, target: np.ndarray, source: np.ndarray) -> None:
        """target = source."""
        target[:] = source

    def subtract_from(self, b: np.ndarray, s: np.ndarray) -> None:
        """s = b - s."""
        np.subtract(b, s, out=s)

    def norm(self, vector: np.ndarray) -> float:
        """||v||, summed in double precision; inf where it overflows."""
        return norm(vector)

    def vdot(self, a: np.ndarray, b: np.ndarray) -> complex:
        """(a, b), summed in double precision."""
        wide = accumulator(a.dtype)
        return np.vdot(a.astype(wide, copy=False), b.astype(wide, copy=False)).item()

    def to_host(self, vector: np.ndarray) -> np.ndarray:
        """The vector as a NumPy array; on this device the same memory."""
        return vector

    def zeros(self, size: int, dtype: np.dtype) -> np.ndarray:
        return memory.vector(size, dtype)

    def zero_block(self, size: int, columns: int, dtype: np.dtype) -> np.ndarray:
        """An N x columns block vector of zeros, row-major."""
        return memory.vector(size * columns, dtype).reshape(size, columns)

    def take_column(self, block: np.ndarray, column: int, target: np.ndarray) -> None:
        """target = a column of a block vector."""
        target[:] = block[:, column]

    def put_column(self, source: np.ndarray, block: np.ndarray, column: int) -> None:
        """A column of a block vector = source."""
        block[:, column] = source

    def whole(self, vector: np.ndarray) -> np.ndarray:
        """The vector with all its parts in place; here there is only one."""
        return vector

    def overlap(self, a: np.ndarray, b: np.ndarray) -> bool:
        return bool(np.may_share_memory(a, b))

    def scalars(self, count: int, dtype: np.dtype) -> np.ndarray:
        return np.zeros(count, dtype)

    def read_scalar(self, scalars: np.ndarray, slot: int) -> Any:
        return scalars[slot].item()

    def write_scalar(self, scalars: np.ndarray, slot: int, value: complex) -> None:
        scalars[slot] = value

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

    def watch(self, workspace: Workspace, every: int) -> Watch:
        """The scalars of the last iteration; here every iteration is looked at."""
        return Watch(workspace)

    settle = staticmethod(settle)
    """Wait for kernels that are being compiled; a launch before that waits for its own kernel."""

    compile_pass = staticmethod(compile_pass)
    bind_pass = staticmethod(bind_pass)

    def stencil(self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]) -> StencilProduct:
        """The product with a symmetric stencil."""
        return StencilProduct(main, lower, strides)

    def box(
        self, grid: tuple[int, int, int], reach: int, diagonal: float, coupling: float, dtype: np.dtype
    ) -> BoxProduct:
        """The product with a box operator on a grid (nz, ny, nx)."""
        return BoxProduct(grid, reach, diagonal, coupling, dtype)

    def csr(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> CsrProduct:
        """The product with a CSR matrix."""
        return CsrProduct(data, indices, indptr)

    def callable(self, product: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype) -> CallableProduct:
        """The product with anything that maps a vector to a vector."""
        return CallableProduct(product, size, dtype)

    def stencil_series(
        self, bands: tuple[np.ndarray, ...], strides: tuple[int, ...], inverse_diagonal: np.ndarray, order: int
    ) -> neumann.WaveSeries | neumann.SweptSeries:
        """K^H D^-1 K for the strictly lower bands of L D^-1, K the Neumann series of that order."""
        return neumann.stencil_series(bands, strides, inverse_diagonal, order)

    def csr_terms(self, lower: sparse.csr_array, scale: np.ndarray) -> tuple[CsrTerm, CsrTerm, CsrTerm]:
        """base - L x, (base - L x)*scale and base - L^H x for a strictly lower triangle in CSR form."""
        upper = sparse.csr_array(lower.conj().T.tocsr())
        rows = (lower.data, lower.indices, lower.indptr)
        return CsrTerm(*rows), CsrTerm(*rows, scale=scale), CsrTerm(upper.data, upper.indices, upper.indptr)

    def dots(self) -> DotProducts:
        """The dot products (x, y), (y, y) and (x, x) of two vectors in one pass."""
        return DotProducts(self)

    def applied(self, operator: Any) -> AppliedElementWise:
        """An element-by-element operator as one with apply(r, u), for where it cannot join a pass."""
        return AppliedElementWise(self, operator)

    def subdomains(self, labels: np.ndarray, count: int, dtype: np.dtype) -> Subdomains:
        """Piecewise constant deflation vectors given by a label per unknown."""
        return Subdomains(labels, count, dtype)

    def columns(self, rows: np.ndarray) -> Columns:
        """A few vectors without structure, given as the rows of a matrix."""
        return Columns(rows)

    def restricted_product(self, bound: Any, z: Any) -> Any:
        """out = A x and Z^H out, in one pass where both kinds allow it."""
        if isinstance(bound, StencilProduct) and isinstance(z, Subdomains):
            return bound.restricted(z)
        return ProductThenRestriction(bound, z)

    def compact_columns(self, az: sparse.csr_array) -> CompactColumns:
        """AZ in compact form."""
        return CompactColumns(az)

    def coarse_level(
        self, form: Form | None, solve: Callable[[np.ndarray], np.ndarray], count: int, dtype: np.dtype
    ) -> CoarseLevel:
        """E^-1 by the coarse solver's own `solve`."""
        return CoarseLevel(solve)

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

    def chebyshev_step(self, inverse: np.ndarray) -> ChebyshevStep:
        """p = a p + b D^-1 (r - s), u = u + p."""
        return ChebyshevStep(inverse)

    def inverse_factor(self, matrix: sparse.csr_array) -> tuple[sparse.csr_array, int]:
        """The factor G of a factorized sparse inverse, and the row that broke down or -1."""
        return inverse_factor(matrix)

    def factorized_inverse(self, factor: sparse.csr_array) -> FactorizedInverse:
        """u = G^H (G r)."""
        return FactorizedInverse(factor)


class Watch:
    """The scalars of a workspace, read as they are."""

    every = 1

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def prepare(self, norm: str, *, alike: bool) -> None:
        """All is compiled when it is made."""

    def arm(self, norm: str, limit: float, most: float = np.inf) -> None:
        """There is nothing to stop: the driver sees every row."""

    def make(self, recurrence: Iterator[None], count: int, *, alike: bool = False) -> None:
        """Iterate; the scalars stay where they are until the next iteration."""
        for _ in range(count):
            next(recurrence)

    def rows(self) -> Rows:
        """The row of the last iteration."""
        return Rows(self._workspace.scalars[None], self._workspace.slots)


class CoarseLevel:
    """E^-1 a by a function of NumPy arrays."""

    waits = False
    notes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, solve: Callable[[np.ndarray], np.ndarray]) -> None:
        self.solve = solve

    def take_energy(self, dots: np.ndarray, coarse: np.ndarray, solved: np.ndarray) -> np.ndarray:
        """Subtract (coarse, solved) from the first dot product."""
        dots[0] -= np.vdot(coarse, solved)
        return dots


class ProductThenRestriction:
    """out = A x, then Z^H out."""

    saved = 0

    def __init__(self, bound: Any, z: Any) -> None:
        self._bound, self._z = bound, z

    def apply(self, x: np.ndarray, out: np.ndarray) -> tuple[Any, np.ndarray]:
        return self._bound.apply(x, out), self._z.restrict(out)


class DotProducts:
    """(x, y), (y, y) and (x, x) in one pass."""

    def __init__(self, device: Cpu) -> None:
        self._lines = device.lines("xy = (x, y)\nyy = (y, y)\nxx = (x, x)")

    def apply(self, x: np.ndarray, y: np.ndarray) -> tuple[Any, Any, Any]:
        dots = self._lines(x=x, y=y)
        return dots["xy"], dots["yy"], dots["xx"]


class AppliedElementWise:
    """u = formula of r in a pass of its own, with (r, u), (u, u) and (r, r)."""

    def __init__(self, device: Cpu, operator: Any) -> None:
        text = "u = M(r)\nxy = (r, u)\nyy = (u, u)\nxx = (r, r)"
        self._lines = device.lines(text, operators={"M": operator})
        self._factors = operator.factors
        self.traffic = self.flops = 0

    def apply(self, r: np.ndarray, u: np.ndarray) -> tuple[Any, Any, Any]:
        self.traffic = (2 + len(self._factors)) * r.nbytes
        self.flops = 7 * r.size
        dots = self._lines(r=r, u=u)
        return dots["xy"], dots["yy"], dots["xx"]


class CallableProduct:
    """out = f(x) for a function of the host, with the dot products in NumPy."""

    traffic = 0
    flops = 0

    def __init__(self, product: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype) -> None:
        self._product = product
        self._shape = (size,)
        self._dots = np.zeros(3, accumulator(dtype))

    def apply(self, x: np.ndarray, out: np.ndarray) -> np.ndarray:
        out[:] = np.reshape(self._product(x), self._shape)
        left, right = (vector.astype(self._dots.dtype, copy=False) for vector in (x, out))
        self._dots[:] = np.vdot(left, right), np.vdot(right, right), np.vdot(left, left)
        return self._dots
