"""Films: figures one after the other, as a GIF."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from workbench.errors import InputError
from workbench.plots.figures.drawing import panels
from workbench.plots.figures.plane import paint
from workbench.plots.figures.style import new_figure
from workbench.plots.scenes.plane import Plane
from workbench.plots.scenes.scene import Scene

COLOURS = 96
"""Colours of the palette of a GIF."""
DPI = 100
MOST_BYTES = 4 << 20
"""Bytes of a GIF at most; every second frame of a larger one goes."""
FEWEST = 8
"""Frames that stay in any case."""


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
    """The figures as a GIF that repeats, each shown for the same time, in at most `MOST_BYTES`. All must have one size.

    Raises InputError without a figure.
    """
    images = [_image(figure) for figure in figures]
    if not images:
        raise InputError("a film has no frame yet; make a step first")
    # One palette, of the last picture, which has all that is drawn: others would flicker.
    palette = images[-1].quantize(COLOURS)
    pages = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    while len(made := _joined(pages, seconds)) > MOST_BYTES and len(pages) >= 2 * FEWEST:
        pages, seconds = pages[1::2], 2 * seconds
    return made


def _joined(pages: list[Image.Image], seconds: float) -> bytes:
    out = io.BytesIO()
    look: dict[str, Any] = {"duration": round(1000 * seconds), "loop": 0, "optimize": True}
    pages[0].save(out, "GIF", save_all=True, append_images=pages[1:], **look)
    return out.getvalue()


def _image(figure: Figure) -> Image.Image:
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
