"""A number over two choices, as colours with the numbers written on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from workbench.errors import InputError
from workbench.figures.style import new_figure


def heatmap(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    row_title: str = "",
    column_title: str = "",
    label: str = "",
    absent: Sequence[Sequence[str]] | None = None,
    width: float = 6.0,
    height: float | None = None,
) -> Figure:
    """Cells coloured by the logarithm of their values, each with its number; hatched where there is none.

    values: shape (rows, columns), at least 0, NaN where nothing came out. label: what they are, with the unit. absent:
    words for the cells without a value, such as why, then hatched crosswise. Sizes in inches, the height by default
    that of the rows. Raises InputError where shapes do not fit, for negative values, and where there is no value.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(rows), len(columns)) or not values.size:
        raise InputError(f"a heat map of {len(rows)} rows and {len(columns)} columns cannot show shape {values.shape}")
    if not np.isfinite(values).any():
        raise InputError("a heat map needs at least one value; no run gave one")
    if (values < 0).any():
        raise InputError(f"a heat map needs values of at least 0, got {np.nanmin(values)}")
    figure = new_figure(width, height or 1.3 + 0.42 * len(rows))
    axes = figure.add_subplot()
    shown = np.ma.masked_invalid(values)
    # Colours by ratios, as iterations and times spread over decades; zero has the colour of the smallest other value.
    least = float(shown[shown > 0].min()) if (shown > 0).any() else 1.0
    shade = LogNorm(least, max(least, float(shown.max())), clip=True)
    axes.imshow(shown, cmap="cividis", norm=shade, aspect="auto")
    for row, column in np.ndindex(*values.shape):
        if np.isfinite(values[row, column]):
            # Cividis runs from dark to light, and one colour alone is its darkest.
            ink = "#000000" if shade(values[row, column]) > 0.5 else "#ffffff"
            axes.text(column, row, f"{values[row, column]:.4g}", ha="center", va="center", color=ink, fontsize="small")
        else:
            corner = (column - 0.5, row - 0.5)
            word = str(absent[int(row)][int(column)]) if absent else ""
            hatch = "xxx" if word else "///"
            axes.add_patch(Rectangle(corner, 1, 1, facecolor="#eeeeee", edgecolor="#999999", hatch=hatch, linewidth=0))
            if word:
                ground = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 1.5}
                axes.text(column, row, word, ha="center", va="center", color="#b33c00", fontsize="small", bbox=ground)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlabel=column_title, ylabel=row_title)
    if label:
        axes.set_title(label, fontsize="medium", loc="left")
    axes.tick_params(length=0)
    return figure
