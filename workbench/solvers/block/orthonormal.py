"""Orthonormalization of a block vector with rank detection, in the inner product of M^-1.

Cholesky QR with pivots, twice; columns that depend on others are orthogonalized against the accepted ones with new
products, and tried again. Source: the R variant of Dubrulle 2001, whose QR factorization it replaces.
"""

from __future__ import annotations

import numpy as np

from workbench.devices.kernels.small import RankBounds
from workbench.devices.programs.block_workspace import BlockProgram, BlockWorkspace
from workbench.lines.types import Shape, small
from workbench.solvers.block.small import Factor, cholesky, pivoted

# Columns of any size count alike in the rank, so they are scaled to unit norm first.
RESIDUAL = """
    Q = A(X)
    Q = B - Q
    rr = dots(Q, Q)
"""
NORMALIZED = """
    Q = Q*reciprocal
"""


class Orthonormalization:
    """Y = Q rho with Q^H M^-1 Q = I in place of Y, and W = M^-1 Q; dependent columns of Q become zero.

    columns: the places of the columns of Q that are not zero. pivot: the smallest over the largest pivot of the last
    call. negative: an inner product (y, M^-1 y) below zero, which shows that M is not positive definite; None where
    there was none. plain: M is the identity, and W is Q itself.

    Cost where no column depends on others: one application of M, two Gram matrices and two products with a small matrix
    for each of Q and W. Otherwise three to six further block vectors are allocated.
    """

    def __init__(self, space: BlockWorkspace, *, plain: bool) -> None:
        self._space, self._plain = space, plain
        self._bounds = RankBounds.of(space.columns, space.dtype)
        self.columns = np.arange(space.columns)
        self.pivot = np.nan
        self.negative: float | None = None
        self._compiled: dict[tuple[str, ...], tuple[BlockProgram, ...]] = {}
        # Compiled here, as part of the setup; what dependent columns need, where it is used.
        _ = self._start, self.programs

    def __call__(self) -> np.ndarray:
        """Orthonormalize Q. Returns rho, shape (s, s), with zero rows for dependent columns; NaN if Y is not finite."""
        space, s = self._space, self._space.columns
        measure = self.programs[0]
        measure()
        gram = space.matrices["G"]
        if not np.isfinite(gram).all():
            self.pivot = np.nan
            return np.full((s, s), np.nan)
        largest = float(np.sqrt(max(0.0, np.real(np.diag(gram))[self.columns].max(initial=0))))
        self._note_negative(gram, self.columns, largest)
        found = pivoted(gram, self.columns, largest, self._bounds)
        self.pivot = found.pivot
        dependent = np.setdiff1d(self.columns, found.kept)
        if dependent.size:
            self._select("V", "Q", dependent)
        rho = self._orthonormal("Q", self._image, found)
        self.columns = np.sort(found.kept)
        while dependent.size:
            dependent, more = self._further(dependent, largest)
            rho = rho + more
        space.shown("rank = columns ≠ 0", self.columns.size)
        return space.shown("rho = L₂^H L₁^H", rho)

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Orthonormalize R = B - A X; returns C, shape (s, s), with R = Q C, and ||r_j||, shape (s,)."""
        matrices = self._space.matrices
        residual, normalized = self._start
        residual()
        sizes = np.sqrt(np.maximum(np.real(matrices["rr"]), 0))
        self.columns = np.flatnonzero(sizes)
        reciprocal = np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        matrices["reciprocal"] = self._space.shown("reciprocal = 1/‖rⱼ‖", reciprocal)
        normalized()
        return self._space.shown("C = rho diag(‖rⱼ‖)", self() * sizes), sizes

    @property
    def spanned(self) -> np.ndarray:
        """1 for the columns of Q that are not zero, else 0, shape (s,)."""
        return np.isin(np.arange(self._space.columns), self.columns).astype(float)

    @property
    def programs(self) -> tuple[BlockProgram, ...]:
        """The programs without dependent columns: measure Q after applying M, transform it, and measure it again."""
        return self._programs("Q", self._image)

    @property
    def _start(self) -> tuple[BlockProgram, ...]:
        return self._lines(RESIDUAL, NORMALIZED, reciprocal=small(1, self._space.columns))

    @property
    def _image(self) -> str:
        return "Q" if self._plain else "W"

    def _further(self, columns: np.ndarray, largest: float) -> tuple[np.ndarray, np.ndarray]:
        """Orthogonalize columns of Y, in V, against Q, and accept those that are left.

        Returns the columns that still depend on others, and the additional part of rho.
        """
        matrices, z = self._space.matrices, "V" if self._plain else "Z"
        measure = self._programs("V", z)[0]
        project, accept = self._rare
        rho = np.zeros((self._space.columns,) * 2, matrices["G"].dtype)
        for _ in range(2):
            project()
            rho = rho + matrices["H"]
        measure()
        self._note_negative(matrices["G"], columns, largest)
        found = pivoted(matrices["G"], columns, largest, self._bounds)
        dependent = np.setdiff1d(columns, found.kept) if found.kept.size else np.empty(0, int)
        if dependent.size:
            self._select("U", "V", dependent)
        if found.kept.size:
            rho = rho + self._orthonormal("V", z, found)
            accept()
            self.columns = np.union1d(self.columns, found.kept)
        if dependent.size:
            self._select("V", "U", dependent)
        return dependent, rho

    def _note_negative(self, gram: np.ndarray, columns: np.ndarray, largest: float) -> None:
        """Keep an inner product below zero that rounding does not explain."""
        smallest = float(np.real(np.diag(gram))[columns].min(initial=0))
        if smallest < -self._bounds.zero * max(largest**2, -smallest):
            self.negative = smallest

    def _orthonormal(self, q: str, w: str, found: Factor) -> np.ndarray:
        """Q L^-H and W L^-H with the factor of the Gram matrix, and once more with the new one; returns rho."""
        space, s = self._space, self._space.columns
        _, transform, measure = self._programs(q, w)
        space.matrices["T"] = space.shown("T = L₁^-H of G = L₁ L₁^H", found.inverse(s))
        transform()
        measure()
        again = cholesky(space.matrices["G"], found.kept)
        if again is None:
            return np.full((s, s), np.nan)
        space.matrices["T"] = space.shown("T = L₂^-H of G = L₂ L₂^H", again.inverse(s))
        transform()
        return again.adjoint(s) @ found.adjoint(s)

    def _select(self, target: str, source: str, columns: np.ndarray) -> None:
        """target = the source with all but some columns zero."""
        row = np.zeros(self._space.columns)
        row[columns] = 1
        self._space.matrices["chosen"] = row
        self._lines(f"{target} = {source}*chosen", chosen=small(1, self._space.columns))[0]()

    @property
    def _rare(self) -> tuple[BlockProgram, ...]:
        """Project V on the complement of Q, and add V to Q."""
        accept = "Q = Q + V" if self._plain else "Q = Q + V\nW = W + Z"
        return self._lines(f"H = ({self._image}, V)\nV = V - Q@H", accept)

    def _programs(self, q: str, w: str) -> tuple[BlockProgram, ...]:
        """Measure Q after applying M, transform it, and measure it again."""
        product = "" if self._plain else f"{w} = M({q})\n"
        transform = f"{q} = {q}@T" if self._plain else f"{q} = {q}@T\n{w} = {w}@T"
        measure = f"G = ({q}, {w})"
        return self._lines(product + measure, transform, measure, T=small(*(self._space.columns,) * 2))

    def _lines(self, *texts: str, **matrices: Shape) -> tuple[BlockProgram, ...]:
        """The programs, compiled at their first use."""
        if texts not in self._compiled:
            self._compiled[texts] = self._space.lines(*texts, matrices=matrices)
        return self._compiled[texts]
