"""Right-hand sides that are combinations of others."""

from __future__ import annotations

import numpy as np

DEPENDENT = 1e-5
"""A column depends on others where its part orthogonal to them is below this, relative to its own length."""
TAKES_PART = 1e-6
"""Share of a column in a combination below which it is not named."""


def dependencies(B: np.ndarray) -> dict[int, list[int]]:
    """The columns of B, shape (N, s), that are combinations of earlier ones, and those that each is a combination of.

    Zero columns are left out. Columns are made orthonormal one by one, since the Gram matrix of columns that are nearly
    dependent has lost what decides. Cost on the host: 4 N s^2 flops and 2 N s words in double precision.
    """
    # Their length may be more than a number can be.
    B = B / np.maximum(np.abs(B).max(axis=0, initial=0), np.finfo(B.dtype).tiny)
    lengths = np.linalg.norm(B, axis=0)
    orthonormal = np.empty(B.shape, np.result_type(B.dtype, np.float64), order="F")
    triangle = np.zeros((B.shape[1], B.shape[1]), orthonormal.dtype)
    kept: list[int] = []
    found: dict[int, list[int]] = {}
    for j in np.flatnonzero(lengths > 0):
        basis, rest = orthonormal[:, : len(kept)], B[:, j] / lengths[j]
        parts = np.zeros(len(kept), orthonormal.dtype)
        # Once more, since rounding leaves parts of the basis after the first time.
        for _ in range(2):
            along = basis.conj().T @ rest
            rest, parts = rest - basis @ along, parts + along
        length = np.linalg.norm(rest)
        if length < DEPENDENT:
            shares = np.abs(np.linalg.solve(triangle[: len(kept), : len(kept)], parts))
            found[int(j)] = [one for one, share in zip(kept, shares, strict=True) if share > TAKES_PART]
        else:
            triangle[: len(kept), len(kept)], triangle[len(kept), len(kept)] = parts, length
            orthonormal[:, len(kept)] = rest / length
            kept.append(int(j))
    return found


def sentence(B: np.ndarray, rank: int, first: int) -> str:
    """A note for B of a rank that is smaller than its number of columns. first: the index of its first column. Columns
    are counted from 1, as on the page."""
    named = {first + j + 1: [str(first + other + 1) for other in others] for j, others in dependencies(B).items()}
    parts = [f"{column} on {', '.join(others)}" for column, others in named.items()]
    which = f": {'; '.join(parts)}" if parts else ""
    return f"columns of B depend on one another, so the search directions have rank {rank}{which}"
