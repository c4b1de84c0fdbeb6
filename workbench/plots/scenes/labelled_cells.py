"""Cells of a grid, a matrix or an array in the colours of their kinds, with words in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.plots.scenes.scene import Axis, BarsOf, Layer, PointsOf, Scene

Cell = tuple[int, int]
SIDE = 0.92
"""The side of a cell, which leaves a gap to the next."""
SMALLEST = 0.1
"""Pixels of a point that is not to be seen below its word."""


def labelled_cells(
    name: str,
    shape: Cell,
    kinds: Mapping[str, np.ndarray | Sequence[Cell]],
    labels: Mapping[Cell, str] | None = None,
    *,
    texts: Mapping[Cell, Sequence[str]] | None = None,
    x: str = "column",
    y: str = "row",
    down: bool = True,
    styles: Sequence[int] = range(100),
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    square: bool = True,
) -> Scene:
    """A scene of rows x columns cells, row 0 at the top, or at the bottom where `down` is false.

    kinds: the cells of each, (row, column) or a mask of that shape. labels: a word in a cell. styles: of the kinds.
    texts: read out at a cell. rows, columns: what they are called; by default numbers. square: cells are.
    """
    high, wide = shape
    layers: list[Layer] = []
    for style, (kind, cells) in zip(styles, kinds.items(), strict=False):
        places = np.argwhere(cells) if isinstance(cells, np.ndarray) else np.array(cells).reshape(-1, 2)
        up = high - 1 - places[:, 0] if down else places[:, 0]
        read = [texts[row, column] for row, column in places.tolist()] if texts else None
        layers.append(BarsOf(kind, places[:, 1] * 1.0, up + SIDE / 2, SIDE, up - SIDE / 2, style=style, texts=read))
    if labels:
        places = np.array(list(labels))
        up = high - 1 - places[:, 0] if down else places[:, 0]
        layers.append(
            PointsOf(
                "", places[:, 1] * 1.0, up * 1.0, size=SMALLEST, marker=".", labels=[*labels.values()], inside=True
            )
        )
    named = list(rows) if rows else _numbers(high)
    return Scene(
        name,
        Axis(x, names=columns or _numbers(wide), span=(-0.6, wide - 0.4)),
        Axis(y, names=named[::-1] if down else named, span=(-0.6, high - 0.4)),
        layers,
        square=square,
    )


def _numbers(count: int) -> list[str]:
    """The numbers of rows or columns; of many every fourth."""
    step = 1 if count <= 16 else 4
    return [str(k) if k % step == 0 else "" for k in range(count)]
