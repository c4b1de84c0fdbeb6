"""Deflation wraps a system: P A x^ = P b is handed to a solver that knows nothing of it, and x^ is turned into x after.

    P = I - A Q,  Q = Z E^-1 Z^T,  E = Z^T A Z,  x = Q b + P^T x^

Source: Gupta, van Gijzen, Vuik 2013, section 4, eq. (6), Algorithm 1 and eqs. (7a) to (7d).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from workbench.deflation.coarse import CoarseSolver
from workbench.errors import InputError
from workbench.operators import BoundOperator, Operator, Stencil

NULL_TOLERANCE = 1e-10
"""E counts as singular when E times the constant vector is below this times the row sums of |E|."""


class Projection:
    """The deflation of A by piecewise constant vectors, on a device.

    labels: the subdomain 0..d-1 of each unknown, shape (N,). Z is never stored, AZ in compact form. When A maps the
    constant vector to zero E is singular: one vector, the last, is dropped, which leaves the span of AZ as it was.
    Raises InputError for an empty subdomain and for an E that is not positive definite.
    """

    def __init__(
        self, operator: Operator, bound: BoundOperator, labels: np.ndarray, coarse: CoarseSolver, device: Any
    ) -> None:
        self.count = int(labels.max()) + 1
        sizes = np.bincount(labels, minlength=self.count)
        if not sizes.all():
            raise InputError(
                f"deflation subdomain {int(np.argmin(sizes))} of {self.count} holds no unknown; renumber them"
            )
        az = compact_az(operator, labels, self.count)
        matrix = galerkin(az, labels, self.count)
        self.singular = _is_singular(matrix)
        self.dropped = self.singular and not coarse.takes_singular
        self._kept = self.count - 1 if self.singular and (self.dropped or self.count == 1) else self.count
        self._factor = coarse.factor(sparse.csr_array(matrix[: self._kept, : self._kept])) if self._kept else None
        self._bound = bound
        self._subdomains = device.subdomains(labels, self.count, operator.dtype)
        self._az = device.compact_columns(az)
        self._scratch = device.zeros(operator.shape[0], operator.dtype)
        self.entries = self._az.entries

    def coarse_solve(self, coarse: np.ndarray) -> np.ndarray:
        """E^-1 a with zero for the dropped vector, shape (d,)."""
        solution = np.zeros_like(coarse)
        if self._factor is not None:
            solution[: self._kept] = self._factor.solve(coarse[: self._kept])
        return solution

    def project(self, v: Any) -> None:
        """v = P v in place."""
        self._az.subtract(v, self.coarse_solve(self._subdomains.restrict(v)), v)

    def project_transposed(self, x: Any) -> None:
        """x = P^T x in place, written as x - Q A x."""
        self._bound.apply(x, self._scratch)
        self._subdomains.add(x, -self.coarse_solve(self._subdomains.restrict(self._scratch)))

    def correct(self, u: Any, r: Any) -> None:
        """u = u + Q r in place."""
        self._subdomains.add(u, self.coarse_solve(self._subdomains.restrict(r)))

    def finish(self, x: Any, b: Any) -> None:
        """x = Q b + P^T x^ in place, written as x^ + Q (b - A x^)."""
        self._bound.apply(x, self._scratch)
        np.subtract(b, self._scratch, out=self._scratch)
        self._subdomains.add(x, self.coarse_solve(self._subdomains.restrict(self._scratch)))

    def drift(self, r: Any) -> float:
        """||Z^T r||, which is zero for an exact projection."""
        return float(np.linalg.norm(self._subdomains.restrict(r)))

    # As an operator the projection is P A, so that a solver can take it for A.

    offers = ("xy",)

    def apply(self, x: Any, out: Any) -> np.ndarray:
        """out = P A x, with (x, out) as first of the three dot products; the others are not offered."""
        dots = self._bound.apply(x, out)
        dots[0] -= self._az.subtract(out, self.coarse_solve(self._subdomains.restrict(out)), x)
        return dots

    @property
    def traffic(self) -> int:
        return self.system_traffic + self.coarse_traffic + self._az.traffic

    @property
    def system_traffic(self) -> int:
        """Bytes of one product with A."""
        return self._bound.traffic

    @property
    def coarse_traffic(self) -> int:
        """Bytes of one restriction and one coarse solve."""
        solve = self._factor.traffic if self._factor else 0
        return self._scratch.nbytes + self._subdomains.traffic + solve

    @property
    def flops(self) -> int:
        solve = self._factor.traffic // 4 if self._factor else 0
        return self._bound.flops + self._scratch.size + solve + 2 * self.entries + 3 * self._scratch.size


def compact_az(operator: Operator, labels: np.ndarray, count: int) -> sparse.csr_array:
    """AZ, shape (N, d), as CSR with entries that are zero to rounding left out.

    Inside a subdomain a row of AZ is the row sum of A there, zero for a diffusion stencil, so mostly interfaces remain.
    """
    if isinstance(operator, Stencil):
        rows, columns, values = _stencil_az(operator, labels)
    else:
        entries = operator.to_csr().tocoo()
        rows, columns, values = entries.coords[0], labels[entries.coords[1]], entries.data
    az = sparse.coo_array((values, (rows, columns)), shape=(labels.size, count)).tocsr()
    scale = np.repeat(np.abs(operator.diagonal()), np.diff(az.indptr))
    az.data[np.abs(az.data) <= 8 * np.finfo(az.dtype).eps * scale] = 0
    az.eliminate_zeros()
    return sparse.csr_array(az)


def galerkin(az: sparse.csr_array, labels: np.ndarray, count: int) -> sparse.csr_array:
    """E = Z^T AZ, shape (d, d), made exactly Hermitian."""
    rows = np.repeat(labels, np.diff(az.indptr))
    summed = sparse.coo_array((az.data, (rows, az.indices)), shape=(count, count)).tocsr()
    return sparse.csr_array((summed + summed.conj().T) / 2)


def _stencil_az(operator: Stencil, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries of AZ: the own subdomain's sum of each row, and one entry per coupling into another subdomain."""
    own = operator.main.copy()
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for low, stride in zip(operator.lower, operator.strides, strict=True):
        if stride >= low.size:
            continue
        coupling, above, below = low[stride:], labels[stride:], labels[:-stride]
        foreign = above != below
        own[stride:] += np.where(foreign, 0, coupling)
        own[:-stride] += np.where(foreign, 0, coupling.conj())
        crossing = np.flatnonzero(foreign & (coupling != 0))
        rows += [crossing + stride, crossing]
        columns += [below[crossing], above[crossing]]
        values += [coupling[crossing], coupling[crossing].conj()]
    inside = np.arange(own.size)
    return (
        np.concatenate([inside, *rows]),
        np.concatenate([labels, *columns]),
        np.concatenate([own, *values]),
    )


def _is_singular(matrix: sparse.csr_array) -> bool:
    sums = np.abs(matrix @ np.ones(matrix.shape[0], matrix.dtype))
    return bool(np.all(sums <= NULL_TOLERANCE * np.asarray(abs(matrix).sum(axis=1)).ravel().max()))
