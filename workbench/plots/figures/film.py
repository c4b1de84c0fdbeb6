"""Films: figures one after the other, as a GIF."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from workbench.errors import InputError
from workbench.plots.figures.drawing import draw, panels
from workbench.plots.figures.plane import paint
from workbench.plots.figures.style import new_figure
from workbench.plots.scenes.plane import Plane
from workbench.plots.scenes.scene import CurveOf, Layer, LineAt, PointsOf, Scene

COLOURS = 96
"""Colours of the palette of a GIF."""
DPI = 100
FRAMES, REST = 52, 8
"""Frames in which curves grow, and in which they then rest."""
MOST_BYTES = 2 << 20
"""Bytes of a film of curves; one with half the frames takes the place of a larger one."""
MOST_SAMPLES = 1000
"""Points of a curve in a frame, which has some hundred pixels."""


def frame(plane: Plane, scenes: Sequence[Scene], *, width: float = 7.2, height: float = 4.2) -> Figure:
    """A plane at the left, scenes one above the other at the right. Sizes in inches.

    Cost: about a tenth of a second to draw.
    """
    figure = new_figure(width, height)
    halves = figure.subfigures(1, 2, squeeze=False, width_ratios=(1, 1.4))[0]
    axes = halves[0].add_subplot()
    axes.set_title(f"{plane.bar}, {plane.title}", fontsize="medium")
    paint(axes, plane, bar=False)
    panels(halves[1], scenes)
    return figure


def gif(figures: Iterable[Figure], *, seconds: float = 0.08) -> bytes:
    """The figures as a GIF that repeats, each shown for the same time. All must have one size.

    Raises InputError without a figure.
    """
    images = [_image(figure) for figure in figures]
    if not images:
        raise InputError("a film has no frame yet; make a step first")
    # One palette, of the last picture, which has all that is drawn: others would flicker.
    palette = images[-1].quantize(COLOURS)
    pages = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    out = io.BytesIO()
    pages[0].save(
        out, "GIF", save_all=True, append_images=pages[1:], duration=round(1000 * seconds), loop=0, optimize=True
    )
    return out.getvalue()


def growing(scene: Scene, *, frames: int = FRAMES, most: int = MOST_BYTES) -> bytes:
    """Curves as they grow to the right, over fixed axes, as a GIF; then they rest for a moment.

    Cost: about a tenth of a second a frame. Raises InputError for a scene without a curve.
    """
    curves = [layer for layer in scene.layers if isinstance(layer, CurveOf) and np.isfinite(layer.x).any()]
    if not curves:
        raise InputError("a film has no curve yet; let a run make an iteration")
    last = max(float(np.nanmax(curve.x)) for curve in curves)
    fixed = _with_spans(scene, curves, last)
    film = gif(_at(fixed, last * min(1.0, (k + 1) / frames)) for k in range(frames + REST))
    return film if len(film) <= most or frames < 8 else growing(scene, frames=frames // 2, most=most)


def _with_spans(scene: Scene, curves: Sequence[CurveOf], last: float) -> Scene:
    """A scene whose axes hold all of its curves and lines."""
    values = [curve.y[np.isfinite(curve.y) & (curve.y > 0)] for curve in curves]
    lines = [layer.value for layer in scene.layers if isinstance(layer, LineAt) and not layer.upright]
    every = np.concatenate([*values, np.array(lines)])
    low, high = (float(every.min()), float(every.max())) if every.size else (0.1, 1.0)
    y = dataclasses.replace(scene.y, span=(low / 1.5, high * 1.5)) if scene.y.log else scene.y
    return dataclasses.replace(scene, x=dataclasses.replace(scene.x, span=(0.0, last * 1.02 or 1.0)), y=y)


def _at(scene: Scene, end: float) -> Figure:
    """A scene with its curves up to a value of x."""
    return draw(dataclasses.replace(scene, layers=[_until(layer, end) for layer in scene.layers]), width=7.2)


def _until(layer: Layer, end: float) -> Layer:
    if not isinstance(layer, CurveOf | PointsOf):
        return layer
    shown = np.flatnonzero(layer.x <= end)
    if shown.size > MOST_SAMPLES:
        shown = shown[np.unique(np.linspace(0, shown.size - 1, MOST_SAMPLES).astype(int))]
    return dataclasses.replace(layer, x=np.asarray(layer.x)[shown], y=np.asarray(layer.y)[shown])


def _image(figure: Figure) -> Image.Image:
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
