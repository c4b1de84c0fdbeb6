"""A PaperView's item as data: the picture, the sentence on the deviation, and the rows of its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.extensions.papers.comparison import NOTABLE
from workbench.extensions.papers.item_scene import Styles, item_layers, place
from workbench.extensions.papers.items import COUNTED, MODELLED, Curve, Item, Point, mean_deviation
from workbench.extensions.papers.page.computing import Computed
from workbench.live.ui.sort_table import sample
from workbench.plots.scenes.scene import Scene
from workbench.plots.scenes.style import curve_style
from workbench.words.numbers import deviation_text, number, said

MOST_FAR = 3
"""Points that the sentence names."""
MANY = 900.0
"""Mean deviation in percent from which on the number means nothing."""


def picture(item: Item, printed: Sequence[Curve], computed: Computed, styles: Styles) -> Scene:
    """Printed points as rings, our curves, and pale behind them those at the values before."""
    layers = item_layers(item, printed, computed.curves, computed.before, styles)
    spoken = f"{item.title}. {sentence(item, computed)}"
    note = "" if layers else "computing …" if computed.busy else "; ".join(computed.failed) or "Nothing is computed."
    return Scene(item.name, item.x, item.y, layers, note=note, spoken=spoken, logs="y", live=computed.busy)


def turned_away(item: Item, values: Mapping[str, Any]) -> list[str]:
    """The parameters that are not at the paper's value, in words."""
    turned = [each for each in item.turned if not each.limit and values[each.name] != each.paper]
    return [f"{each.title}: {each.words(values[each.name])}" for each in turned]


def sentence(item: Item, computed: Computed) -> str:
    """The deviation of our points from print, and the values that it holds for, in a sentence."""
    points = item.points(computed.rows)
    known = [point for point in points if point.value.percent is not None]
    mean, away = mean_deviation(points), turned_away(item, computed.values)
    where = f"Turned away from the paper ({'; '.join(away)}):" if away else "At the paper's values,"
    if not points:
        found = "the paper prints no numbers here"
    elif mean is None:
        found = "no printed point is computed" + (" yet" if computed.busy else "")
    else:
        of = f"{len(known)} of {len(points)} printed points" if len(known) < len(points) else f"{len(points)} points"
        farthest = max(known, key=lambda each: abs(each.value.percent or 0.0))
        most = f"{deviation_text(farthest.value.percent)} ({farthest.curve}, {place(item, farthest.x)})"
        if mean < MANY:
            found = f"ours deviate from print by {number(mean)}% on average ({of}), at most {most}"
        else:
            near = sum(abs(point.value.percent or 0.0) <= NOTABLE for point in known)
            found = f"{near} of {of} lie within {NOTABLE:.0f}% of print; the farthest is {most}"
    return f"{where} {found}."


def why(item: Item, computed: Computed) -> str:
    """Why points are far from print at the paper's values, or that it is not explained; empty where none is."""
    far = [point for point in item.points(computed.rows) if point.value.said]
    if not far or turned_away(item, computed.values):
        return ""
    far.sort(key=lambda point: -abs(point.value.percent or 0.0))
    said_of = []
    for reason in dict.fromkeys(point.value.said for point in far):
        of = [point for point in far if point.value.said == reason]
        named = "; ".join(
            f"{point.curve}, {place(item, point.x)} ({deviation_text(point.value.percent)})" for point in of[:MOST_FAR]
        )
        more = f" and {len(of) - MOST_FAR} more" if len(of) > MOST_FAR else ""
        said_of.append(f"{named}{more}: {reason}.")
    return f"More than {NOTABLE:.0f}% from print: {' '.join(said_of)}"


def columns(item: Item) -> list[str]:
    """The headings of the table."""
    return ["Curve", item.x.word or item.x.title, "Printed", "Ours", "Deviation", "Ours is"]


def rows(item: Item, points: Sequence[Point]) -> list[list[Any]]:
    """A row for each printed point."""
    made = []
    for point in points:
        # Times of this machine are not compared.
        ours, modelled = point.value.compared
        made.append(
            [
                point.curve,
                {"key": point.x, "text": place(item, point.x)},
                _cell(item, point.value.printed),
                None if ours is None else _cell(item, ours),
                {"key": point.value.percent, "text": deviation_text(point.value.percent)},
                None if ours is None else MODELLED if modelled else COUNTED,
            ]
        )
    return made


def _cell(item: Item, value: Any) -> dict[str, Any]:
    """A number, or a range."""
    each = value if isinstance(value, (list, tuple)) else (value,)
    return {"key": each[0], "text": "–".join(said(one, item.y.kind) for one in each)}


def facts(points: Sequence[Point], styles: Styles) -> list[dict[str, Any]]:
    """The id that keeps each row across updates, and its colour."""
    return [
        {"id": f"{point.curve} {point.x}", "style": sample(curve_style(styles.named(point.curve)))} for point in points
    ]
