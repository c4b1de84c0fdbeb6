"""The report of a block method after every iteration."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class BlockRow:
    """The state after the start, or after an iteration, by column of B.

    norms, shape (s,): ||r_j||. gamma, shape (s,): (r_j, M^-1 r_j), negative where M is not positive definite, and its
    modulus where products are not conjugated. preconditioned, shape (s,): ||M^-1 r_j||,
    where the workspace asks for all norms. rank: columns that the search directions span. pivot: the smallest over the
    largest pivot of the factorization that decided the rank, NaN without one. curvature: what a positive definite A
    makes positive: the smallest eigenvalue of P^H A P scaled to a unit diagonal, or the smallest (p_j, A p_j); 1 where
    a factorization succeeded. alpha, beta, shape (s,): those of CG, where the method has them for every column.
    breakdown: a sentence where the method cannot continue, else empty.
    """

    norms: np.ndarray
    gamma: np.ndarray
    rank: int
    pivot: float = np.nan
    preconditioned: np.ndarray | None = None
    curvature: float = 1.0
    alpha: np.ndarray | None = None
    beta: np.ndarray | None = None
    breakdown: str = ""
