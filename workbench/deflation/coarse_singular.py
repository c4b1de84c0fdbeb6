"""Coarse solvers that take a singular E as it is: no vector needs to be dropped."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
from scipy import sparse

from workbench.deflation.coarse import CoarseSolver, Factor, not_definite
from workbench.devices.coarse import Dense
from workbench.errors import InputError
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class PseudoInverse(CoarseSolver):
    """The Moore-Penrose inverse of E from its eigenvectors, as a dense product: memory 8 d^2 bytes, setup about 10 d^3
    flops.

    For a singular E (all-Neumann problems) it gives the same projection as dropping one vector.
    """

    name: ClassVar[str] = "pseudo-inverse"
    title: ClassVar[str] = "pseudo-inverse (dense product)"
    takes_singular: ClassVar[bool] = True
    advice: ClassVar[str] = (
        "rounding in the pseudo-inverse of E may be the cause; try coarse solver cholesky or variant a-def2"
    )

    largest: int = parameter(2048, "refuse more vectors than this", low=1, high=16384, unit="vectors")

    def factor(self, matrix: sparse.csr_array) -> Factor:
        count = matrix.shape[0]
        if count > self.largest:
            raise InputError(
                f"the pseudo-inverse of {count} deflation vectors is bounded at {self.largest}; "
                "use coarse solver cholesky"
            )
        return _Pseudo(matrix)


class _Pseudo(Factor):
    def __init__(self, matrix: sparse.csr_array) -> None:
        # NumPy's, because SciPy's holds Python's lock, and with it every view, until it returns.
        values, vectors = np.linalg.eigh(matrix.toarray())
        cutoff = values[-1] * max(1e-12, values.size * np.finfo(float).eps)
        if values[0] < -cutoff:
            raise not_definite(f"its smallest eigenvalue is {values[0]:.3g}")
        kept = values > cutoff
        self._inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].conj().T
        self.form = Dense(self._inverse)

    def solve(self, right: np.ndarray) -> np.ndarray:
        return self._inverse @ right

    @property
    def traffic(self) -> int:
        return self._inverse.nbytes


@register
@dataclasses.dataclass(frozen=True)
class InnerCG(CoarseSolver):
    """E a2 = a1 by Jacobi-preconditioned CG in every outer iteration, as in the paper's CPU version; no setup.

    Each inner iteration moves the non-zeros of E and some ten vectors of length d. Its tolerance, relative to a1,
    limits the accuracy of the outer iteration.
    """

    name: ClassVar[str] = "inner-cg"
    title: ClassVar[str] = "inner conjugate gradients"
    takes_singular: ClassVar[bool] = True
    advice: ClassVar[str] = (
        "the tolerance of inner-cg may be the cause; tighten it, or try coarse solver cholesky or variant a-def2"
    )

    tolerance: float = parameter(1e-12, "relative residual of the inner solve", low=1e-15, high=0.1)

    def factor(self, matrix: sparse.csr_array) -> Factor:
        return _InnerCG(matrix, self.tolerance)


class _InnerCG(Factor):
    def __init__(self, matrix: sparse.csr_array, tolerance: float) -> None:
        diagonal = np.real(matrix.diagonal())
        if not np.all(diagonal > 0):
            raise not_definite(f"its diagonal entry {int(np.argmin(diagonal))} is {diagonal.min():.3g}")
        self._matrix, self._inverse, self._tolerance = matrix, 1 / diagonal, tolerance
        self._scale = diagonal.max()
        self._limit = 10 * diagonal.size + 100

    def solve(self, right: np.ndarray) -> np.ndarray:
        x = np.zeros_like(right)
        r = right.copy()
        p = u = self._inverse * r
        gamma = np.vdot(r, u)
        goal = self._tolerance * np.linalg.norm(right)
        for _ in range(self._limit):
            if np.linalg.norm(r) <= goal:
                break
            s = self._matrix @ p
            curvature = np.vdot(p, s).real
            if not curvature > 0:
                # In the null space of a singular E rounding may leave either sign; more than rounding is indefinite.
                if curvature < -1e-12 * self._scale * np.linalg.norm(p) ** 2:
                    raise not_definite(f"an inner direction has (p, E p) = {curvature:.3g}")
                break
            alpha = gamma / curvature
            x += alpha * p
            r -= alpha * s
            u = self._inverse * r
            previous, gamma = gamma, np.vdot(r, u)
            p = u + gamma / previous * p
        return x

    @property
    def traffic(self) -> int:
        return 12 * self._matrix.nnz
