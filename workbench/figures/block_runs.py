"""What the figures of runs with many right-hand sides share: the history, its products with A, and titles."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError
from workbench.recording import BlockHistory, Record

AXES = {"iterations": "iteration k", "products": "columns multiplied by A"}
"""What the x axis may count, and its label."""


def block_history(record: Record) -> BlockHistory:
    """The history by column. Raises InputError for a run with one right-hand side."""
    if not isinstance(record.history, BlockHistory):
        raise InputError("this figure needs a run with several right-hand sides; solve with --rhs random:16, say")
    return record.history


def places(history: BlockHistory, against: str) -> np.ndarray:
    """The x coordinate of every row, shape (count,). Raises InputError for an unknown axis."""
    if against not in AXES:
        raise InputError(f"a run cannot be drawn against {against}; choose {' or '.join(AXES)}")
    return np.arange(history.count) if against == "iterations" else products(history)


def products(history: BlockHistory) -> np.ndarray:
    """Columns multiplied by A in the iterations up to each row, shape (count,): k s where all are solved at once.

    An iteration multiplies every column of the present chunk; the first row of a chunk is its start, without one.
    """
    begun = np.isfinite(history.columns).sum(axis=1)
    starts = np.flatnonzero(np.diff(begun, prepend=0))
    made, before = np.zeros(history.count, int), 0
    for start in starts:
        made[start + 1 :] = begun[start] - before
        made[start] = 0
        before = begun[start]
    return np.cumsum(made)


def title_of(record: Record) -> str:
    """Problem, method and number of right-hand sides."""
    return f"{record.problem_label}, {record.label}, s = {block_history(record).columns.shape[1]}"
