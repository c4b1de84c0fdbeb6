"""A scene in words: its axes, and of each layer its name and numbers, for readers who do not see the picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.plots.scenes.scene import Axis, BarsOf, CellsOf, CurveOf, Layer, LineAt, ParallelOf, PointsOf, Scene
from workbench.plots.scenes.timeline import LanesOf
from workbench.words.numbers import counted, said

MOST = 8
"""Layers that are described; of more the number is said."""


def in_words(scene: Scene) -> str:
    """The axes of a scene and its layers with their numbers, as sentences. Cost: proportional to the numbers drawn.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import Axis, CurveOf, Scene, in_words
        >>> curve = CurveOf("CG", np.arange(3), np.array([1.0, 0.1, 0.01]))
        >>> in_words(Scene("residuals", Axis("iteration", whole=True), Axis("residual", log=True), [curve]))
        'residual against iteration. CG: from 1.00 at 0 to 0.0100 at 2.'
    """
    axes = " against ".join(filter(None, (scene.y.title, scene.x.title)))
    parts = [text for layer in scene.layers if (text := SAID[type(layer)](layer, scene.x, scene.y))]
    more = [f"{len(parts) - MOST} more"] if len(parts) > MOST else []
    found = [scene.title, axes, *parts[:MOST], *more] if scene.layers else [scene.title, axes, scene.note]
    return "".join(f"{part.rstrip('.')}. " for part in found if part).rstrip()


def _value(value: float, axis: Axis) -> str:
    """A number of an axis, or the name of the place."""
    if axis.names is not None and float(value).is_integer() and 0 <= value < len(axis.names):
        return axis.names[int(value)]
    return said(float(value), axis.kind or ("count" if axis.whole else ""))


def _known(*arrays: ArrayLike) -> tuple[np.ndarray, ...]:
    """The places of arrays of one length at which all are finite."""
    values = [np.ravel(np.asarray(each, np.float64)) for each in arrays]
    at = np.flatnonzero(np.all(np.isfinite(values), axis=0))
    return tuple(each[at] for each in values)


def _range(values: np.ndarray, axis: Axis) -> str:
    low, high = _value(values.min(), axis), _value(values.max(), axis)
    return low if low == high else f"{low} to {high}"


def _named(name: str, text: str) -> str:
    return f"{name}: {text}" if name else text


def _curve(layer: CurveOf, x: Axis, y: Axis) -> str:
    at, values = _known(layer.x, layer.y)
    if not at.size:
        return ""
    ends = (f"{_value(values[end], y)} at {_value(at[end], x)}" for end in (0, -1))
    return _named(layer.name, f"from {' to '.join(ends)}" if at.size > 1 else next(ends))


def _points(layer: PointsOf, x: Axis, y: Axis) -> str:
    at, values = _known(layer.x, layer.y)
    if not at.size:
        return ""
    across = f"at {_range(at, x)}"
    counted = f"{at.size} point{'s' if at.size > 1 else ''}"
    return _named(layer.name or layer.word, f"{counted} {across}" + ("" if layer.tall else f", of {_range(values, y)}"))


def _bars(layer: BarsOf, x: Axis, y: Axis) -> str:
    at, values = _known(layer.x, layer.y)
    if not at.size:
        return ""
    highest = int(values.argmax())
    words = f"{at.size} bars, the highest {_value(values[highest], y)} at {_value(at[highest], x)}"
    return _named(layer.name, words)


def _line(layer: LineAt, x: Axis, y: Axis) -> str:
    return layer.words


def _cells(layer: CellsOf, x: Axis, y: Axis) -> str:
    (values,) = _known(layer.values)
    rows, columns = layer.values.shape
    found = f", {_range(values, Axis('', layer.kind))}" if values.size else ""
    return f"{rows} × {columns} cells: {layer.title}{found}"


def _parallel(layer: ParallelOf, x: Axis, y: Axis) -> str:
    titles = [title for title, _ in layer.axes]
    runs = counted(len(layer.shares), "run")
    return f"{runs} through axes of {', '.join(titles)}"


def _lanes(layer: LanesOf, x: Axis, y: Axis) -> str:
    lanes = dict.fromkeys(lane for _, lane in layer.lanes)
    longest = next(iter(layer.sums.values()), "")
    events = f"{len(layer.rows['start'])} events on {', '.join(lanes)}"
    return f"{events}; most time: {longest}" if longest else events


SAID: dict[type[Layer], Callable[[Any, Axis, Axis], str]] = {
    BarsOf: _bars,
    CellsOf: _cells,
    CurveOf: _curve,
    LanesOf: _lanes,
    LineAt: _line,
    ParallelOf: _parallel,
    PointsOf: _points,
}
