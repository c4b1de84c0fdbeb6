"""Coarse solvers for a singular E, which need no deflation vector dropped."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.deflation.coarse import CoarseSolver, Factor, not_definite
from workbench.deflation.coarse_dense import DenseFactor, pseudo_inverse
from workbench.deflation.null_space import holds_constants
from workbench.deflation.parts import Parts
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class PseudoInverse(CoarseSolver):
    """The Moore-Penrose inverse of E from its eigendecomposition: a solve is one dense product.

    For a singular E (all-Neumann problems) it gives the same projection as dropping one vector.

    Cost: setup about 10 d^3 flops, memory 8 d^2 bytes, 2 d^2 flops per solve.
    """

    name: ClassVar[str] = "pseudo-inverse"
    title: ClassVar[str] = "pseudo-inverse (dense product)"
    accepts_singular: ClassVar[bool] = True
    advice: ClassVar[str] = (
        "rounding in the pseudo-inverse of E may be the cause; try coarse solver cholesky or variant a-def2"
    )

    largest: int = parameter(2048, "maximum number of deflation vectors", low=1, high=16384, unit="vectors")

    def check_count(self, count: int) -> None:
        if count > self.largest:
            raise InputError(
                f"the pseudo-inverse of {count} deflation vectors is limited to {self.largest} vectors; "
                "use coarse solver cholesky",
                changes={"coarse": "cholesky"},
            )

    def factor(self, matrix: sparse.csr_array, parts: Parts | None = None) -> Factor:
        self.check_count(matrix.shape[0])
        return DenseFactor(pseudo_inverse(matrix.toarray()))


EXACT = 1e-10
"""Largest tolerance of an inner solve that counts as exact."""


@register
@dataclasses.dataclass(frozen=True)
class InnerCG(CoarseSolver):
    """E a2 = a1 by Jacobi-preconditioned CG in every outer iteration, as in the paper's CPU version; no setup.

    The tolerance, relative to a1, limits the accuracy of the outer iteration. Above 1e-10 E counts as solved
    approximately, as by `multilevel`.

    Cost: each inner iteration reads the non-zeros of E and about ten vectors of length d.
    """

    name: ClassVar[str] = "inner-cg"
    title: ClassVar[str] = "inner conjugate gradients"
    accepts_singular: ClassVar[bool] = True
    advice: ClassVar[str] = (
        "the tolerance of inner-cg may be the cause; tighten it, or try coarse solver cholesky or variant a-def2"
    )

    tolerance: float = parameter(1e-12, "relative residual of the inner solve", low=1e-15, high=0.1)

    def is_exact(self, count: int) -> bool:
        return self.tolerance <= EXACT

    def factor(self, matrix: sparse.csr_array, parts: Parts | None = None) -> Factor:
        return _InnerCG(matrix, self.tolerance)


class _InnerCG(Factor):
    def __init__(self, matrix: sparse.csr_array, tolerance: float) -> None:
        diagonal = np.real(matrix.diagonal())
        if not np.all(diagonal > 0):
            raise not_definite(f"its diagonal entry {int(np.argmin(diagonal))} is {diagonal.min():.3g}")
        self._matrix, self._inverse, self._tolerance = matrix, 1 / diagonal, tolerance
        self._scale = diagonal.max()
        self._singular = holds_constants(matrix)
        self._limit = 10 * diagonal.size + 100
        self.exact = tolerance <= EXACT

    def solve(self, right: np.ndarray) -> np.ndarray:
        x = np.zeros_like(right)
        # Rounding leaves a component outside of the range of a singular E, which no x reaches.
        r = right - right.mean() if self._singular else right.copy()
        p = u = self._inverse * r
        gamma = np.vdot(r, u)
        goal = self._tolerance * np.linalg.norm(right)
        for _ in range(self._limit):
            if np.linalg.norm(r) <= goal:
                break
            s = self._matrix @ p
            curvature = np.vdot(p, s).real
            if not curvature > 0:
                # Rounding gives either sign in the null space of a singular E; values below that mean an indefinite E.
                if curvature < -1e-12 * self._scale * np.linalg.norm(p) ** 2:
                    raise not_definite(f"an inner direction has (p, E p) = {curvature:.3g}")
                break
            alpha = gamma / curvature
            x += alpha * p
            r -= alpha * s
            u = self._inverse * r
            previous, gamma = gamma, np.vdot(r, u)
            p = u + gamma / previous * p
        return x - x.mean() if self._singular else x

    @property
    def traffic(self) -> int:
        return 12 * self._matrix.nnz
