"""Block conjugate gradients with orthonormal residuals and rank detection."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from workbench.devices.kernels.small import IN_ORTHONORMALIZATION
from workbench.devices.programs.block_workspace import BlockWorkspace, Repeats
from workbench.lines.types import small
from workbench.registry import register
from workbench.solvers.block.base import BlockRow, BlockSolver, is_plain
from workbench.solvers.block.orthonormal import Orthonormalization
from workbench.solvers.block.small import cholesky, curvature_of

KEPT = ("rr", "gamma", "spanned", "pivot")
"""Small matrices of each iteration that a device keeps for the host where it repeats iterations."""


@register
@dataclasses.dataclass(frozen=True)
class BlockCG(BlockSolver):
    """Block CG for A X = B, with one Krylov space for all columns, for Hermitian positive definite A and M.

    The residuals are R = Q C with Q^H M^-1 Q = I, and W = M^-1 Q. Where residuals become dependent the rank falls, and
    the method continues with fewer directions.

    Stores P, Q, S, and W unless M is the identity, in addition to B and X, each N x s. An iteration applies A and M to
    a block vector each, and makes four Gram matrices and seven products with a small matrix, 22 N s^2 operations;
    without M three and five.

    Source: Dubrulle 2001 (BCGrQ); Tichy, Meurant and Simonova 2025 (DR-BCG).
    """

    name: ClassVar[str] = "block-cg"
    title: ClassVar[str] = "block conjugate gradients (Dubrulle)"
    max_restarts: ClassVar[int] = 3

    # Up to a factor.
    residual: ClassVar[str] = "q"

    # [Q, W, C] = orthonormalize(B - A X) comes before, with unit columns.
    first: ClassVar[str] = """
        P = W
    """
    product: ClassVar[str] = """
        S = A(P)
        delta = (P, S)
    """
    # [Q, W, rho] = orthonormalize(Q) and C = rho C follow.
    update: ClassVar[str] = """
        X = X + P@step
        Q = Q - S@inverse
    """
    # Where R is recomputed, coupling = -inverse (S, W) keeps the directions conjugate to the last ones.
    renewal: ClassVar[str] = """
        X = X + P@step
    """
    conjugate: ClassVar[str] = """
        K = (S, W)
    """
    # coupling = rho^H
    directions: ClassVar[str] = """
        P = W + P@coupling
    """

    def block_iterates(self, space: BlockWorkspace, frozen: np.ndarray) -> Iterator[BlockRow]:
        if plain := is_plain(space):
            space.vectors["W"] = space.vector("Q")
        square = small(space.columns, space.columns)
        shapes = {"step": square, "inverse": square, "coupling": square}
        orthonormalize = Orthonormalization(space, plain=plain)
        texts = (self.first, self.product, self.update, self.renewal, self.conjugate, self.directions)
        first, product, update, renewal, conjugate, directions = space.lines(*texts, matrices=shapes)
        norms = Norms(space, plain=plain)

        def recurrence() -> Iterator[BlockRow]:
            matrices = space.matrices

            def keep(C: np.ndarray) -> None:
                # Where the next iteration finds them, be it that of a device.
                matrices["C"], matrices["spanned"] = C, orthonormalize.spanned

            C, norms.latest = orthonormalize.start()
            keep(C)
            first()
            yield norms.row(C, orthonormalize)
            for iteration in itertools.count(1):
                C, orthonormalize.columns = matrices["C"], np.flatnonzero(np.real(matrices["spanned"]))
                updated, space.halted = space.halted == IN_ORTHONORMALIZATION, 0
                if not updated:
                    product()
                    columns = orthonormalize.columns
                    factor = cholesky(matrices["delta"], columns)
                    if factor is None:
                        curvature = curvature_of(matrices["delta"], columns, float(np.abs(C[0, 0]) ** 2))
                        yield dataclasses.replace(norms.row(C, orthonormalize), curvature=curvature)
                        continue
                    half = factor.inverse(space.columns)
                    matrices["inverse"] = inverse = space.shown("inverse = delta^-1", half @ half.conj().T)
                    matrices["step"] = space.shown("step = delta^-1 C", np.where(frozen, 0, inverse @ C))
                inverse, before = matrices["inverse"], C
                if self.replaces(iteration):
                    renewal()
                    C, norms.latest = orthonormalize.start()
                    conjugate()
                    coupling = space.shown("coupling = -inverse K", -inverse @ matrices["K"])
                else:
                    if not updated:
                        update()
                    rho = orthonormalize()
                    C = space.shown("C = rho C", rho @ C)
                    coupling = space.shown("coupling = rho^H", rho.conj().T)
                matrices["coupling"], C = coupling, np.where(frozen, 0, C)
                keep(C)
                directions()
                row = norms.row(C, orthonormalize)
                # Of one column they are those of CG.
                single = {"alpha": np.real(inverse[0]), "beta": _ratio(C, before)} if space.columns == 1 else {}
                yield dataclasses.replace(row, **single)

        if space.device_matrices is not None and not self.replace and not space.all_norms:
            measure, transform, measure_again = orthonormalize.programs
            orthonormal = (measure, "pivoted", transform, measure_again, "again", transform)
            steps = (product, "factor", update, *orthonormal, directions, *norms.steps)
            space.repeats = Repeats(steps, KEPT, norms.kept_row)
        return recurrence()


def _ratio(C: np.ndarray, before: np.ndarray) -> np.ndarray:
    """|c|^2 of one column over that of the iteration before, shape (1,); 0 where that was 0."""
    square = np.abs(before[0]) ** 2
    return np.divide(np.abs(C[0]) ** 2, square, out=np.zeros_like(square), where=square > 0)


class Norms:
    """The norms of the columns of R = Q C with orthonormal Q. latest: those of the latest row, shape (s,).

    steps: those that a device repeats.
    """

    def __init__(self, space: BlockWorkspace, *, plain: bool) -> None:
        self._space, self._plain = space, plain
        self._squares = space.lines("F = (Q, Q)", "F = (W, W)")
        self.latest = np.zeros(space.columns)
        self.steps = ("own_norms",) if plain else (self._squares[0], "norms")

    def kept_row(self, kept: Mapping[str, np.ndarray]) -> BlockRow:
        """The row of an iteration that the device has repeated."""
        squares, gamma, spanned, pivot = (np.real(kept[name]) for name in KEPT)
        self.latest = np.sqrt(np.maximum(squares, 0))
        return BlockRow(self.latest, gamma, int(np.count_nonzero(spanned)), float(pivot[0]))

    def row(self, C: np.ndarray, basis: Orthonormalization) -> BlockRow:
        """The row of an iteration."""
        if basis.negative is not None:
            # Q lacks columns that belong to R, so that its norms are unknown.
            gamma = np.full(self.latest.size, basis.negative)
            return BlockRow(self.latest, gamma, basis.columns.size, basis.pivot)
        gamma = (np.abs(C) ** 2).sum(axis=0)
        self.latest = np.sqrt(gamma) if self._plain else self._of(0, C)
        preconditioned = (np.sqrt(gamma) if self._plain else self._of(1, C)) if self._space.all_norms else None
        return BlockRow(self.latest, gamma, basis.columns.size, basis.pivot, preconditioned)

    def _of(self, which: int, C: np.ndarray) -> np.ndarray:
        """||Q c_j||, or ||W c_j||."""
        self._squares[which]()
        return np.sqrt(np.maximum(np.einsum("kj,kl,lj->j", C.conj(), self._space.matrices["F"], C).real, 0))
