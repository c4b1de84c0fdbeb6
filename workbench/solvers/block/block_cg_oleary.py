"""Block conjugate gradients as first published."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from workbench.devices.programs.block_workspace import BlockWorkspace
from workbench.lines.types import small
from workbench.registry import register
from workbench.solvers.block.base import BlockRow, BlockSolver, Replacement, ResidualNorms
from workbench.solvers.block.small import cholesky, curvature_of, smallest_eigenvalue

ALPHA, BETA = "alpha = delta^-1 gamma", "beta = previous^-1 gamma"
"""The lines with an inverse."""


@register
@dataclasses.dataclass(frozen=True)
class BlockCGOLeary(BlockSolver):
    """Block CG with the recurrence of CG, its scalars s x s matrices, for Hermitian positive definite A and M.

    Breaks down where residuals or directions become dependent: it stops at the first Gram matrix without a Cholesky
    factor. `block-cg` continues there.

    Stores R, P, S and U in addition to B and X, each N x s. An iteration applies A and M to a block vector each, and
    makes two Gram matrices and three products with a small matrix, 10 N s^2 operations.

    Source: O'Leary 1980.
    """

    name: ClassVar[str] = "block-cg-oleary"
    title: ClassVar[str] = "block CG as first published (O'Leary)"

    initial: ClassVar[str] = """
        S = A(X)
        R = B - S
        U = M(R)
        gamma = (R, U)
        rr = dots(R, R)
        P = U
    """
    product: ClassVar[str] = """
        S = A(P)
        delta = (P, S)
    """
    update: ClassVar[str] = """
        X = X + P@step
        R = R - S@alpha
        U = M(R)
        gamma = (R, U)
        rr = dots(R, R)
    """
    directions: ClassVar[str] = """
        P = U + P@beta
    """

    def block_iterates(self, space: BlockWorkspace, frozen: np.ndarray) -> Iterator[BlockRow]:
        s = space.columns
        every, square = np.arange(s), small(s, s)
        renew = Replacement(self, space, self.update, frozen)
        texts = (self.initial, self.product, self.directions, *renew.texts)
        shapes = {"step": square, "alpha": square, "beta": square, **renew.shapes}
        initial, product, directions, *updates = space.lines(*texts, matrices=shapes)
        norms = ResidualNorms(space)

        def row() -> BlockRow:
            return norms.row(np.real(np.diag(space.matrices["gamma"])), s)

        def recurrence() -> Iterator[BlockRow]:
            matrices = space.matrices
            initial()
            yield row()
            while True:
                product()
                previous = space.shown("previous = gamma", matrices["gamma"])
                factor, of_previous = cholesky(matrices["delta"], every), cholesky(previous, every)
                if factor is None or of_previous is None:
                    space.ends_at(ALPHA if factor is None else BETA)
                    yield dataclasses.replace(row(), **_stuck(matrices["delta"], previous, every))
                    continue
                half = factor.inverse(s)
                alpha = space.shown(ALPHA, half @ (half.conj().T @ previous))
                matrices["alpha"] = alpha
                matrices["step"] = space.shown("step = alpha, 0 where ended", np.where(frozen, 0, alpha))
                renew(*updates)
                half = of_previous.inverse(s)
                beta = space.shown(BETA, half @ (half.conj().T @ matrices["gamma"]))
                matrices["beta"] = beta
                directions()
                single = {"alpha": np.real(alpha[0]), "beta": np.real(beta[0])} if s == 1 else {}
                pivot = min(factor.pivot, of_previous.pivot)
                yield dataclasses.replace(row(), pivot=pivot, **single)

        return recurrence()


def _stuck(delta: np.ndarray, gamma: np.ndarray, every: np.ndarray) -> dict[str, object]:
    """The reason why P^H A P or R^H M^-1 R has no Cholesky factor: an indefinite A or M, or dependent columns."""
    if every.size == 1:
        return {"curvature": curvature_of(delta, every, 1.0)}
    return {
        "curvature": smallest_eigenvalue(delta, every),
        "breakdown": "the residuals are dependent on one another; take block-cg, which continues there",
    }
