"""Pseudo-block methods: a recurrence of its own for every right-hand side, with one product for all."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from workbench.arrays.scaling import in_range
from workbench.devices.programs.block_workspace import BlockWorkspace, Repeats
from workbench.lines.types import small
from workbench.registry import register
from workbench.solvers.block.base import BlockRow, BlockSolver, Replacement, ResidualNorms

VANISHING = 64
"""Units of roundoff, of the precision of the vectors, below which a product over the lengths of its vectors counts as
zero: one of the two is a product with A or M, rounded to that precision."""
FACTOR, RESCALED = {4: 2.0**42, 8: 2.0**340}, 3
"""By the bytes of a real number: the factor by which a vector is scaled whose squared length is out of range; and how
often at most, so that squares of all numbers come into range."""
KEPT = ("rr", "gamma", "delta", "going", "alpha", "beta")
"""Small matrices of each iteration that a device keeps for the host where it repeats iterations."""


@register
@dataclasses.dataclass(frozen=True)
class PseudoBlockCG(BlockSolver):
    """CG for every column of A X = B, for Hermitian positive definite A and M: s recurrences that share the matrix.

    The iterates are those of CG; only the matrix is read once for all columns.

    Stores R, P, S and U in addition to B and X, each N x s. An iteration applies A and M to a block vector each, and
    makes 12 N s operations.

    Source: Tali and Vainikko, Block Conjugate Gradient solver in OpenCL (undated), who call it block CG.
    """

    name: ClassVar[str] = "pseudo-block-cg"
    title: ClassVar[str] = "pseudo-block CG (s recurrences, one product)"
    max_restarts: ClassVar[int] = 3
    # An alpha of zero gives beta = 1, so after a breakdown the direction of delta is p - u.
    direction: ClassVar[str] = "p - u"

    initial: ClassVar[str] = """
        S = A(X)
        R = B - S
        U = M(R)
        gamma = dots(R, U)
        rr = dots(R, R)
        P = U
    """
    product: ClassVar[str] = """
        S = A(P)
        delta = dots(P, S)
    """
    update: ClassVar[str] = """
        R = R - S*alpha
        U = M(R)
        gamma = dots(R, U)
        rr = dots(R, R)
    """
    step: ClassVar[str] = "X = X + P*alpha\n"
    directions: ClassVar[str] = "P = U + P*beta"
    definite: ClassVar[bool] = True
    """Set where delta and gamma must be positive; else they need only differ from zero."""

    def block_iterates(self, space: BlockWorkspace, frozen: np.ndarray) -> Iterator[BlockRow]:
        shape = small(1, space.columns)
        # In a pass M(R) is made anew for less than U is written and read.
        remade = space.remakes("M") and not space.all_norms
        space.dropped = frozenset("U" if remade else "")
        directions = ("U = M(R)\n" if remade else "") + self.directions
        renew = Replacement(self, space, self.update, frozen, self.step)
        texts = (self.initial, self.product, self.step + directions, *renew.texts)
        # Where R is recomputed X comes first.
        texts += (directions,) if self.replace else ()
        shapes = {"alpha": shape, "beta": shape, **renew.shapes}
        initial, product, moves, *updates = space.lines(*texts, matrices=shapes)
        turns = updates.pop() if self.replace else moves
        norms = ResidualNorms(space)

        def recurrence() -> Iterator[BlockRow]:
            matrices = space.matrices
            initial()
            yield norms.row(self._gamma(space), space.columns)
            while True:
                product()
                delta, previous = matrices["delta"], space.shown("previous = gamma", matrices["gamma"])
                if self.definite:
                    delta, previous = np.real(delta), np.real(previous)
                done = frozen | (np.real(matrices["rr"]) == 0)
                curvature = self._curvature(space, ~done)
                alpha = np.divide(previous, delta, out=np.zeros_like(delta), where=~done & (delta != 0))
                if self.definite:
                    alpha = np.where(delta > 0, alpha, 0)
                matrices["alpha"] = space.shown("alpha = gamma/delta", alpha)
                renewed = renew(*updates)
                gamma = np.real(matrices["gamma"]) if self.definite else matrices["gamma"]
                beta = np.divide(gamma, previous, out=np.zeros_like(gamma), where=~done & (previous != 0))
                matrices["beta"] = space.shown("beta = gamma/previous", beta)
                (turns if renewed else moves)()
                row = norms.row(self._gamma(space), space.columns)
                yield dataclasses.replace(row, curvature=curvature, alpha=alpha, beta=beta)

        if space.device_matrices is not None and self.definite and not self.replace and not space.all_norms:
            space.repeats = Repeats((product, "lengths", updates[0], "ratios", moves), KEPT, self._kept_row)
        return recurrence()

    @staticmethod
    def _kept_row(kept: Mapping[str, np.ndarray]) -> BlockRow:
        """The row of an iteration that the device has repeated."""
        values = {name: np.real(value) for name, value in kept.items()}
        norms, going = np.sqrt(np.maximum(values["rr"], 0)), values["going"] != 0
        curvature = float(values["delta"][going].min()) if going.any() else 1.0
        of = {"curvature": curvature, "alpha": values["alpha"], "beta": values["beta"]}
        return BlockRow(norms, values["gamma"], norms.size, **of)

    def _curvature(self, space: BlockWorkspace, going: np.ndarray) -> float:
        """The smallest (p, A p) of the columns that continue, which must be positive; 1 for no columns."""
        values = np.real(space.matrices["delta"])[going]
        return float(values.min(initial=np.inf)) if values.size else 1.0

    def _gamma(self, space: BlockWorkspace) -> np.ndarray:
        """gamma as in `BlockRow`."""
        return np.real(space.matrices["gamma"])


@register
@dataclasses.dataclass(frozen=True)
class COCG(PseudoBlockCG):
    """Conjugate orthogonal CG for complex symmetric A and M, A = A^T: CG with products that are not conjugated.

    For several right-hand sides s recurrences share the matrix. Costs as `pseudo-block-cg`. The residual norms need not
    fall, and (conj(p), A p) can be zero without p being zero, which is a breakdown.

    Source: van der Vorst and Melissen 1990.
    """

    name: ClassVar[str] = "cocg"
    title: ClassVar[str] = "COCG, for complex symmetric A (van der Vorst, Melissen)"
    max_restarts: ClassVar[int] = 0
    definite: ClassVar[bool] = False
    complex_symmetric: ClassVar[bool] = True

    initial: ClassVar[str] = """
        S = A(X)
        R = B - S
        U = M(R)
        Rbar = conj(R)
        gamma = dots(Rbar, U)
        rr = dots(R, R)
        uu = dots(U, U)
        P = U
    """
    product: ClassVar[str] = """
        S = A(P)
        Pbar = conj(P)
        delta = dots(Pbar, S)
        pp = dots(P, P)
        ss = dots(S, S)
    """
    update: ClassVar[str] = """
        R = R - S*alpha
        U = M(R)
        Rbar = conj(R)
        gamma = dots(Rbar, U)
        rr = dots(R, R)
        uu = dots(U, U)
    """

    def _curvature(self, space: BlockWorkspace, going: np.ndarray) -> float:
        sizes = not_vanished(space, "delta", {"pp": "P", "ss": "S"})[going]
        return float(sizes.min(initial=np.inf)) if sizes.size else 1.0

    def _gamma(self, space: BlockWorkspace) -> np.ndarray:
        return not_vanished(space, "gamma", {"rr": "R", "uu": "U"})


def vanishing(dtype: np.dtype) -> float:
    """A product counts as zero below this times the lengths of its vectors, of this dtype."""
    return VANISHING * float(np.finfo(dtype).eps)


def not_vanished(space: BlockWorkspace, products: str, vectors: Mapping[str, str]) -> np.ndarray:
    """The moduli of products that are not conjugated, and 0 for those that rounding alone may have made.

    vectors: the two block vectors of the products, by the name of their squared lengths.
    """
    sizes = np.abs(space.matrices[products])
    one, other = (lengths(space, squares, vector, sizes > 0) for squares, vector in vectors.items())
    return np.where(sizes / np.where(one > 0, one, 1) > vanishing(space.dtype) * other, sizes, 0)


def lengths(space: BlockWorkspace, squares: str, vector: str, wanted: np.ndarray) -> np.ndarray:
    """The lengths of the columns of a block vector, shape (s,), from their squares.

    wanted: bool, shape (s,), columns that are not zero. Where squares of those are out of range, as with an A of
    entries below 1e-150, they are made again of the vector times powers of 2: a pass for each of at most three. A U
    that is in no memory is made of R.
    """
    found, factors = np.real(space.matrices[squares]).copy(), np.ones(space.columns)
    by = FACTOR[np.finfo(space.dtype).dtype.itemsize]
    for _ in range(RESCALED):
        wrong = wanted & ~in_range(found, space.dtype)
        if not wrong.any():
            break
        factors[wrong] *= np.where(found[wrong] < 1, by, 1 / by)
        made = "U = M(R)\n" if vector in space.dropped else ""
        shape = {"factors": small(1, space.columns)}
        (scaled,) = space.lines(f"{made}V = {vector}*factors\nvv = dots(V, V)", matrices=shape)
        space.matrices["factors"] = factors
        scaled()
        found = np.where(wrong, np.real(space.matrices["vv"]), found)
    return np.sqrt(found) / factors
