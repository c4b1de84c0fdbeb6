"""The protocols of what a device makes: operators, terms of a series, both halves of a deflation space, and a watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.clock import TimedCalls
from workbench.devices.pieces import Couplings, Pieces
from workbench.devices.rows import Rows
from workbench.lines.block_passes import BlockPass
from workbench.lines.types import OperatorDot

if TYPE_CHECKING:
    from workbench.devices.clock import Clock

DeviceVector = Any
"""A NumPy array, or a vector in the memory of an accelerator."""
Dots = Any
"""Dot products on the device, (x, out), (out, out) and (x, x), those that were asked for; the next application of the
same operator overwrites them."""
KernelCalls = Sequence[tuple[Callable[..., Dots], tuple[DeviceVector, ...]]]
"""Calls of bound kernels, each with its vectors, in order."""


class OnePass(Protocol):
    """Paper lines of one pass as a function of vectors; see `one_pass.OnePass`."""

    def apply(self, *vectors: DeviceVector) -> Dots:
        """Run; returns the dot products, if any."""
        ...

    def work(self, size: int, dtype: np.dtype) -> tuple[int, int]:
        """Bytes and flops of one application to vectors of shape (size,)."""
        ...


class OperatorTraits:
    """Properties of an operator; a class states those that differ from these defaults."""

    waits: bool = False
    """Set where an application synchronizes with the host."""
    varies: bool = False
    """Set where the operator is linear to fewer digits than its vectors have."""
    local: bool = True
    """Set where a row of the result needs only those rows of the argument that A couples with it."""
    notes: Sequence[str] = ()
    """Sentences for the provenance of a run."""
    advice: str = ""
    """Advice for a run that fails, possibly by it."""
    fused_dots: Sequence[str] = tuple(OperatorDot)
    """The dot products that it computes along with its product."""
    split_dots: Sequence[str] = ()
    """The dot products that `apply_split` computes; empty where that is not offered. Its result is split: the sum of
    `out` and, in each row, an entry of a coarse vector, `rest`."""
    column_sums: DeviceVector | None = None
    """Partial sums of the dot products (x_j, out_j) of block vectors, shape (groups, columns), which an application
    leaves; None where it computes none."""

    def calls(self, x: DeviceVector, out: DeviceVector) -> KernelCalls | None:
        """The calls of bound kernels, each with its vectors, that an application is, the dot products being those of
        the last; None where it is more than those."""
        return None


class DeviceOperator(Protocol):
    """A matrix, or M^-1, on a device: out = A x. Unless an operator says otherwise, x and out are distinct.

    Made for iterations: nothing is checked. x and out are vectors of shape (N,) that this device has made by `zeros`,
    `array` or `copy`, in the dtype of the operator; others are read and written out of bounds. For an x from elsewhere
    `workbench.run.Prepared.product` is a checked product.

    Examples:
        >>> from workbench.devices import device
        >>> from workbench.registry import find
        >>> A = find("problem", "poisson5:4").assemble().operator.bind(device())
        >>> A.flops > 0, A.traffic > 0
        (True, True)
    """

    @property
    def waits(self) -> bool: ...

    @property
    def varies(self) -> bool: ...

    @property
    def local(self) -> bool: ...

    @property
    def notes(self) -> Sequence[str]: ...

    @property
    def advice(self) -> str: ...

    @property
    def fused_dots(self) -> Sequence[str]: ...

    def apply(self, x: DeviceVector, out: DeviceVector, /, *wanted: str) -> Dots:
        """out = A x. wanted: the dot products to compute, "xy" for (x, out), "yy" for (out, out) and "xx" for (x, x).

        A kernel that has them in the same pass computes all three; what is not asked for is undefined.
        """
        ...

    @property
    def traffic(self) -> int:
        """Bytes that one application reads and writes, each array counted once."""
        ...

    @property
    def flops(self) -> int:
        """Real floating-point operations of one application."""
        ...


class SeriesTerm(Protocol):
    """One term of a truncated Neumann series: out = (base - L x)*scale, or base - L^H x."""

    def apply(self, base: DeviceVector, x: DeviceVector, out: DeviceVector, paired: DeviceVector, /) -> Dots: ...

    @property
    def traffic(self) -> int: ...

    @property
    def flops(self) -> int: ...


class Restriction(Protocol):
    """Z on a device, d columns."""

    def restrict(self, w: DeviceVector) -> DeviceVector:
        """Z^H w, shape (d,), in double precision; the next call overwrites it."""
        ...

    def add(self, x: DeviceVector, coarse: DeviceVector) -> None:
        """x = x + Z a in place."""
        ...

    def add_paired(self, x: DeviceVector, coarse: DeviceVector, r: DeviceVector) -> Dots | None:
        """x = x + Z a in place, with (r, x), (x, x) and (r, r); None where a pass of their own computes those."""
        ...

    def subtract(self, x: DeviceVector, coarse: DeviceVector, /) -> None:
        """x = x - Z a in place."""
        ...

    @property
    def traffic(self) -> int:
        """Bytes of Z alone."""
        ...


class CoarseUpdate(Protocol):
    """AZ on a device."""

    def subtract(self, w: DeviceVector, coarse: DeviceVector) -> None:
        """w = w - AZ a in place."""
        ...

    @property
    def traffic(self) -> int:
        """Bytes of AZ and of the part of w that one call reads and writes."""
        ...

    @property
    def entries(self) -> int: ...


class RestrictedProduct(Protocol):
    """out = A x and Z^H out. saved: bytes that one pass over both saves."""

    @property
    def saved(self) -> int: ...

    @property
    def pairs(self) -> bool:
        """True if `paired` makes the dot products of a correction in the pass of the residual."""
        ...

    def apply(self, x: DeviceVector, out: DeviceVector, *wanted: str) -> tuple[Dots, DeviceVector]: ...

    def residual(self, b: DeviceVector, x: DeviceVector, work: DeviceVector) -> DeviceVector:
        """Z^H (b - A x), shape (d,). work: a vector that may be overwritten."""
        ...


class PieceVectors(Protocol):
    """Local vectors: the entries of some pieces of a vector, one piece after the other."""

    @property
    def pieces(self) -> Pieces: ...

    def gather(self, v: DeviceVector, local: DeviceVector, /) -> None:
        """local = the entries of v in each piece."""
        ...

    def fixed(self, weights: np.ndarray) -> DeviceVector:
        """The weights for many calls of `combine`, where the device holds them."""
        ...

    def combine(self, rows: Sequence[DeviceVector], weights: DeviceVector, target: DeviceVector, *, add: bool) -> None:
        """target = the sum of weights[row, piece] times the pieces of the rows, each at its place; plus target if add.

        rows: at most `pieces.ROWS_AT_ONCE` local vectors. weights: shape (rows, pieces), or what `fixed` has made of
        them.
        """
        ...

    def panel(self, count: int) -> Sequence[DeviceVector]:
        """`count` vectors (N,) to multiply with."""
        ...

    def products(self, couplings: Couplings) -> Callable[[Sequence[DeviceVector], Sequence[DeviceVector]], np.ndarray]:
        """Inner products of rows with a panel for the pairs of `couplings`, shape (pairs, rows), in double precision;
        waits for the device."""
        ...


class SubdomainSolves(Protocol):
    """Solves in boxes. waits: every one waits for the host."""

    @property
    def waits(self) -> bool: ...

    @property
    def traffic(self) -> int: ...

    @property
    def flops(self) -> int: ...

    def apply(self, r: DeviceVector, z: DeviceVector, /) -> None:
        """z = the solutions for r, boxes one after the other."""
        ...


class BlockAlgebra(Protocol):
    """Operations of block vectors (N, s) with small matrices, in double precision.

    Each method compiles, and returns a function that computes; one that returns a matrix waits for the device.
    """

    def device_matrices(self, dtype: np.dtype, columns: int, clock: Clock | None) -> Any:
        """Small matrices in device memory, which the methods of an accelerator read and write there, see
        `accelerator.block_algebra`; None where they are in host memory."""
        ...

    def fuses(self, columns: int) -> bool:
        """True if lines that act on every column alone are one pass."""
        ...

    def gram(self, x: DeviceVector, y: DeviceVector, *, transposed: bool = False) -> Callable[[], np.ndarray]:
        """X^H Y, shape (s, t); transposed: X^T Y."""
        ...

    def column_dots(self, x: DeviceVector, y: DeviceVector, *, transposed: bool = False) -> Callable[[], np.ndarray]:
        """The diagonal of that matrix, (x_j, y_j) for corresponding columns, shape (s,)."""
        ...

    def combine(
        self, target: DeviceVector, base: DeviceVector, factor: DeviceVector, shape: tuple[int, ...]
    ) -> Callable[[np.ndarray], None]:
        """target = base + factor @ small for a small matrix of that shape, (s, t), or (s,) for a diagonal one.

        Without base for None. target may be base or factor.
        """
        ...

    def fused(
        self, work: BlockPass, arrays: Mapping[str, DeviceVector], factors: Mapping[str, DeviceVector], /
    ) -> Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]] | None:
        """Several lines in one pass, as a function of the small matrices of one row; returns the dot products.

        None where separate lines are faster.
        """
        ...


class CoarseLevel(Protocol):
    """E^-1 on a device. waits: every solve waits for the host; notes: sentences for the provenance of a run."""

    @property
    def waits(self) -> bool: ...

    @property
    def notes(self) -> tuple[str, ...]: ...

    @property
    def solve(self) -> Callable[[DeviceVector], DeviceVector]:
        """E^-1 a, shape (d,)."""
        ...

    def parts(self) -> TimedCalls:
        """The calls of a solve that a trace records separately; none where it is recorded as a whole."""
        ...

    def correct_curvature(self, dots: Dots, coarse: DeviceVector, solved: DeviceVector) -> Dots:
        """Subtract (coarse, solved) from the first dot product."""
        ...


class Watch(Protocol):
    """The scalars of the last iterations, one row each; see `accelerator.watch`."""

    @property
    def every(self) -> int:
        """Most iterations between two reads."""
        ...

    @property
    def stops(self) -> bool:
        """True if nothing is launched after the iteration that meets the threshold."""
        ...

    def prepare(self, norm: str, *, uniform: bool) -> None: ...

    def rewind(self) -> None: ...

    def set_threshold(self, norm: str, limit: float, maximum: float = np.inf) -> None: ...

    def advance(self, recurrence: Iterator[None], count: int, *, uniform: bool = False) -> None: ...

    def rows(self) -> Rows: ...


class BlockWatch(Protocol):
    """The iterations of a block method that a device repeats; see `accelerator.watch`."""

    @property
    def most(self) -> int:
        """Most iterations between two reads."""
        ...

    @property
    def repeats(self) -> Any:
        """The iteration that it repeats, a `block_workspace.Repeats`."""
        ...

    @property
    def halted(self) -> int:
        """The place in an iteration where the device has stopped; 0 for between two."""
        ...

    def advance(
        self, count: int, active: np.ndarray, limits: np.ndarray, largest: np.ndarray
    ) -> Mapping[str, np.ndarray]: ...
