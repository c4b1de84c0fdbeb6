"""The search directions of multipreconditioned CG: A-orthonormal blocks P_0, P_1, .. that are never formed.

Each block is a combination of the terms Z_0 = [S_1 r_0 | .. | S_k r_0], Z_1, .. of all iterations, P_j = (Z_0, .., Z_j)
C_j. The terms are zero outside their pieces and are stored there alone; C is small and in host memory, and so is the
Gram matrix G of all terms in the inner product of A. The paper's lines act on C:

    Z = [S_1 r | .. | S_k r];  G gains (Z_i, A Z) for all i
    C_new = E - sum_j C_j (C_j^H G E), twice            P = Z - sum_j P_j (Q_j^H Z)
    C_new = C_new T,  T^H (C_new^H G C_new) T = I       T: scaled Cholesky, or eigenvectors
    d = sum_j Z_j y_j,  y = C C^H (Z^H r)               all blocks again: the clean-up

with E the last columns of the identity, or of their sum. So an iteration reads each old term twice, N words and the
overlaps, where block vectors of k columns would cost k^2 N multiply-adds per old block.

Source: Bridson and Greif 2006; Chen, Algorithm 3, line 10; adaptive choice: Spillane 2016.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from workbench.devices.operator_protocols import DeviceVector, Dots
from workbench.devices.pieces import ROWS_AT_ONCE, Couplings, colours
from workbench.errors import InputError
from workbench.solvers.block.small import basis_of, cholesky

MOST_COLUMNS = 4096
"""Columns of all terms; their Gram matrix then takes 134 MB."""
INDEFINITE = 1e-12
"""(z, r) of a term counts as negative below minus this times the largest of an iteration."""
NEGATIVE = 1e-8
"""A is not positive definite where a scaled (P, A P) has an eigenvalue below minus this."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """keep: blocks that a new one is made orthogonal to, 0 for all. restart: blocks after which all are dropped, 0 for
    never. tau: a bound of Spillane's test; below it an iteration takes a block, else the sum of its columns."""

    keep: int = 0
    restart: int = 0
    tau: float = np.inf


@dataclasses.dataclass(frozen=True)
class Step:
    """What an iteration did. directions: columns of its block. dropped: those that depended on others.
    condition: of the scaled (P, A P) before it was orthonormalized. shares: the weight of each term in the step."""

    directions: int
    dropped: int
    condition: float
    shares: np.ndarray


class Terms:
    """The sum of several preconditioners, which leaves its terms for the next block of directions."""

    waits = True

    def __init__(self, several: Any, device: Any, dtype: np.dtype) -> None:
        self.several, self.dtype = several, np.dtype(dtype)
        self.traffic, self.flops = several.traffic, several.flops
        self._latest = several.zeros()
        self._dots = device.dots(dtype)

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = S_1 r + .. + S_k r, and dot products of r and u."""
        self.several.terms(r, self._latest)
        self.several.sum(self._latest, u)
        return self._dots.apply(r, u) if wanted else None

    def take(self) -> list[DeviceVector]:
        """The terms of the latest r, a local vector for each member; the next application makes others."""
        taken, self._latest = self._latest, self.several.zeros()
        return taken


class Directions:
    """The step d of x as an operator on r, d = sum over all blocks of P_j (P_j^H r), which first adds a block for r.

    source: the preconditioners, with their terms for the present r. product: A on the device. room: bytes that terms
    may take, None for no bound; when they are used up, or there are `MOST_COLUMNS`, all blocks are dropped. notes:
    gains sentences on that and on what else was not as expected.
    """

    waits = True

    def __init__(
        self, source: Terms, product: Any, device: Any, limits: Limits, room: int | None, notes: list[str]
    ) -> None:
        several, dtype = source.several, source.dtype
        self._source, self._product, self._device, self._limits = source, product, device, limits
        self._several, self._notes = several, notes
        self.steps: list[Step] = []
        """What each iteration did."""
        members = several.members
        counts = [member.vectors.pieces.count for member in members]
        self.count = sum(counts)
        """The number of preconditioners."""
        size = members[0].vectors.pieces.size
        self._begins = np.cumsum([0, *counts])
        most = MOST_COLUMNS // self.count
        if room is not None:
            most = min(most, room // several.local_bytes - 1)
        if most < 1:
            raise InputError(
                f"the {self.count} search directions of one iteration do not fit the memory: they take "
                f"{2 * several.local_bytes / 1e6:.4g} MB; take fewer boxes, or a smaller overlap"
            )
        self._most = most
        reach = _reach(members, size, getattr(product, "local", True))
        panel = colours(reach)
        self._colours = [np.flatnonzero(panel == colour) for colour in range(panel.max() + 1)]
        self._panel = members[0].vectors.panel(len(self._colours) + 1)
        self._couplings = [Couplings(member.vectors.pieces, reach, panel) for member in members]
        self._products = [
            member.vectors.products(found) for member, found in zip(members, self._couplings, strict=True)
        ]
        self._work = device.zeros(size, dtype)
        self._wide = np.result_type(dtype, np.float64)
        self._dots = device.dots(dtype)
        self._bytes = size * np.dtype(dtype).itemsize
        self._restart_now()

    def _restart_now(self) -> None:
        """Drop all blocks."""
        self._terms: list[list[DeviceVector]] = []
        self._gram = np.zeros((0, 0), self._wide)
        self._blocks: list[np.ndarray] = []
        self._energy = np.inf

    def _say(self, note: str) -> None:
        """Add a note, once."""
        if note not in self._notes:
            self._notes.append(note)

    def apply(self, r: DeviceVector, d: DeviceVector, /, *wanted: str) -> Dots:
        """d = the step for r, and dot products of r and d. The terms of r are those of `source`."""
        limit = self._limits.restart
        if limit and len(self._blocks) >= limit:
            self._restart_now()
        if len(self._terms) >= self._most:
            self._restart_now()
            self._say(f"memory holds the directions of {self._most} iterations; they are dropped after as many")
        self._terms.append(self._source.take())
        inner = self._inner_products(r)
        self._add_block(inner[-self.count :])
        self._combine(self._weights(inner), d)
        return self._dots.apply(r, d) if wanted else None

    @property
    def traffic(self) -> int:
        """Bytes of one application, with the terms that there are now; the products with A are not counted."""
        terms = max(1, len(self._terms))
        return 2 * terms * self._several.local_bytes + (2 * len(self._colours) + 3) * self._bytes

    @property
    def flops(self) -> int:
        words = self._several.local_bytes // self._source.dtype.itemsize
        return 8 * max(1, len(self._terms)) * words + len(self._colours) * self._product.flops

    def _inner_products(self, r: DeviceVector) -> np.ndarray:
        """(z, r) for all terms, shape (m,); the Gram matrix gains the newest ones."""
        self._multiply(r)
        columns = self.count
        found = np.zeros((len(self._terms) * columns, columns + 1), self._wide)
        for place, couplings in enumerate(self._couplings):
            rows = self._begins[place] + couplings.pairs[:, 0]
            for first in range(0, len(self._terms), ROWS_AT_ONCE):
                group = self._terms[first : first + ROWS_AT_ONCE]
                values = self._products[place]([terms[place] for terms in group], self._panel)
                for k in range(len(group)):
                    found[(first + k) * columns + rows, couplings.pairs[:, 1]] = values[:, k]
        gram, before = found[:, :-1], self._gram.shape[0]
        grown = np.zeros((before + columns, before + columns), self._wide)
        grown[:before, :before] = self._gram
        grown[:, before:] = gram
        grown[before:, :before] = gram[:before].conj().T
        # Rounding leaves the newest part Hermitian only to its own size.
        grown[before:, before:] = (gram[before:] + gram[before:].conj().T) / 2
        self._gram = grown
        return found[:, -1]

    def _multiply(self, r: DeviceVector) -> None:
        """A times the newest terms, those of one colour in one vector, and r behind them."""
        terms, weights = self._terms[-1], np.zeros((1, self.count))
        for colour, columns in enumerate(self._colours):
            weights[:] = 0
            weights[:, columns] = 1
            self._sum([terms], weights, self._work)
            self._product.apply(self._work, self._panel[colour])
        self._device.assign(self._panel[-1], r)

    def _add_block(self, newest: np.ndarray) -> None:
        """Make the newest terms a block that is A-orthonormal to itself and to those kept. newest: (z, r) of them."""
        size, count = self._gram.shape[0], self.count
        largest = np.abs(newest).max()
        for name, value in zip(self._several.names, newest, strict=True):
            if np.real(value) < -INDEFINITE * largest:
                self._say(f"preconditioner {name} is not positive definite: (r, M^-1 r) is negative")
        # Spillane's test compares the energy of the last step with that of the sum.
        alone = self._blocks and self._energy >= self._limits.tau * np.real(newest.sum())
        block = np.zeros((size, 1 if alone else count), self._wide)
        block[size - count :] = 1 if alone else np.eye(count)
        kept = self._kept()
        for _ in range(2):
            image = self._gram @ block
            for old in kept:
                rows = old.shape[0]
                block[:rows] -= old @ (old.conj().T @ image[:rows])
        gram = block.conj().T @ self._gram @ block
        gram = (gram + gram.conj().T) / 2
        nonzero = np.flatnonzero(np.real(np.diag(gram)) != 0)
        factor = cholesky(gram, nonzero)
        basis, rank = (factor.inverse(gram.shape[0])[:, nonzero], nonzero.size) if factor else basis_of(gram)
        self._dropped = nonzero.size - rank
        if self._dropped:
            self._say("search directions that depend on others were dropped")
        self._condition = _condition(gram)
        negative = None if factor else _negative_direction(gram)
        self._downward = None if negative is None else block @ negative
        self._blocks.append(block @ basis[:, :rank])

    def _kept(self) -> list[np.ndarray]:
        """The blocks that a new one is made orthogonal to."""
        return self._blocks[-self._limits.keep :] if self._limits.keep else self._blocks

    def _weights(self, inner: np.ndarray) -> np.ndarray:
        """y = C C^H (Z^H r) over the blocks kept and the newest, shape (m,).

        Where A is not positive definite, those of a direction p with (p, A p) < 0, which ends the run.
        """
        keep = self._limits.keep
        if self._downward is not None:
            return self._downward
        newest = self._blocks[-1]
        step = newest.conj().T @ inner
        self._energy = float(np.real(np.vdot(step, step)))
        weights = newest @ step
        shares = weights[-self.count :].copy()
        for block in self._blocks[-keep - 1 : -1] if keep else self._blocks[:-1]:
            rows = block.shape[0]
            weights[:rows] += block @ (block.conj().T @ inner[:rows])
        self.steps.append(Step(step.size, self._dropped, self._condition, shares))
        return weights

    def _combine(self, weights: np.ndarray, d: DeviceVector) -> None:
        """d = the sum of all terms times their weights."""
        rows = weights.reshape(len(self._terms), self.count)
        for first in range(0, len(self._terms), ROWS_AT_ONCE):
            group = slice(first, first + ROWS_AT_ONCE)
            self._sum(self._terms[group], rows[group], d, add=first > 0)

    def _sum(
        self, terms: Sequence[list[DeviceVector]], weights: np.ndarray, target: DeviceVector, *, add: bool = False
    ) -> None:
        """target = the sum of terms of at most `ROWS_AT_ONCE` iterations times their weights; plus target if add."""
        for place, member in enumerate(self._several.members):
            own = weights[:, self._begins[place] : self._begins[place + 1]]
            member.vectors.combine([each[place] for each in terms], own, target, add=add or place > 0)


def _reach(members: Sequence[Any], size: int, local: bool) -> sparse.csc_array:
    """Where A times each term may be nonzero, an N x k matrix of ones. local: A couples neighbours alone."""
    parts = [
        sparse.csc_array(np.ones((size, member.vectors.pieces.count), np.int32))
        if member.reach is None or not local
        else member.reach
        for member in members
    ]
    joined = sparse.csc_array(sparse.hstack(parts, format="csc"))
    joined.data[:] = 1
    joined.sort_indices()
    return joined


def _condition(gram: np.ndarray) -> float:
    """The condition number of a Gram matrix scaled to a unit diagonal; inf where it is singular."""
    d = np.sqrt(np.maximum(np.real(np.diag(gram)), 0))
    if not (d > 0).all() or not np.isfinite(gram).all():
        return np.inf
    values = np.linalg.eigvalsh(gram / np.outer(d, d))
    return float(values[-1] / values[0]) if values[0] > 0 else np.inf


def _negative_direction(gram: np.ndarray) -> np.ndarray | None:
    """The combination of columns with the most negative (p, A p), scaled; None where there is none beyond rounding."""
    d = np.sqrt(np.abs(np.real(np.diag(gram))))
    used = np.flatnonzero(d > 0)
    if not used.size or not np.isfinite(gram).all():
        return None
    values, vectors = np.linalg.eigh(gram[np.ix_(used, used)] / np.outer(d[used], d[used]))
    if values[0] >= -NEGATIVE:
        return None
    found = np.zeros(d.size, gram.dtype)
    # Of one column it is that column itself.
    found[used] = vectors[:, 0] / d[used] * (d[used[0]] if d.size == 1 else 1)
    return found
