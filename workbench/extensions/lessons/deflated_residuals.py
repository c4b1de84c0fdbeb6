"""Deflated CG on five bubbles in terms of eigenvectors: how much of u_k = M^-1 r_k is in each of them."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
from scipy import linalg

from workbench.extensions.lessons.bubbles import COUNT, five_bubbles
from workbench.spectra.convergence_estimates import nonzero

ITERATIONS = 8
"""Iterations of which the parts are kept."""


@dataclasses.dataclass(frozen=True, eq=False)
class Parts:
    """Eigenvectors of M^-1 P A, M-orthonormal, with M = D and N unknowns.

    values: ascending, shape (N,). zeros: how many of the first are zero up to rounding. shares: of iteration k in row
    k, |(v_i, M u_k)| / ||u_k||_M, shape (iterations + 1, N); the sum of their squares is one.
    """

    values: np.ndarray
    zeros: int
    shares: np.ndarray
    of_b: np.ndarray


@functools.lru_cache(maxsize=COUNT + 1)
def parts(count: int) -> Parts:
    """The parts of CG with vectors for the first `count` bubbles, from zero, as part 3 of lesson 5 has its lines.

    Cost: 20 N^3 operations, 0.2 s on a core, once for each.

    Examples:
        >>> from workbench.extensions.lessons.deflated_residuals import parts
        >>> parts(3).zeros
        4
    """
    bubbles = five_bubbles()
    A, D = bubbles.A, bubbles.A.diagonal()
    PA, Pb = A, bubbles.system.b
    if count:
        Z = bubbles.vectors(count)
        AZ = A @ Z
        E = Z.T @ AZ
        PA, Pb = A - AZ @ np.linalg.solve(E, AZ.T), Pb - AZ @ np.linalg.solve(E, Z.T @ Pb)
    root = 1 / np.sqrt(D)
    symmetric = root[:, None] * PA * root
    values, W = linalg.eigh((symmetric + symmetric.T) / 2)
    V = root[:, None] * W
    of_b, *shares = [np.abs(V.T @ r) / np.sqrt(r @ (r / D)) for r in (bubbles.system.b, *_residuals(PA, Pb, D))]
    return Parts(values, values.size - nonzero(values).size, np.array(shares), of_b)


def _residuals(A: np.ndarray, b: np.ndarray, D: np.ndarray) -> list[np.ndarray]:
    """r_0 to r_k of CG (Hestenes and Stiefel 1952) from zero with M = diag(D)."""
    r = b.copy()
    u = r / D
    p, gamma, found = u, r @ u, [r]
    for _ in range(ITERATIONS):
        s = A @ p
        alpha = gamma / (p @ s)
        r = r - alpha * s
        u = r / D
        before, gamma = gamma, r @ u
        p = u + gamma / before * p
        found.append(r)
    return found
