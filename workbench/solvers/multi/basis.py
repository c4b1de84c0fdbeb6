"""A-orthonormal blocks of directions as combinations of terms, in small matrices on the host.

With all terms Z = (Z_0, Z_1, ..) in columns, a block is P_j = Z C_j. The lines of multipreconditioned CG act on C_j and
on the Gram matrix G = Z^H A Z:

    C = E - sum_j C_j (C_j^H G E), twice                P = Z - sum_j P_j (Q_j^H Z)
    C = C T,  T^H (C^H G C) T = I                       T: scaled Cholesky, or eigenvectors

where E is the newest columns of the identity, or their sum.

Source: Bridson and Greif 2006; Chen 2022, Algorithm 1, line 10.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from workbench.solvers.block.small import inverse_of

DEPENDENT, ROUNDING = 1e-9, 64
"""A direction p = Z c depends on others where (p, A p) is below the first times the sum of |c_i|^2 (z_i, A z_i), or
below the second in units of roundoff of the terms: rounding in A z leaves as much in G, and accepted directions are the
basis of later ones."""
NEGATIVE = 10
"""A is not positive definite where (p, A p), scaled like that, is below minus this times the bound of dependence."""


def above_rounding(bound: float, dtype: np.dtype) -> float:
    """The bound of an inner product with terms of this dtype, where rounding is below it, else that of rounding."""
    return max(bound, ROUNDING * float(np.finfo(dtype).eps))


@dataclasses.dataclass(frozen=True)
class Limits:
    """keep: blocks that a new one is made orthogonal to, 0 for all. restart: blocks after which all are dropped, 0 for
    never. tau: a bound of Spillane's test; below it an iteration takes a block, else the sum of its columns."""

    keep: int = 0
    restart: int = 0
    tau: float = np.inf


@dataclasses.dataclass(frozen=True)
class Step:
    """The record of an iteration. directions: columns of its block. dropped: those that depended on others.
    condition: of the scaled (P, A P) before it was orthonormalized. shares: the weight of each term in the step.
    seconds: wall-clock time of its parts, in s, by name; of an accelerator that of the host, which waits for the inner
    products alone."""

    directions: int
    dropped: int
    condition: float
    shares: np.ndarray
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)


class Orthonormal(NamedTuple):
    """T with orthonormal columns of P T, and the condition number of P's Gram matrix, scaled to a unit diagonal.

    downward: c with (P c, A P c) < 0 beyond rounding, in place of T; else None.
    """

    basis: np.ndarray
    condition: float
    downward: np.ndarray | None = None


class Basis:
    """The blocks C_j of terms that come `count` at a time. dtype: of the terms; small matrices are in double precision.

    downward: the terms' weights of a direction p with (p, A p) < 0, where the newest block has one, else None.
    """

    def __init__(self, count: int, limits: Limits, dtype: np.dtype) -> None:
        self.count, self._limits = count, limits
        self.gram = np.zeros((0, 0), np.result_type(dtype, np.float64))
        self._dependent = above_rounding(DEPENDENT, dtype)
        self.blocks: list[np.ndarray] = []
        self.downward: np.ndarray | None = None
        self._gain = np.inf
        self._dropped, self._condition = 0, np.nan

    def grow(self, columns: np.ndarray) -> None:
        """Add `count` terms. columns: (Z_i, A Z) of all terms i with the new ones, shape (m, count)."""
        before, size = self.gram.shape[0], columns.shape[0]
        grown = np.zeros((size, size), self.gram.dtype)
        grown[:before, :before] = self.gram
        grown[:, before:] = columns
        grown[before:] = grown[:, before:].conj().T
        newest = grown[before:, before:]
        grown[before:, before:] = (newest + newest.conj().T) / 2
        self.gram = grown

    def add_block(self, natural: float) -> int:
        """Make the newest terms a block. natural: (r, H r), H being their sum. Returns how many directions depend on
        others and were left out.

        Spillane's test compares ||P^H r||^2 of the last step with it; where that gained enough, the block is the sum
        of the terms alone.
        """
        size, count, limits = self.gram.shape[0], self.count, self._limits
        alone = bool(self.blocks) and self._gain >= limits.tau * natural
        block = np.zeros((size, 1 if alone else count), self.gram.dtype)
        block[size - count :] = 1 if alone else np.eye(count)
        nonzero = np.count_nonzero(np.diag(block.conj().T @ self.gram @ block))
        for _ in range(2):
            image = self.gram @ block
            for old in self.blocks[-limits.keep :] if limits.keep else self.blocks:
                rows = old.shape[0]
                block[:rows] -= old @ (old.conj().T @ image[:rows])
        parts = np.abs(np.diag(self.gram)) @ np.abs(block) ** 2
        found = orthonormal(block.conj().T @ self.gram @ block, parts, self._dependent)
        self.downward = None if found.downward is None else block @ found.downward
        self._condition, self._dropped = found.condition, nonzero - found.basis.shape[1]
        self.blocks.append(block @ found.basis)
        return self._dropped

    def step(self, inner: np.ndarray) -> tuple[np.ndarray, Step]:
        """The weights of all terms in the step, y = sum_j C_j C_j^H (Z^H r) over the blocks kept and the newest, and
        what the iteration did. inner: Z^H r, shape (m,).

        Old blocks are orthogonal to r up to rounding; with them the step also removes that (the clean-up).
        """
        newest, keep = self.blocks[-1], self._limits.keep
        coefficients = newest.conj().T @ inner
        self._gain = float(np.real(np.vdot(coefficients, coefficients)))
        weights = newest @ coefficients
        shares = weights[-self.count :].copy()
        for block in self.blocks[-keep - 1 : -1] if keep else self.blocks[:-1]:
            rows = block.shape[0]
            weights[:rows] += block @ (block.conj().T @ inner[:rows])
        return weights, Step(coefficients.size, self._dropped, self._condition, shares)


def orthonormal(gram: np.ndarray, parts: np.ndarray, dependent: float) -> Orthonormal:
    """T for directions with this Gram matrix. parts: of each, the sum of the squared A-norms of what it is made of.
    dependent: the bound of dependence.

    By Cholesky where all directions are independent, else by eigenvectors without those that are not.
    """
    used = np.flatnonzero(parts > 0)
    if not used.size or not np.isfinite(gram).all():
        return Orthonormal(np.zeros((parts.size, 0), gram.dtype), np.nan)
    d = np.sqrt(parts[used])
    scaled = gram[np.ix_(used, used)] / np.outer(d, d)
    scaled = (scaled + scaled.conj().T) / 2
    values, vectors = np.linalg.eigh(scaled)
    condition = _condition(scaled)
    basis = np.zeros((parts.size, used.size), gram.dtype)
    if values[0] < -NEGATIVE * dependent:
        # A single direction is left as it is.
        basis[used, 0] = vectors[:, 0] / d if parts.size > 1 else 1
        return Orthonormal(basis[:, :0], condition, basis[:, 0])
    kept = values > dependent
    if kept.all():
        basis[used] = inverse_of(np.linalg.cholesky(scaled)).conj().T / d[:, None]
        return Orthonormal(basis, condition)
    basis = basis[:, : np.count_nonzero(kept)]
    basis[used] = vectors[:, kept] / np.sqrt(values[kept]) / d[:, None]
    return Orthonormal(basis, condition)


def _condition(gram: np.ndarray) -> float:
    """The condition number of a Gram matrix scaled to a unit diagonal; inf where it is singular."""
    squares = np.real(np.diag(gram))
    if not (squares > 0).all():
        return np.inf
    values = np.linalg.eigvalsh(gram / np.sqrt(np.outer(squares, squares)))
    return float(values[-1] / values[0]) if values[0] > 0 else np.inf
