"""Pivoted Cholesky factorization of low rank, for dense matrices such as kernels of Gaussian processes."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import numpy as np

from workbench.compiler.words import wide
from workbench.devices.bound import Request
from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits
from workbench.devices.protocol import Device
from workbench.kernel_language.row_kernels import kernel
from workbench.lazy import sparse
from workbench.operators import Operator, Size, check_diagonal
from workbench.operators.null_space import precision_of
from workbench.preconditioners.base import Preconditioner
from workbench.registry import parameter, register
from workbench.words.numbers import count, percent


@register
@dataclasses.dataclass(frozen=True)
class PivotedCholesky(Preconditioner):
    """M is A in the rows and columns of `rank` pivots, and diagonal in what their elimination leaves of the others.

    With the pivots first, A = [P B^H; B C], P = L L^H and W = B L^-H, M = [L 0; W I] [I 0; 0 D] [L 0; W I]^H, where D
    is the diagonal of the Schur complement C - W W^H. The next pivot is the largest diagonal entry of that, relative to
    A's. M is positive definite for every positive definite A, and D = diag(A) without pivots: Jacobi. For a kernel plus
    a small diagonal few pivots leave little but that diagonal. Where the Schur complement is 0 to rounding, D is that
    of A.

    Cost: 4 rank flops per unknown, the factor is read twice. Setup: `rank` rows of A and N rank^2 flops. Stores N rank
    words. Raises InputError if the entries of A are not available.

    Source: Harbrecht, Peters, Schneider 2012, algorithm 1, for the factorization.
    """

    name: ClassVar[str] = "pivoted-cholesky"
    title: ClassVar[str] = "pivoted Cholesky of low rank"
    also: ClassVar[tuple[str, ...]] = ("low-rank", "nystrom")

    rank: int = parameter(100, "pivots, columns of the factor; at most N", low=1, high=8192, unit="columns")

    def needed_bytes(self, size: Size, item: int, *, on_host: bool) -> int:
        return item * size.unknowns * (min(self.rank, size.unknowns) + 1)

    def setup(self, operator: Operator, device: Device) -> LowRank:
        check_diagonal(operator.diagonal())
        return LowRank(pivoted_cholesky(operator.to_csr(), self.rank, precision_of(operator)), operator.dtype, device)


class Factor(NamedTuple):
    """columns: those of [L; W], shape (k, N), with 0 above the diagonal of L. pivots: their rows in order, shape (k,).
    diagonal: D, shape (N,), 0 in the rows of the pivots. left: the trace of the Schur complement over that of A."""

    columns: np.ndarray
    pivots: np.ndarray
    diagonal: np.ndarray
    left: float


def pivoted_cholesky(matrix: sparse.csr_array, rank: int, eps: float) -> Factor:
    """The factor of at most `rank` columns, fewer where the rest is 0 to rounding. eps: the roundoff of the entries.

    Cost: N rank^2 flops, in double precision.
    """
    size = matrix.shape[0]
    whole = np.real(matrix.diagonal()).astype(np.float64)
    rest, eliminated = whole.copy(), np.zeros(size, bool)
    columns = np.zeros((min(rank, size), size), np.result_type(matrix.dtype, np.float64))
    pivots: list[int] = []
    for column in columns:
        share = np.where(eliminated, 0, rest / whole)
        pivot = int(share.argmax())
        if share[pivot] <= size * eps:
            break
        entries = slice(matrix.indptr[pivot], matrix.indptr[pivot + 1])
        column[matrix.indices[entries]] = matrix.data[entries].conj()
        before = columns[: len(pivots)]
        column -= before[:, pivot].conj() @ before
        column /= np.sqrt(rest[pivot])
        column[pivots], column[pivot] = 0, np.sqrt(rest[pivot])
        rest -= np.abs(column) ** 2
        eliminated[pivot] = True
        pivots.append(pivot)
    rest[eliminated] = 0
    left = float(rest.clip(0).sum() / whole.sum())
    vanished = ~eliminated & (rest <= size * eps * whole)
    diagonal = np.where(vanished, whole, rest)
    return Factor(columns[: len(pivots)], np.array(pivots, np.int32), diagonal, left)


@kernel()
def of_pivots(
    row: int, inverse: DeviceVector, starts: DeviceVector, pivots: DeviceVector, r: DeviceVector, out: DeviceVector
) -> None:
    """out = L^-1 r at the pivots; inverse: the rows of the lower triangle, one after the other."""
    value = 0
    for j in range(starts[row], starts[row + 1]):
        value += wide(inverse[j]) * wide(r[pivots[j - starts[row]]])
    out[row] = value


@kernel()
def to_pivots(
    row: int,
    inverse: DeviceVector,
    starts: DeviceVector,
    pivots: DeviceVector,
    first: DeviceVector,
    second: DeviceVector,
    u: DeviceVector,
) -> None:
    """u at the pivots = L^-H (first - second); inverse: the rows of the upper triangle, one after the other."""
    value = 0
    for j in range(starts[row], starts[row + 1]):
        column = row + j - starts[row]
        value += wide(inverse[j]) * (first[column] - second[column])
    u[pivots[row]] = value


class LowRank(OperatorTraits):
    """u = M^-1 r on a device: a = L^-1 r_P, v = D^-1 (r_R - W a), and u_P = L^-H (a - W^H v), u_R = v."""

    def __init__(self, factor: Factor, dtype: np.dtype, device: Device) -> None:
        from scipy.linalg import solve_triangular

        size, rank = factor.diagonal.size, factor.pivots.size
        identity = np.eye(rank, dtype=factor.columns.dtype)
        inverse = solve_triangular(factor.columns[:, factor.pivots].T, identity, lower=True).astype(dtype)
        self._device, self._dots = device, device.dots(dtype)
        self._columns = device.columns(factor.columns.astype(dtype))
        with np.errstate(divide="ignore"):
            scale = np.where(factor.diagonal > 0, 1 / factor.diagonal, 0)
        self._scale = device.array(scale, dtype)
        self._scaled = device.one_pass("u = d*u", ("d", "u"), dtype)
        # A vector as restrictions return it.
        self._first = device.copy(self._columns.restrict(device.zeros(size, dtype)))
        pivots = {"pivots": factor.pivots}
        lower, upper = (np.r_[0, np.cumsum(lengths)] for lengths in (np.arange(rank) + 1, rank - np.arange(rank)))
        of = {"inverse": inverse[np.tril_indices(rank)], "starts": lower, **pivots}
        to = {"inverse": inverse.conj().T[np.triu_indices(rank)], "starts": upper, **pivots}
        self._of = device.bind(Request(of_pivots, rank, dtype, of, work=lower, wides=("out",)))
        self._to = device.bind(Request(to_pivots, rank, dtype, to, work=upper, wides=("first", "second")))
        self.notes = (f"pivoted-cholesky: {count(rank)} columns, which leave {percent(factor.left)} of the trace of A",)
        moved, operations = self._scaled.work(size, dtype)
        self.traffic = moved + self._of.traffic + self._to.traffic + 2 * self._columns.traffic + 7 * self._scale.nbytes
        products = 4 * rank * size * (4 if dtype.kind == "c" else 1)
        self.flops = operations + self._of.flops + self._to.flops + products

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = M^-1 r, and dot products of r and u."""
        self._of(r, self._first)
        self._device.assign(u, r)
        self._columns.subtract(u, self._first)
        self._scaled.apply(self._scale, u)
        self._to(self._first, self._columns.restrict(u), u)
        return self._dots.apply(r, u) if wanted else None
