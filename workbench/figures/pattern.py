"""Sparsity pattern of a matrix."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from scipy import sparse

from workbench.figures.style import new_figure

ENTRIES = "entries per pixel"
CHUNK = 1 << 22


def pattern(counts: np.ndarray, size: int, *, title: str = "", width: float = 4.2) -> Figure:
    """Image of the sparsity pattern of a matrix with `size` rows, from its `pattern_counts`. width in inches."""
    figure = new_figure(width, 0.8 * width, square=True)
    axes = figure.add_subplot()
    shown = np.ma.masked_equal(counts, 0)
    norm = LogNorm(1, max(2, int(counts.max(initial=1))))
    image = axes.imshow(shown, extent=(0, size, size, 0), cmap="cividis", norm=norm, interpolation="nearest")
    figure.colorbar(image, ax=axes, label=ENTRIES)
    axes.set_xlabel("column")
    axes.set_ylabel("row")
    axes.set_title(title)
    return figure


def pattern_counts(matrix: sparse.csr_array, pixels: int = 256, every: int = 1) -> np.ndarray:
    """Entries per pixel of an image of at most pixels x pixels, row 0 at the top.

    every: count only every such row, as a sample of a large matrix; those rows are copied. Cost: one pass over the
    indices of the rows counted.
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
