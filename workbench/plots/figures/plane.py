"""A field drawn by Matplotlib, in the colours and with the lines that it has on the page."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm, Normalize, SymLogNorm
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from workbench.plots.figures.style import MAPS, NotebookFigure, new_figure
from workbench.plots.scenes.plane import DECADES, LOG, SYMLOG, Colormap, Plane
from workbench.plots.scenes.style import COLOURS
from workbench.words.numbers import count, number, ordinal

DRAWABLE = (1e-300, 1e300)
"""Bounds of the largest value; beyond them Matplotlib's ticks and norms overflow or underflow."""


def draw_plane(plane: Plane, *, width: float = 4.2) -> NotebookFigure:
    """An image with a colour bar, or a band. width in inches.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.figures import draw_plane
        >>> from workbench.plots.scenes.plane import Colormap
        >>> from workbench.plots.scenes.plane import Plane
        >>> draw_plane(Plane(np.eye(4), "x", Colormap.of(np.eye(4), logarithmic=False), "batlow")).axes[0].get_xlabel()
        'x (side lengths)'
    """
    figure = new_figure(width, 0.8 * width, square=plane.sides[0] != "")
    axes = figure.add_subplot()
    axes.set_title(", ".join(filter(None, [plane.title, plane.where])))
    figure.words = _in_words(plane)
    if not plane.sides[0]:
        _band(axes, plane)
        return figure
    paint(axes, plane)
    if plane.step > 1:
        figure.supxlabel(f"every {ordinal(plane.step)} subdomain boundary is drawn", fontsize="small")
    return figure


def _in_words(plane: Plane) -> str:
    """The sides of a plane, its quantity, and the least and the greatest value or the number of colours."""
    title = ", ".join(filter(None, [plane.title, plane.where]))
    values = np.ma.compressed(np.ma.masked_invalid(plane.values))
    if plane.matrix:
        shown = f"matrix with {count(plane.matrix)} rows, {plane.bar}"
    elif plane.palette:
        shown = f"{count(np.unique(values).size)} parts in colours"
    else:
        shown = plane.bar
    sides = " by ".join(map(count, plane.values.shape[::-1])) if plane.sides[0] else "a band over all unknowns"
    ends = (
        f" from {number(float(values.min()))} to {number(float(values.max()))}"
        if values.size and not plane.palette
        else ""
    )
    lines = ", with lines between subdomains" if len(plane.segments) else ""
    cells = " cells" if plane.sides[0] else ""
    return ". ".join(filter(None, [title, f"{shown}{ends}, {sides}{cells}{lines}"])) + "."


def paint(axes: Axes, plane: Plane, *, bar: bool = True) -> None:
    """The cells of a plane, lines on them, what the axes are called, and a colour bar."""
    values, end = plane.values, plane.matrix or 1
    if plane.matrix:
        values, extent, origin = np.ma.masked_equal(values, 0), (0, end, end, 0), "upper"
    else:
        extent, origin = (0, 1, 0, plane.aspect), "lower"
    norm = Normalize(1, len(plane.palette)) if plane.palette else _norm(plane.colours)
    shades = ListedColormap(plane.palette) if plane.palette else MAPS[plane.map]
    image = axes.imshow(values, cmap=shades, norm=norm, extent=extent, origin=origin, interpolation="nearest")
    image.set_label(plane.where or image.get_label())
    figure = axes.get_figure()
    if bar and figure is not None and not plane.palette:
        linear = f", linear within ±{plane.colours.threshold:.3g}" if isinstance(norm, SymLogNorm) else ""
        figure.colorbar(image, ax=axes, label=f"{plane.bar}{linear}")
    if len(plane.segments):
        _outline(axes, plane.segments * (1, plane.aspect, 1, plane.aspect))
    across, up = plane.sides
    unit = "" if plane.matrix else f" ({plane.unit})"
    axes.set(xlabel=f"{across}{unit}", ylabel=f"{up}{unit}")


def _band(axes: Axes, plane: Plane) -> None:
    least, most = plane.values
    axes.fill_between(np.linspace(0, 1, least.size), least, most, color=COLOURS[0], step="mid")
    if plane.colours.scale == SYMLOG:
        axes.set_yscale("symlog", linthresh=_drawable(plane.colours.threshold))
    axes.set(xlabel="unknown (share of N)", ylabel=plane.bar)


def _norm(colours: Colormap) -> Normalize:
    low, high = float(colours.low), float(colours.high)
    if colours.scale == LOG:
        return LogNorm(low, high)
    if colours.scale == SYMLOG and high > low:
        end = _drawable(high)
        return SymLogNorm(end / 10**DECADES, vmin=-end if low < 0 else 0.0, vmax=end, base=10)
    return Normalize(low, high if high > low else low + 1)


def _drawable(value: float) -> float:
    return float(np.clip(value, *DRAWABLE))


def _outline(axes: Axes, segments: np.ndarray) -> None:
    """Light lines with a dark rim. One path for all keeps files with round subdomains small."""
    path = Path(segments.reshape(-1, 2), np.tile([Path.MOVETO, Path.LINETO], len(segments)))
    axes.add_patch(PathPatch(path, fill=False, edgecolor="#000000", linewidth=1.4, alpha=0.5))
    axes.add_patch(PathPatch(path, fill=False, edgecolor="#ffffff", linewidth=0.6))
