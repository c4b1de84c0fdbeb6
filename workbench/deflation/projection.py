"""Deflation wraps a system: P A x^ = P b is handed to a solver that knows nothing of it, and x^ is turned into x after.

    P = I - A Q,  Q = Z E^-1 Z^T,  E = Z^T A Z,  x = Q b + P^T x^

Source: Gupta, van Gijzen, Vuik 2013, section 4, eq. (6), Algorithm 1 and eqs. (7a) to (7d).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from workbench.deflation.coarse import CoarseSolver
from workbench.deflation.subspace import Subspace
from workbench.devices.protocol import Device
from workbench.operators import BoundOperator, Operator

Parts = Iterator[tuple[Any, str, str, int, int]]
"""Objects with a method each, and the name, bytes and flops of a call of it."""
NULL_TOLERANCE = 1e-10
"""E counts as singular when E times the constant vector is below this times the row sums of |E|."""


class Projection:
    """The deflation of A by a subspace, on a device.

    When A maps the constant vector to zero, E of piecewise constant vectors is singular: one vector, the last, is
    dropped unless the coarse solver takes E as it is, which leaves the span of AZ as it was. Raises InputError for a
    subspace that cannot deflate A, and for an E that is not positive definite.
    """

    def __init__(
        self, operator: Operator, bound: BoundOperator, subspace: Subspace, coarse: CoarseSolver, device: Device
    ) -> None:
        placed = subspace.place(operator, bound, device)
        matrix = placed.matrix
        self.count = matrix.shape[0]
        self.notes = list(placed.notes)
        self._kept = self.count
        if subspace.labels is not None and _is_singular(matrix):
            dropped = not coarse.takes_singular or self.count == 1
            self._kept -= dropped
            done = "the last deflation vector was dropped" if dropped else "it was taken as it is"
            self.notes.append(f"E is singular: {done} (coarse solver {coarse.name})")
        self._factor = coarse.factor(sparse.csr_array(matrix[: self._kept, : self._kept])) if self._kept else None
        self._device, self._bound, self._z, self._az = device, bound, placed.z, placed.az
        self._lengths = placed.lengths
        self._product = device.restricted_product(bound, self._z)
        form = self._factor.form if self._factor else None
        self._coarse = device.coarse_level(form, self._solve_on_host, self.count, operator.dtype)
        self.notes += self._coarse.notes
        self.waits = self._coarse.waits or getattr(bound, "waits", False)
        """Whether every application waits for the host."""
        self._scratch = device.zeros(operator.shape[0], operator.dtype)

    def coarse_solve(self, coarse: Any) -> Any:
        """E^-1 a with zero for the dropped vector, shape (d,), on the device."""
        return self._coarse.solve(coarse)

    def _solve_on_host(self, coarse: np.ndarray) -> np.ndarray:
        solution = np.zeros_like(coarse)
        if self._factor is not None:
            solution[: self._kept] = self._factor.solve(coarse[: self._kept])
        return solution

    def project(self, v: Any) -> None:
        """v = P v in place."""
        self._az.subtract(v, self.coarse_solve(self._z.restrict(v)))

    def project_transposed(self, x: Any) -> None:
        """x = P^T x in place, written as x - Q A x."""
        _, restricted = self._product.apply(x, self._scratch)
        self._z.subtract(x, self.coarse_solve(restricted))

    def correct(self, u: Any, r: Any) -> None:
        """u = u + Q r in place."""
        self._z.add(u, self.coarse_solve(self._z.restrict(r)))

    def finish(self, x: Any, b: Any) -> None:
        """x = Q b + P^T x^ in place, written as x^ + Q (b - A x^)."""
        self._bound.apply(x, self._scratch)
        self._device.subtract_from(b, self._scratch)
        self._z.add(x, self.coarse_solve(self._z.restrict(self._scratch)))

    def drift(self, r: Any) -> float:
        """||Z^H r|| with the columns of Z scaled to length 1: about the part of r in the span of Z, which is zero for
        an exact projection."""
        return float(np.linalg.norm(self._device.to_host(self._z.restrict(r)) / self._lengths))

    # As an operator the projection is P A, so that a solver can take it for A.

    offers = ("xy",)

    def apply(self, x: Any, out: Any) -> Any:
        """out = P A x, with (x, out) as first of the three dot products; the others are not offered."""
        dots, restricted = self._product.apply(x, out)
        # (x, AZ a) = (Z^H A x, a), which costs d operations and not N.
        solved = self.coarse_solve(restricted)
        self._az.subtract(out, solved)
        return self._coarse.take_energy(dots, restricted, solved)

    def parts(self) -> Parts:
        """What a trace shows apart."""
        vector, z = self._scratch.nbytes, self._z.traffic
        product = self.system_traffic + z + vector - self._product.saved
        yield self._product, "apply", "A, Z^T", product, self._bound.flops + self._scratch.size
        yield self._z, "restrict", "Z^T", vector + z, self._scratch.size
        yield self._z, "add", "Z", 2 * vector + z, self._scratch.size
        # A triangular solve waits for itself row by row, so its bytes say nothing about its time.
        yield self, "coarse_solve", "E^-1", 0, 0
        yield self._az, "subtract", "AZ", self._az.traffic, 2 * self._az.entries

    @property
    def traffic(self) -> int:
        return self.system_traffic + self.coarse_traffic - self._product.saved + self._az.traffic

    @property
    def vector_traffic(self) -> int:
        """Bytes of one vector."""
        return self._scratch.nbytes

    @property
    def system_traffic(self) -> int:
        """Bytes of one product with A."""
        return self._bound.traffic

    @property
    def coarse_traffic(self) -> int:
        """Bytes of one restriction and one coarse solve."""
        solve = self._factor.traffic if self._factor else 0
        return self._scratch.nbytes + self._z.traffic + solve

    @property
    def flops(self) -> int:
        solve = self._factor.traffic // 4 if self._factor else 0
        return self._bound.flops + self._scratch.size + solve + 2 * self._az.entries


def _is_singular(matrix: sparse.csr_array) -> bool:
    sums = np.abs(matrix @ np.ones(matrix.shape[0], matrix.dtype))
    return bool(np.all(sums <= NULL_TOLERANCE * np.asarray(abs(matrix).sum(axis=1)).ravel().max()))
