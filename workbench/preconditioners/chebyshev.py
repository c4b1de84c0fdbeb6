"""Chebyshev preconditioner: M^-1 is a polynomial in D^-1 A times D^-1."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh_tridiagonal

from workbench.devices.host.aggregation import spectral_bound
from workbench.devices.operator_protocols import DeviceVector, Dots, OnePass, OperatorTraits
from workbench.devices.protocol import Device
from workbench.operators import BoundOperator, BoxStencil, Matrix, Operator, Stencil, check_diagonal
from workbench.operators.base import MissingEntriesError
from workbench.operators.matrix_rows import stored_rows
from workbench.operators.slab_stencil import SlabStencil
from workbench.preconditioners.base import Preconditioner
from workbench.registry import parameter, register

MARGIN = 1.1
"""Ratio of the upper end of the interval to the largest Ritz value, at least."""
LANCZOS_STEPS = 12
BOUND_STEPS = 3
"""Steps that make the bound by row sums smaller; for tetrahedra with slivers 15.6 becomes 3.62, where the largest
eigenvalue is 3.55."""


@register
@dataclasses.dataclass(frozen=True)
class Chebyshev(Preconditioner):
    """M^-1 = p(D^-1 A) D^-1, where p of degree `degree` minimizes max |1 - z p(z)| on [high/ratio, high].

    high is an estimate: 1.1 times the largest Ritz value of D^-1 A after 12 Lanczos steps from a seeded start, or,
    where that is more, the Ritz value plus the norm of its residual. Where A has entries it is not above a bound of
    all eigenvalues, by row sums of |D^-1 A| and of its powers. M^-1 is positive definite if all eigenvalues of D^-1 A
    are below high + high/ratio, where p is positive; for an even degree p is positive everywhere.

    Cost: one application makes `degree` applications of A and degree + 1 passes over vectors. Stores 1/D and two work
    vectors, each (N,).

    Raises InputError if the diagonal of A is not available.

    Source: Saad, Iterative Methods for Sparse Linear Systems (2003), algorithm 12.1.
    """

    name: ClassVar[str] = "chebyshev"
    title: ClassVar[str] = "Chebyshev polynomial"
    on_ranks: ClassVar[bool] = True

    degree: int = parameter(3, "degree of the polynomial, applications of A in an application", low=1, high=64)
    ratio: float = parameter(30.0, "largest over smallest eigenvalue that the polynomial aims at", low=1.01, high=1e6)

    def setup(self, operator: Operator, device: Device) -> ChebyshevSeries:
        diagonal = operator.diagonal()
        check_diagonal(diagonal)
        inverse = device.array(1 / diagonal, operator.dtype)
        product = operator.bind(device)
        high = _estimated_largest(operator, product, device)
        with contextlib.suppress(MissingEntriesError):
            high = min(high, device.largest(_bound(operator)))
        return ChebyshevSeries(self.degree, high / self.ratio, high, product, inverse, device)


FIRST = """
p = b*(d*r)
u = p
"""
"""The first step from u = 0; d is D^-1."""
LATER = """
p = a*p + b*(d*(r - s))
u = u + p
"""
"""A step after s = A(u)."""
DOTS = """
xy = (r, u)
yy = (u, u)
xx = (r, r)
"""


class ChebyshevSeries(OperatorTraits):
    """u = p(D^-1 A) D^-1 r on a device: the Chebyshev iteration from u = 0 on the interval [low, high]."""

    def __init__(
        self, degree: int, low: float, high: float, product: BoundOperator, inverse: DeviceVector, device: Device
    ) -> None:
        self.low, self.high = low, high
        self._product, self._inverse = product, inverse
        self.waits = product.waits
        self._s, self._p = (device.zeros(inverse.size, inverse.dtype) for _ in range(2))

        def step(text: str, number: int, a: float, b: float) -> OnePass:
            lines, dtype = text + (DOTS if number == degree else ""), inverse.dtype
            return device.one_pass(lines, ("d", "r", "s", "p", "u"), dtype, numbers={"a": a, "b": b})

        weights = _weights(degree, low, high)
        # From u = 0, the first step needs no product; an `improve` begins with one.
        self._first = step(FIRST, 0, *weights[0])
        self._steps = [step(LATER, number, a, b) for number, (a, b) in enumerate(weights)]

    def apply(self, r: DeviceVector, u: DeviceVector, /, *_: str) -> Dots:
        """u = M^-1 r; computes all three dot products. r and u must be distinct vectors."""
        dots = self._first.apply(self._inverse, r, self._s, self._p, u)
        return self._continued(r, u, self._steps[1:]) if self._steps[1:] else dots

    def improve(self, r: DeviceVector, u: DeviceVector, /) -> Dots:
        """u = u + p(D^-1 A) D^-1 (r - A u), with all three dot products. Call `apply` once before."""
        return self._continued(r, u, self._steps)

    def _continued(self, r: DeviceVector, u: DeviceVector, steps: Sequence[OnePass]) -> Dots:
        dots = None
        for step in steps:
            self._product.apply(u, self._s)
            dots = step.apply(self._inverse, r, self._s, self._p, u)
        return dots

    @property
    def traffic(self) -> int:
        return self._counted(self._steps[1:], self._first)[0]

    @property
    def flops(self) -> int:
        return self._counted(self._steps[1:], self._first)[1]

    @property
    def improve_traffic(self) -> int:
        """Bytes of one `improve`."""
        return self._counted(self._steps)[0]

    @property
    def improve_flops(self) -> int:
        """Operations of one `improve`."""
        return self._counted(self._steps)[1]

    def _counted(self, steps: Sequence[OnePass], *alone: OnePass) -> tuple[int, int]:
        """Bytes and operations of steps behind a product each, and of others alone."""
        works = [step.work(self._inverse.size, self._inverse.dtype) for step in (*steps, *alone)]
        works += [(self._product.traffic, self._product.flops)] * len(steps)
        return sum(moved for moved, _ in works), sum(operations for _, operations in works)


def _weights(degree: int, low: float, high: float) -> list[tuple[float, float]]:
    """a and b of each step p = a p + b D^-1 (r - A u)."""
    center, radius = (high + low) / 2, (high - low) / 2
    rho, weights = radius / center, [(0.0, 1 / center)]
    for _ in range(degree):
        previous, rho = rho, 1 / (2 * center / radius - rho)
        weights.append((rho * previous, 2 * rho / radius))
    return weights


def _estimated_largest(operator: Operator, product: BoundOperator, device: Device) -> float:
    """About the largest eigenvalue of D^-1/2 A D^-1/2 and hardly ever less, by its largest Ritz value in the Lanczos
    process: times `MARGIN`, or plus the norm of its residual. Extreme Ritz values need no reorthogonalization."""
    size, dtype = operator.shape[0], operator.dtype
    scale = (1 / np.sqrt(np.real(operator.diagonal()))).astype(np.finfo(dtype).dtype)
    v = np.random.default_rng([0, device.rank] if device.rank else 0).standard_normal(size).astype(dtype)
    v /= np.asarray(_norm(v, device), scale.dtype)
    previous, beta, out = np.zeros_like(v), 0.0, device.zeros(size, dtype)
    alphas: list[float] = []
    betas: list[float] = []
    for _ in range(min(LANCZOS_STEPS, device.total(size))):
        product.apply(device.array(scale * v, dtype), out)
        w = scale * device.to_host(out) - np.asarray(beta, scale.dtype) * previous
        alphas.append(float(device.total(np.vdot(v, w).real.item())))
        w -= np.asarray(alphas[-1], scale.dtype) * v
        beta = _norm(w, device)
        if beta <= 1e-5 * max(alphas):
            beta = 0.0
            break
        betas.append(beta)
        previous, v = v, w / np.asarray(beta, scale.dtype)
    values, vectors = eigh_tridiagonal(np.array(alphas), np.array(betas[: len(alphas) - 1]))
    largest = float(values[-1])
    return max(MARGIN * largest, largest + beta * abs(float(vectors[-1, -1])))


def _norm(v: np.ndarray, device: Device) -> float:
    """||v||, of the rows of all ranks."""
    return float(np.linalg.norm(device.gathered(float(np.linalg.norm(v)))))


def _bound(operator: Operator) -> float:
    """A number that no eigenvalue of D^-1 A exceeds: of a matrix in one process by powers of |D^-1 A|, else by row
    sums."""
    if not isinstance(operator, Matrix):
        return largest_row_sum(operator)
    matrix = operator.to_csr()
    diagonal = np.real(operator.diagonal()).astype(np.float64)
    return spectral_bound(matrix.data, matrix.indices, matrix.indptr, diagonal, BOUND_STEPS)


def largest_row_sum(operator: Operator) -> float:
    """max_i sum_j |A_ij| / A_ii, an upper bound of the eigenvalues of D^-1 A (Gershgorin)."""
    if isinstance(operator, BoxStencil):
        return operator.largest_row_sum / operator.diagonal_entry
    rows = slice(None)
    if isinstance(operator, SlabStencil):
        operator, rows = operator.tall, operator.slab.inner
    diagonal = np.real(operator.diagonal()).astype(np.float64)
    if isinstance(operator, Stencil):
        sums = diagonal.copy()
        for low, stride in zip(operator.lower, operator.strides, strict=True):
            size = np.abs(low).astype(np.float64)
            sums += size
            sums[: max(0, sums.size - stride)] += size[stride:]
    else:
        sums = np.asarray(abs(stored_rows(operator)).sum(axis=1), np.float64).ravel()
    return float((sums[rows] / diagonal[rows]).max())
