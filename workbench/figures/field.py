"""A vector of a run as an image on its grid, or as a band over its unknowns."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.colors import Normalize, SymLogNorm
from matplotlib.figure import Figure

from workbench.figures.colormaps import VIK
from workbench.figures.style import new_figure
from workbench.scenes.style import COLOURS

DECADES = 3
"""Decades below the largest value on a logarithmic colour scale; smaller values are on a linear scale."""
DRAWABLE = (1e-300, 1e300)
"""Bounds of the largest value; beyond them Matplotlib's ticks and norms overflow or underflow."""
SIGNED, MAGNITUDE = VIK, "viridis"
"""Colormaps for readers with and without colour vision (Brewer 2003; Smith, van der Walt 2015)."""


def field(
    values: np.ndarray,
    label: str,
    *,
    logarithmic: bool = False,
    sides: tuple[str, str] = ("x", "y"),
    title: str = "",
    plane: str = "",
    width: float = 4.2,
) -> Figure:
    """Plane of values as an image with a colour bar, whose range is symmetric about zero if some values are negative.

    values: shape (ny, nx), row 0 at the bottom. With empty names in `sides`: shape (2, k), minimum and maximum over k
    ranges of unknowns, drawn as a band. label: of the colour bar. plane: position of the slice through a cube, as in
    y = 0.258, for the title and as the series name in `plotted_data`. width in inches.
    """
    finite = values[np.isfinite(values)]
    largest = ceiling(float(np.clip(np.abs(finite).max(initial=0.0), *DRAWABLE))) if finite.any() else 1.0
    signed = bool(np.any(finite < 0))
    figure = new_figure(width, 0.8 * width, square=sides[0] != "")
    axes = figure.add_subplot()
    axes.set_title(", ".join(filter(None, [title, plane])))
    if not sides[0]:
        axes.fill_between(np.linspace(0, 1, values.shape[1]), values[0], values[1], color=COLOURS[0], step="mid")
        if logarithmic:
            axes.set_yscale("symlog", linthresh=largest / 10**DECADES)
        axes.set(xlabel="unknown (share of N)", ylabel=label)
        return figure
    least = 0.0 if logarithmic or not finite.size else min(float(finite.min()), largest)
    low, high = (-largest, largest) if signed else (least, largest)
    if logarithmic:
        norm: Normalize = SymLogNorm(largest / 10**DECADES, vmin=low, vmax=high, base=10)
        label = f"{label}, linear within ±{largest / 10**DECADES:.3g}"
    else:
        norm = Normalize(low, high)
    cmap = SIGNED if signed else MAGNITUDE
    image = axes.imshow(values, origin="lower", extent=(0, 1, 0, 1), cmap=cmap, norm=norm, interpolation="nearest")
    image.set_label(plane or image.get_label())
    figure.colorbar(image, ax=axes, label=label)
    axes.set_xlabel(f"{sides[0]} (side lengths)")
    axes.set_ylabel(f"{sides[1]} (side lengths)")
    return figure


def ceiling(value: float) -> float:
    """The smallest 1, 2 or 5 times a power of ten that is >= value; 0 for 0.

    The value itself if that number would overflow.
    """
    if not value > 0:
        return 0.0
    decade = 10.0 ** math.floor(math.log10(value))
    steps = (step * decade for step in (1, 2, 5, 10))
    return next((step for step in steps if value * (1 - 1e-12) <= step < math.inf), value)
