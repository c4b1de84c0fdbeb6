"""Block COCG with orthonormal residuals."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from workbench.devices.programs.block_workspace import BlockWorkspace
from workbench.lines.types import small
from workbench.registry import register
from workbench.solvers.block.base import BlockRow, BlockSolver, is_plain
from workbench.solvers.block.orthonormal import Orthonormalization
from workbench.solvers.block.pseudo_block_cg import lengths, vanishing

SINGULAR = "P^T A P is singular, though the directions do not depend on one another; start from another x0"
SINGULAR_RESIDUALS = "Q^T M^-1 Q is singular, though the residuals do not depend on one another; start from another x0"


@register
@dataclasses.dataclass(frozen=True)
class BlockCOCG(BlockSolver):
    """Block COCG for complex symmetric A and M, A = A^T, with one Krylov space for all columns.

    The residuals are R = Q C with Q^H Q = I; the other products are not conjugated. The residual norms need not fall,
    and P^T A P can be singular without dependent residuals, which is a breakdown.

    Stores P, Q, S, and W = M^-1 Q unless M is the identity, in addition to B and X, each N x s. An iteration applies A
    and M to a block vector each, and makes four Gram matrices and five products with a small matrix, 18 N s^2
    operations, each four times a real one.

    Source: van der Vorst and Melissen 1990, for blocks with the QR factorization of Dubrulle 2001.
    """

    name: ClassVar[str] = "block-cocg"
    title: ClassVar[str] = "block COCG, for complex symmetric A"
    complex_symmetric: ClassVar[bool] = True

    # Up to a factor.
    residual: ClassVar[str] = "q"

    # [Q, C] = qr(B - A X) comes before, with unit columns.
    preconditioned: ClassVar[str] = """
        W = M(Q)
    """
    products: ClassVar[str] = """
        Qbar = conj(Q)
        g = (Qbar, W)
        ww = dots(W, W)
    """
    first: ClassVar[str] = """
        P = W
    """
    product: ClassVar[str] = """
        S = A(P)
        Pbar = conj(P)
        delta = (Pbar, S)
        pp = dots(P, P)
        ss = dots(S, S)
    """
    # [Q, rho] = qr(Q), C = rho C and a new g follow.
    update: ClassVar[str] = """
        X = X + P@step
        Q = Q - S@alpha
    """
    # Where R is recomputed, beta = -delta^-1 k keeps the directions conjugate to the last ones.
    renewal: ClassVar[str] = """
        X = X + P@step
    """
    conjugate: ClassVar[str] = """
        Sbar = conj(S)
        k = (Sbar, W)
    """
    # beta = previous^-1 rho^T g
    directions: ClassVar[str] = """
        P = W + P@beta
    """

    def block_iterates(self, space: BlockWorkspace, frozen: np.ndarray) -> Iterator[BlockRow]:
        s = space.columns
        products_text = self.preconditioned + self.products
        if is_plain(space):
            space.vectors["W"], products_text = space.vector("Q"), self.products
        orthonormalize = Orthonormalization(space, plain=True)
        texts = (products_text, self.first, self.product, self.update, self.renewal, self.conjugate, self.directions)
        square = small(s, s)
        shapes = {"step": square, "alpha": square, "beta": square}
        products, first, product, update, renewal, conjugate, directions = space.lines(*texts, matrices=shapes)

        def recurrence() -> Iterator[BlockRow]:
            matrices, zero = space.matrices, vanishing(space.dtype)
            C, _ = orthonormalize.start()
            products()
            first()
            yield _row(C, orthonormalize)
            for iteration in itertools.count(1):
                product()
                columns, previous = orthonormalize.columns, space.shown("previous = g", matrices["g"])
                active = np.isin(np.arange(s), columns)
                lengths_of_w = lengths(space, "ww", "W", active)
                of_products = lengths(space, "pp", "P", active), lengths(space, "ss", "S", active)
                alpha = solved(matrices["delta"], previous, columns, columns, of_products, zero)
                if alpha is None:
                    yield dataclasses.replace(_row(C, orthonormalize), breakdown=SINGULAR)
                    continue
                matrices["alpha"] = space.shown("alpha = delta^-1 g", alpha)
                matrices["step"] = space.shown("step = alpha C", np.where(frozen, 0, alpha @ C))
                before = C
                if self.replaces(iteration):
                    renewal()
                    C, _ = orthonormalize.start()
                    products()
                    conjugate()
                    beta = solved(matrices["delta"], -matrices["k"], columns, orthonormalize.columns, of_products, zero)
                    formula = "beta = -delta^-1 k"
                else:
                    update()
                    rho = orthonormalize()
                    C = space.shown("C = rho C", rho @ C)
                    products()
                    right, of_products = rho.T @ matrices["g"], (np.ones(s), lengths_of_w)
                    beta = solved(previous, right, columns, orthonormalize.columns, of_products, zero)
                    formula = "beta = previous^-1 rho^T g"
                C = np.where(frozen, 0, C)
                if beta is None:
                    yield dataclasses.replace(_row(C, orthonormalize), breakdown=SINGULAR_RESIDUALS)
                    continue
                matrices["beta"] = space.shown(formula, beta)
                directions()
                single = {"alpha": np.real(alpha[0]), "beta": np.real(C[0] / before[0] * beta[0])} if s == 1 else {}
                yield dataclasses.replace(_row(C, orthonormalize), **single)

        return recurrence()


def solved(
    matrix: np.ndarray,
    right: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    vectors: tuple[np.ndarray, np.ndarray],
    zero: float,
) -> np.ndarray | None:
    """matrix^-1 right among some rows and columns, zero elsewhere; None for a matrix singular to rounding.

    vectors: the lengths of the vectors whose products are the entries, by row and by column. zero: the bound of a
    singular value that counts as zero, of entries over these.
    """
    made = np.zeros(matrix.shape, matrix.dtype)
    chosen = np.ix_(rows, rows)
    if not rows.size:
        return made
    of_rows, of_columns = vectors
    cosines = matrix[chosen] / of_rows[rows, None] / of_columns[rows]
    if not np.linalg.svd(cosines, compute_uv=False).min() > zero:
        return None
    made[np.ix_(rows, columns)] = np.linalg.solve(matrix[chosen], right[np.ix_(rows, columns)])
    return made


def _row(C: np.ndarray, basis: Orthonormalization) -> BlockRow:
    norms = np.sqrt((np.abs(C) ** 2).sum(axis=0))
    return BlockRow(norms, norms**2, basis.columns.size, basis.pivot)
