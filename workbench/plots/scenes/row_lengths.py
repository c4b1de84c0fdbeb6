"""A histogram of the entries per row of a matrix."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError
from workbench.plots.scenes.scene import Axis, BarsOf, LineAt, Scene
from workbench.words.numbers import counted, rounded

MAX_BARS = 60
LOG_SCALE_RATIO = 100.0
"""Ratio of the highest to the lowest bar from which the vertical axis is logarithmic."""


def row_lengths_scene(lengths: np.ndarray) -> Scene:
    """The number of rows of each length as bars, with the mean.

    lengths: entries of each row, shape (N,). Cost: one pass over them. Raises InputError without a row.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import row_lengths_scene
        >>> row_lengths_scene(np.array([3, 4, 4, 5])).name
        'row lengths'
    """
    counts, edges = binned(lengths)
    each = int(edges[1] - edges[0])
    middles = (edges[:-1] + edges[1:]) / 2
    mean = float(lengths.mean())
    some = counts[counts > 0]
    title = "entries per row" if each == 1 else f"entries per row, {each} per bar"
    words = [
        [counted(int(rows), "row"), f"of {_range(left + 0.5, left + each - 0.5)} entries"]
        for left, rows in zip(edges[:-1], counts, strict=True)
    ]
    layers = [BarsOf("", middles, counts, each, texts=words), LineAt(mean, f"mean {rounded(mean)}", upright=True)]
    y = Axis("rows", "count", log=bool(some.max() >= LOG_SCALE_RATIO * some.min()))
    said = f"Entries per row: {lengths.min()} to {lengths.max()}, {rounded(mean)} on average."
    return Scene("row lengths", Axis(title, "count", whole=True), y, layers, spoken=said, logs="y")


def _range(low: float, high: float) -> str:
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"


def binned(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of rows per bin, shape (k,), and bin edges halfway between integers, shape (k + 1,)."""
    if not lengths.size:
        raise InputError("a matrix without rows has no row lengths")
    low, high = int(lengths.min()), int(lengths.max())
    each = -(-(high - low + 1) // MAX_BARS)
    bars = -(-(high - low + 1) // each)
    counts = np.bincount((lengths - low) // each, minlength=bars)
    return counts, low - 0.5 + each * np.arange(bars + 1)
