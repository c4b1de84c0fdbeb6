"""Breakdown-free block conjugate gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from workbench.devices.programs.block_workspace import BlockWorkspace
from workbench.lines.types import small
from workbench.registry import register
from workbench.solvers.block.base import BlockRow, BlockSolver, Replacement, ResidualNorms
from workbench.solvers.block.small import basis_of, cholesky, curvature_of


@register
@dataclasses.dataclass(frozen=True)
class BreakdownFreeBlockCG(BlockSolver):
    """Block CG whose directions are an orthonormal basis of what U + P beta spans, for definite A and M.

    The basis has fewer columns where residuals become dependent. What is left out of it stays in R as rounding error,
    so for systems whose right-hand sides depend on one another `block-cg` is more robust.

    Stores R, P, S and U in addition to B and X, each N x s. An iteration applies A and M to a block vector each, and
    makes four Gram matrices and four products with a small matrix, 16 N s^2 operations.

    Source: Ji and Li 2017, Algorithm 2.
    """

    name: ClassVar[str] = "bf-block-cg"
    title: ClassVar[str] = "breakdown-free block CG (Ji, Li)"
    max_restarts: ClassVar[int] = 3
    # Steps and directions are from products with P and A P, which hold for any M.
    accepts_unsymmetric_m: ClassVar[bool] = True

    initial: ClassVar[str] = """
        S = A(X)
        R = B - S
        U = M(R)
        P = U
        rr = dots(R, R)
        gamma = dots(R, U)
    """
    # P = orth(P), by the eigenvectors of G scaled to a unit diagonal
    measure: ClassVar[str] = """
        G = (P, P)
    """
    orthonormal: ClassVar[str] = """
        P = P@T
    """
    product: ClassVar[str] = """
        S = A(P)
        delta = (P, S)
        part = (P, R)
    """
    update: ClassVar[str] = """
        X = X + P@step
        R = R - S@alpha
        U = M(R)
        coupling = (S, U)
        rr = dots(R, R)
        gamma = dots(R, U)
    """
    directions: ClassVar[str] = """
        P = U + P@beta
    """

    def block_iterates(self, space: BlockWorkspace, frozen: np.ndarray) -> Iterator[BlockRow]:
        s = space.columns
        square = small(s, s)
        renew = Replacement(self, space, self.update, frozen)
        texts = (self.initial, self.measure, self.orthonormal, self.product, self.directions, *renew.texts)
        shapes = {"T": square, "step": square, "alpha": square, "beta": square, **renew.shapes}
        initial, measure, orthonormal, product, directions, *updates = space.lines(*texts, matrices=shapes)
        norms = ResidualNorms(space)

        def row(rank: int) -> BlockRow:
            return norms.row(np.real(space.matrices["gamma"]), rank)

        def recurrence() -> Iterator[BlockRow]:
            matrices = space.matrices
            initial()
            yield row(s)
            while True:
                measure()
                previous = matrices["gamma"]
                basis, rank = basis_of(matrices["G"], space.dtype)
                matrices["T"] = space.shown("T = V Λ^-1/2 of G = V Λ V^H, without the dependent", basis)
                space.shown("rank = columns of T", rank)
                orthonormal()
                product()
                columns = np.arange(rank)
                factor = cholesky(matrices["delta"], columns) if rank else None
                if factor is None:
                    square = float(np.real(matrices["G"][0, 0]))
                    curvature = curvature_of(matrices["delta"], columns, square) if rank else 1.0
                    yield dataclasses.replace(row(rank), curvature=curvature)
                    continue
                half = factor.inverse(s)
                inverse = half @ half.conj().T
                matrices["alpha"] = alpha = space.shown("alpha = delta^-1 part", inverse @ matrices["part"])
                matrices["step"] = space.shown("step = alpha, 0 where ended", np.where(frozen, 0, alpha))
                renew(*updates)
                matrices["beta"] = space.shown("beta = -delta^-1 coupling", -inverse @ matrices["coupling"])
                directions()
                yield dataclasses.replace(row(rank), pivot=factor.pivot, **self._single(matrices, previous, inverse))

        return recurrence()

    @staticmethod
    def _single(matrices: Mapping[str, np.ndarray], previous: np.ndarray, inverse: np.ndarray) -> dict[str, np.ndarray]:
        """alpha and beta of CG, for one column, whose direction has the norm sqrt(G) there and 1 here."""
        if previous.size > 1:
            return {}
        gamma, square = np.real(previous), matrices["G"][0].real
        return {"alpha": gamma * np.real(inverse[0]) / square, "beta": np.real(matrices["gamma"]) / gamma}
