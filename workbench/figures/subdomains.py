"""Image of the coefficient field with the boundaries of the deflation subdomains."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from workbench.figures.boundaries import boundaries
from workbench.figures.style import new_figure

LARGE_CONTRAST = 50.0
"""Ratio of the largest to the smallest value from which the colour scale is logarithmic."""
COEFFICIENT = "coefficient 1/ρ (relative)"
AXES = "xyz"


def subdomains(
    grid: tuple[int, ...],
    coefficient: np.ndarray | None,
    labels: np.ndarray | None = None,
    *,
    normal: str = "z",
    position: float = 0.5,
    title: str = "",
    bar: str = COEFFICIENT,
    plane: str = "",
    width: float = 4.2,
) -> Figure:
    """Image of the coefficient per cell, with a colour bar and the boundaries between subdomains.

    grid: (ny, nx) or (nz, ny, nx). coefficient, labels: shape (N,), or None for a constant 1 and for no subdomains.
    In 3D a plane is shown: normal "x", "y" or "z", position in side lengths. bar: label of the colour bar. plane:
    position of the plane, as in y = 0.258, for the title and as the series name in `plotted_data`. width in inches.
    """
    figure = new_figure(width, 0.8 * width, square=True)
    axes = figure.add_subplot()
    values = np.ones(grid) if coefficient is None else coefficient.reshape(grid)
    values, across, up = section(values, normal, position)
    low, high = float(values.min()), float(values.max())
    norm = LogNorm(low, high) if is_wide(low, high) else Normalize(low, high if high > low else low + 1)
    image = axes.imshow(values, origin="lower", extent=(0, 1, 0, 1), cmap="cividis", norm=norm, interpolation="nearest")
    image.set_label(plane or image.get_label())
    figure.colorbar(image, ax=axes, label=bar)
    if labels is not None:
        lines = boundaries(section(labels.reshape(grid), normal, position)[0])
        # One path for all segments keeps files with round subdomains small.
        path = Path(lines.segments.reshape(-1, 2), np.tile([Path.MOVETO, Path.LINETO], len(lines.segments)))
        axes.add_patch(PathPatch(path, fill=False, edgecolor="#000000", linewidth=1.4, alpha=0.5))
        axes.add_patch(PathPatch(path, fill=False, edgecolor="#ffffff", linewidth=0.6))
        if lines.step > 1:
            figure.supxlabel(f"every {ordinal(lines.step)} subdomain boundary is drawn", fontsize="small")
    axes.set_xlabel(f"{across} (side lengths)")
    axes.set_ylabel(f"{up} (side lengths)")
    axes.set_title(", ".join(filter(None, [title, plane])))
    return figure


def section(values: np.ndarray, normal: str = "z", position: float = 0.5) -> tuple[np.ndarray, str, str]:
    """A plane of cells and the names of its axes: 2D values unchanged, 3D values in a plane normal to x, y or z."""
    if values.ndim == 2:
        return values, "x", "y"
    axis = AXES[::-1].index(normal)
    cells = values.shape[axis]
    plane = np.take(values, min(cells - 1, int(position * cells)), axis=axis)
    up, across = [name for name in AXES[::-1] if name != normal]
    return plane, across, up


def is_wide(low: float, high: float) -> bool:
    """Whether a range of values needs a logarithmic colour scale."""
    return low > 0 and high / low >= LARGE_CONTRAST


def ordinal(number: int) -> str:
    """An ordinal number as text: 2nd, 3rd, 4th, 11th, 21st."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
