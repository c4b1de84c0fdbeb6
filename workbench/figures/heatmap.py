"""Heat map of a quantity over two parameters, annotated with values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
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
    """Cells coloured by the logarithm of their values and annotated with them; cells without a value are hatched.

    values: shape (rows, columns), >= 0 or NaN. label: quantity and unit. absent: texts for the cells without a value,
    such as the reason, which are then cross-hatched. Sizes in inches; the default height follows the number of rows.
    Raises InputError for mismatched shapes, for negative values, and without any value.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(rows), len(columns)) or not values.size:
        raise InputError(f"a heat map of {len(rows)} rows and {len(columns)} columns cannot show shape {values.shape}")
    if not np.isfinite(values).any():
        raise InputError("a heat map needs at least one value; all of them are NaN")
    if (values < 0).any():
        raise InputError(f"a heat map needs values of at least 0, got {np.nanmin(values)}")
    figure = new_figure(width, height or 1.3 + 0.42 * len(rows))
    axes = figure.add_subplot()
    shown = np.ma.masked_invalid(values)
    # Logarithmic, as iterations and times span decades; zero gets the colour of the smallest positive value.
    least = float(shown[shown > 0].min()) if (shown > 0).any() else 1.0
    norm = LogNorm(least, max(least, float(shown.max())), clip=True)
    axes.imshow(shown, cmap="cividis", norm=norm, aspect="auto")
    for row, column in np.ndindex(*values.shape):
        if np.isfinite(values[row, column]):
            # Cividis runs from dark to light.
            ink = "#000000" if norm(values[row, column]) > 0.5 else "#ffffff"
            axes.text(column, row, f"{values[row, column]:.4g}", ha="center", va="center", color=ink, fontsize="small")
        else:
            _hatch_cell(axes, int(row), int(column), str(absent[int(row)][int(column)]) if absent else "")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlabel=column_title, ylabel=row_title)
    if label:
        axes.set_title(label, fontsize="medium", loc="left")
    axes.tick_params(length=0)
    return figure


def _hatch_cell(axes: Axes, row: int, column: int, reason: str) -> None:
    """Hatch a cell without a value and write the reason into it, if there is one."""
    corner = (column - 0.5, row - 0.5)
    hatch = "xxx" if reason else "///"
    axes.add_patch(Rectangle(corner, 1, 1, facecolor="#eeeeee", edgecolor="#999999", hatch=hatch, linewidth=0))
    if reason:
        box = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 1.5}
        axes.text(column, row, reason, ha="center", va="center", color="#b33c00", fontsize="small", bbox=box)
