"""Preconditioned CG in dense algebra."""

from collections.abc import Iterator

import numpy as np


def textbook(
    A: np.ndarray, b: np.ndarray, x: np.ndarray, inverse: np.ndarray, *, steepest: bool = False
) -> Iterator[tuple[np.ndarray, float]]:
    """x and ||b - A x|| at the start and after each step (Saad 2003, Algorithm 9.1), or of steepest descent.

    inverse: M^-1 as a dense matrix.
    """
    r = b - A @ x
    z = inverse @ r
    p, gamma = z, np.vdot(r, z)
    while True:
        yield x, float(np.linalg.norm(r))
        s = A @ p
        alpha = gamma / np.vdot(p, s)
        x, r = x + alpha * p, r - alpha * s
        z = inverse @ r
        before, gamma = gamma, np.vdot(r, z)
        p = z if steepest else z + gamma / before * p
