"""Right-hand sides that depend on one another, to see what block methods do with them."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError

RANK = 4
NEAR = 1e-10
DEPENDENCIES = ("independent", "equal in pairs", "nearly equal", "rank 4", "one zero")


def dependent_columns(size: int, s: int, dependency: str, seed: int = 0) -> np.ndarray:
    """B, shape (size, s), random. Raises InputError for an unknown dependency and for fewer than one column.

    equal in pairs: columns 0 and 1, 2 and 3, and so on; nearly equal: column 1 differs from column 0 by 1e-10; rank 4:
    all columns are combinations of four; one zero: the last column is.
    """
    if dependency not in DEPENDENCIES:
        raise InputError(f"right-hand sides cannot be {dependency}; choose one of {', '.join(DEPENDENCIES)}")
    if s < 1:
        raise InputError(f"a block needs at least one right-hand side, got {s}")
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((size, s))
    if dependency == "equal in pairs":
        B = B[:, np.arange(s) // 2]
    elif dependency == "nearly equal" and s > 1:
        B[:, 1] = B[:, 0] + NEAR * B[:, 1]
    elif dependency == "rank 4" and s > RANK:
        B = B[:, :RANK] @ rng.standard_normal((RANK, s))
    elif dependency == "one zero":
        B[:, -1] = 0
    return B
