"""What a PaperView shows of an item, as data: the picture, the sentence on the deviation, and the rows of its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.live.papers.computing import Computed
from workbench.live.ui.sort_table import sample
from workbench.number_text import number, said
from workbench.papers.comparison import NOTABLE
from workbench.papers.items import MODELLED, ComparedPoint, Curve, Item, compared, far_off, mean_deviation
from workbench.scenes.scene import CurveOf, Layer, PointsOf, Scene
from workbench.scenes.style import curve_style

FEW = 40
"""Points of a curve that have a mark each."""
MOST_FAR = 3
"""Points that the sentence names."""
RING = 6.5
DOT = 2.5


class Looks:
    """Styles of the curves of an item: one that is compared looks like its printed curve, whatever it is called."""

    def __init__(self, printed: Sequence[Curve]) -> None:
        self._places = {curve.name: place for place, curve in enumerate(printed)}

    def of(self, curve: Curve) -> int:
        return self._places.setdefault(curve.of or curve.name, len(self._places))


def picture(item: Item, printed: Sequence[Curve], computed: Computed, looks: Looks) -> Scene:
    """Printed points as rings, our curves, and pale behind them those at the values before."""
    layers: list[Layer] = [_drawn(item, curve, looks, faint=True) for curve in computed.before]
    # Below the curves, whose marks are to be seen in the rings that they meet.
    if printed:
        layers += _rings(item, printed, looks)
    layers += [_drawn(item, curve, looks) for curve in computed.curves]
    spoken = f"{item.title}. {sentence(item, printed, computed)}"
    note = "" if layers else "computing …" if computed.busy else "; ".join(computed.failed) or "Nothing is computed."
    return Scene(item.name, item.x, item.y, layers, note=note, spoken=spoken, logs="y", live=computed.busy)


def _drawn(item: Item, curve: Curve, looks: Looks, *, faint: bool = False) -> CurveOf:
    few = curve.x.size <= FEW
    # Dashes say where numbers come from, colours what they belong to.
    dash = (5.0, 4.0) if curve.source == MODELLED else ()
    return CurveOf(
        "" if faint else curve.name,
        curve.x,
        curve.y,
        looks.of(curve),
        every=few,
        only=few and item.x.names is not None,
        faint=faint,
        dash=dash,
        mark=few,
    )


def _rings(item: Item, printed: Sequence[Curve], looks: Looks) -> list[Layer]:
    """A ring for each printed point, with a dot in the colour of its curve."""
    x, y = (np.concatenate(values) for values in zip(*((curve.x, curve.y) for curve in printed), strict=True))
    texts = [
        [f"{curve.name}, {place(item, at)}", f"printed {said(float(value), item.y.kind)}"]
        for curve in printed
        for at, value in zip(curve.x, curve.y, strict=True)
    ]
    colours = [curve_style(looks.of(curve)).colour for curve in printed for _ in curve.x]
    return [
        PointsOf("printed", x, y, len(texts), size=RING, outlined=True, texts=texts, word="printed"),
        PointsOf("", x, y, size=DOT, marker=".", colours=colours),
    ]


def place(item: Item, x: float) -> str:
    """A position on the axis in words."""
    if item.x.names is not None:
        return str(item.x.names[round(x)])
    return f"{item.x.word or item.x.title} = {said(float(x), item.x.kind)}"


def turned_away(item: Item, values: Mapping[str, Any]) -> list[str]:
    """The parameters that are not at the paper's value, in words."""
    turned = [each for each in item.turned if not each.limit and values[each.name] != each.paper]
    return [f"{each.title}: {each.words(values[each.name])}" for each in turned]


def sentence(item: Item, printed: Sequence[Curve], computed: Computed) -> str:
    """How far ours are from print, at which values, and what is still to come."""
    points = compared(printed, computed.curves)
    known = [point for point in points if point.ours is not None]
    mean, away = mean_deviation(points), turned_away(item, computed.values)
    where = f"Turned away from the paper ({'; '.join(away)}):" if away else "At the paper's values,"
    if not printed:
        found = "the paper prints no numbers here"
    elif mean is None:
        found = "no printed point is computed" + (" yet" if computed.busy else "")
    else:
        of = f"{len(known)} of {len(points)} printed points" if len(known) < len(points) else f"{len(points)} points"
        found = f"ours deviate from print by {number(mean)}% on average ({of})"
        farthest = max(known, key=lambda each: abs(each.percent or 0.0))
        found += f", at most {signed(farthest)} ({farthest.curve}, {place(item, farthest.x)})"
    return f"{where} {found}."


def why(item: Item, printed: Sequence[Curve], computed: Computed) -> str:
    """Why points are far from print at the paper's values, or that it is not explained; empty where none is."""
    far = far_off(compared(printed, computed.curves))
    if not far or turned_away(item, computed.values):
        return ""
    named = [f"{point.curve}, {place(item, point.x)} ({signed(point)})" for point in far[:MOST_FAR]]
    more = f" and {len(far) - MOST_FAR} more" if len(far) > MOST_FAR else ""
    beyond = f"More than {NOTABLE:.0f}% from print: {'; '.join(named)}{more}"
    return f"{beyond}. {'Reason: ' + item.reason if item.reason else 'Not explained'}."


def signed(point: ComparedPoint) -> str:
    """The deviation of a point: +36%, −4.1%."""
    percent = point.percent
    if percent is None:
        return "–"
    return f"{'+' if percent > 0 else ''}{number(percent)}%"


def columns(item: Item) -> list[str]:
    """The headings of the table."""
    return ["Curve", item.x.word or item.x.title, "Printed", "Ours", "Deviation", "Ours is"]


def rows(item: Item, points: Sequence[ComparedPoint]) -> list[list[Any]]:
    """A row for each printed point."""
    return [
        [
            point.curve,
            {"key": point.x, "text": place(item, point.x)},
            {"key": point.printed, "text": said(point.printed, item.y.kind)},
            None if point.ours is None else {"key": point.ours, "text": said(point.ours, item.y.kind)},
            {"key": point.percent, "text": signed(point)},
            point.source or None,
        ]
        for point in points
    ]


def facts(points: Sequence[ComparedPoint], looks: Looks) -> list[dict[str, Any]]:
    """What keeps each row across updates, and its colour."""
    return [
        {
            "id": f"{point.curve} {point.x}",
            "style": sample(curve_style(looks.of(Curve(point.curve, np.empty(0), np.empty(0), "")))),
        }
        for point in points
    ]
