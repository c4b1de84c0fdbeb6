"""Where one subdomain ends and the next begins, as line segments over a picture of the cells."""

from __future__ import annotations

import dataclasses

import numpy as np

MOST = 32
"""Lines from side to side drawn per direction: closer ones would paint the picture over."""


@dataclasses.dataclass(frozen=True, eq=False)
class Boundaries:
    """Segments (x0, y0, x1, y1) in side lengths, shape (k, 4), y = 0 at row 0.

    step: 1 where every boundary is there; m where they are too long together to be seen and only every m-th is.
    """

    segments: np.ndarray
    step: int


def boundaries(labels: np.ndarray, most: int = MOST) -> Boundaries:
    """The boundaries between cells of different labels, shape (ny, nx). Cost: two passes over the labels."""
    across, step_across = _edges(labels, most)
    along, step_along = _edges(labels.T, most)
    segments = np.concatenate([across, along[:, [1, 0, 3, 2]]])
    return Boundaries(segments, max(step_across, step_along))


def _edges(labels: np.ndarray, most: int) -> tuple[np.ndarray, int]:
    """Segments between row j - 1 and row j of the labels, neighbouring ones joined."""
    rows, columns = labels.shape
    differs = labels[1:] != labels[:-1]
    places = np.flatnonzero(differs.any(axis=1))
    step = max(1, -(-np.count_nonzero(differs) // (most * columns)))
    if step > 1:
        places = places[step - 1 :: step]
    parts = []
    for place in places:
        ends = np.flatnonzero(np.diff(differs[place].astype(np.int8), prepend=0, append=0))
        y = np.full(ends.size // 2, (place + 1) / rows)
        parts.append(np.column_stack([ends[::2] / columns, y, ends[1::2] / columns, y]))
    return np.concatenate(parts) if parts else np.empty((0, 4)), step
