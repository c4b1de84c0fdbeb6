"""Boundaries between subdomains, as line segments."""

from __future__ import annotations

import dataclasses

import numpy as np

MAX_LINES = 32
"""Full-length lines drawn per direction; more would cover the image."""


@dataclasses.dataclass(frozen=True, eq=False)
class Boundaries:
    """Segments (x0, y0, x1, y1) in side lengths, shape (k, 4), with y = 0 at row 0.

    step: 1 if every boundary is included, m if only every m-th is.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.figures import boundaries
        >>> found = boundaries(np.array([[0, 0, 1, 1], [0, 0, 1, 1]]))
        >>> found.segments.tolist(), found.step
        ([[0.5, 0.0, 0.5, 1.0]], 1)
    """

    segments: np.ndarray
    step: int


def boundaries(labels: np.ndarray, most: int = MAX_LINES) -> Boundaries:
    """Boundaries between cells with different labels.

    labels: shape (ny, nx). most: full-length lines per direction above which boundaries are skipped. Cost: two passes
    over the labels.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.figures import boundaries
        >>> boundaries(np.arange(16).reshape(4, 4) // 8).segments.shape
        (1, 4)
    """
    across, step_across = _edges(labels, most)
    along, step_along = _edges(labels.T, most)
    segments = np.concatenate([across, along[:, [1, 0, 3, 2]]])
    return Boundaries(segments, max(step_across, step_along))


def _edges(labels: np.ndarray, most: int) -> tuple[np.ndarray, int]:
    """Horizontal segments between adjacent rows of the labels, contiguous ones merged, and the step."""
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
