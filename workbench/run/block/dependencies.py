"""Which right-hand sides are combinations of others."""

from __future__ import annotations

import numpy as np

DEPENDENT = 1e-10
"""A column depends on others where the square of its part orthogonal to them is below this, relative to its own."""
TAKES_PART = 1e-6
"""Share of a column in a combination below which it is not named."""


def dependencies(B: np.ndarray) -> dict[int, list[int]]:
    """The columns of B, shape (N, s), that are combinations of earlier ones, and those that each is a combination of.

    Zero columns are left out. Cost: a Gram matrix in double precision, 2 N s^2 operations on the host.
    """
    gram = B.conj().T @ B.astype(np.result_type(B.dtype, np.float64), copy=False)
    lengths = np.sqrt(np.maximum(np.real(gram.diagonal()), 0))
    used = np.flatnonzero(lengths > 0)
    gram = gram / np.where(lengths > 0, lengths, 1)[:, None] / np.where(lengths > 0, lengths, 1)
    kept: list[int] = []
    found: dict[int, list[int]] = {}
    for j in used:
        coefficients = np.linalg.solve(gram[np.ix_(kept, kept)], gram[kept, j]) if kept else np.empty(0)
        if kept and np.real(1 - np.vdot(gram[kept, j], coefficients)) < DEPENDENT:
            found[int(j)] = [one for one, share in zip(kept, np.abs(coefficients), strict=True) if share > TAKES_PART]
        else:
            kept.append(int(j))
    return found


def sentence(B: np.ndarray, rank: int, first: int) -> str:
    """A note for B of a rank that is smaller than its number of columns. first: the number of its first column."""
    parts = [
        f"{first + j} on {', '.join(str(first + other) for other in others)}" for j, others in dependencies(B).items()
    ]
    which = f": {'; '.join(parts)}" if parts else ""
    return f"columns of B depend on one another, so the search directions have rank {rank}{which}"
