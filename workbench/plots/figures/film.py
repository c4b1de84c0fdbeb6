"""Films: figures one after the other, as a GIF."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from workbench.errors import InputError
from workbench.plots.figures.drawing import draw, panels
from workbench.plots.figures.plane import paint
from workbench.plots.figures.style import new_figure
from workbench.plots.scenes.plane import Plane
from workbench.plots.scenes.scene import CurveOf, Scene

COLOURS = 96
"""Colours of the palette of a GIF."""
DPI = 100
LARGEST = 4 << 20
"""Bytes of a GIF at most; every second frame of a larger one goes."""
FEWEST = 8
"""Frames that stay in any case."""
FRAMES, REST = 40, 6
"""Frames in which curves grow, and in which they then rest."""
MOST_BYTES = 2 << 20
"""Bytes of a film of curves; one with half the frames takes the place of a larger one."""


def frame(plane: Plane, scenes: Sequence[Scene], *, width: float = 7.2, height: float = 4.2) -> Figure:
    """A plane at the left, scenes one above the other at the right. Sizes in inches.

    Cost: about a tenth of a second to draw.
    """
    figure = new_figure(width, height)
    halves = figure.subfigures(1, 2, squeeze=False, width_ratios=(1, 1.4))[0]
    axes = halves[0].add_subplot()
    axes.set_title(f"{plane.bar}\n{plane.title}", fontsize="medium")
    paint(axes, plane, bar=False)
    panels(halves[1], scenes)
    return figure


def gif(figures: Iterable[Figure], *, seconds: float = 0.08) -> bytes:
    """The figures, all of one size, as a GIF that repeats, each shown for the same time; at most `LARGEST` bytes.

    Raises InputError without a figure.
    """
    images = [_image(figure) for figure in figures]
    if not images:
        raise InputError("a film has no frame yet; make a step first")
    # One palette, of the last picture, which has all that is drawn: others would flicker.
    palette = images[-1].quantize(COLOURS)
    pages = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    while len(made := _joined(pages, seconds)) > LARGEST and len(pages) >= 2 * FEWEST:
        pages, seconds = pages[1::2], 2 * seconds
    return made


def _joined(pages: list[Image.Image], seconds: float) -> bytes:
    out = io.BytesIO()
    look: dict[str, Any] = {"duration": round(1000 * seconds), "loop": 0, "optimize": True}
    pages[0].save(out, "GIF", save_all=True, append_images=pages[1:], **look)
    return out.getvalue()


def growing(scene: Scene, *, frames: int = FRAMES, most: int = MOST_BYTES) -> bytes:
    """Curves as they grow to the right, over fixed axes, as a GIF; then they rest for a moment.

    The picture is drawn once, and its lines are cut in each frame: some hundredths of a second a frame. Raises
    InputError for a scene without a curve.
    """
    if not any(isinstance(layer, CurveOf) and np.isfinite(layer.x).any() for layer in scene.layers):
        raise InputError("a film has no curve yet; let a run make an iteration")
    figure = draw(scene, width=7.2)
    figure.set_dpi(DPI)
    FigureCanvasAgg(figure).draw()
    figure.set_layout_engine("none")
    (axes,) = figure.axes
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
    # Lines across the plot have other coordinates.
    lines = [line for line in axes.lines if line.get_transform() == axes.transData]
    whole = [np.asarray(line.get_xydata(), float) for line in lines]
    places = np.concatenate([points[:, 0] for points in whole])
    first, last = float(np.nanmin(places)), float(np.nanmax(places))
    ends = [*np.linspace(first, last, frames), *[last] * REST]
    film = gif(_until(figure, lines, whole, end) for end in ends)
    return film if len(film) <= most or frames < 8 else growing(scene, frames=frames // 2, most=most)


def _until(figure: Figure, lines: Sequence[Line2D], whole: Sequence[np.ndarray], end: float) -> Figure:
    """The figure with its lines up to a value of x. whole: the points of each, shape (n, 2)."""
    for line, points in zip(lines, whole, strict=True):
        shown = points[points[:, 0] <= end]
        line.set_data(shown[:, 0], shown[:, 1])
    return figure


def _image(figure: Figure) -> Image.Image:
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
