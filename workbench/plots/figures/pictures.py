"""Pictures as arrays: the sparsity pattern of a matrix in pixels, and boundaries of subdomains as line segments."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.lazy import sparse

CHUNK = 1 << 22


def pattern_counts(matrix: sparse.csr_array, pixels: int = 256, every: int = 1) -> np.ndarray:
    """Entries per pixel of an image of at most pixels x pixels, row 0 at the top.

    every: count only every such row, as a sample of a large matrix; those rows are copied. Cost: one pass over the
    indices of the rows counted.

    Examples:
        >>> from scipy import sparse
        >>> from workbench.plots.figures import pattern_counts
        >>> pattern_counts(sparse.csr_array(sparse.eye_array(8)), pixels=2).tolist()
        [[4, 0], [0, 4]]
    """
    size = matrix.shape[0]
    side = min(size, pixels)
    counts = np.zeros(side * side, dtype=np.int64)
    counted = matrix if every == 1 else matrix[::every]
    # In chunks, to avoid 64-bit copies of all indices of a large matrix.
    for first in range(0, counted.nnz, CHUNK):
        columns = counted.indices[first : first + CHUNK].astype(np.int64)
        rows = np.searchsorted(counted.indptr, np.arange(first, first + columns.size), side="right") - 1
        places = rows * every * side // size * side + columns * side // size
        counts += np.bincount(places, minlength=side * side)
    return counts.reshape(side, side)


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
