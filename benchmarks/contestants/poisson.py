"""The 7-point matrix in NumPy only, since the Python of another library may have neither SciPy nor the workbench."""

from __future__ import annotations

import numpy as np


def poisson7_rows(n: int, low: int, high: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows [low, high) of problem poisson7 in CSR form: row starts and columns as int32, values as float64.

    Diagonal 6, couplings -1, unknown i = x + n*(y + n*z), columns sorted. Takes some 100 bytes a row on the way.
    """
    row = np.arange(low, high, dtype=np.int32)[:, None]
    offsets = np.array([-n * n, -n, -1, 0, 1, n, n * n], dtype=np.int32)
    x, y, z = row % n, row // n % n, row // (n * n)
    inside = np.hstack([z > 0, y > 0, x > 0, row >= 0, x < n - 1, y < n - 1, z < n - 1])
    columns = (row + offsets)[inside]
    values = np.broadcast_to(np.where(offsets == 0, 6.0, -1.0), inside.shape)[inside]
    starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))]).astype(np.int32)
    return starts, columns, values
