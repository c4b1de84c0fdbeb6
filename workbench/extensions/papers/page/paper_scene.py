"""An item as data of the page: its pictures, the sentence on the deviation, and the rows of its table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.extensions.papers.agreement import Agreement, agreement
from workbench.extensions.papers.comparison import PRINTED, READ_OFF, TIMES_OFF
from workbench.extensions.papers.item_scene import DASHED, MARKS, Styles, item_layers, place
from workbench.extensions.papers.items import COUNTED, MODELLED, Curve, Item, Point
from workbench.extensions.papers.page.computing import Computed
from workbench.extensions.papers.printed import printed_text
from workbench.extensions.papers.standing import NOTABLE, tally, tally_words
from workbench.live.ui.sort_table import sample
from workbench.plots.scenes.scene import Axis, Scene
from workbench.plots.scenes.style import curve_style
from workbench.words import numbers
from workbench.words.numbers import deviation_text, number, said

MOST_FAR = 3
"""Points that the sentence names."""
FINEST = 50
"""Points of a line in a small picture."""
NO_LINE = (0.0, 100.0)
"""A dash of which only the gap is seen."""


def picture(item: Item, printed: Sequence[Curve], computed: Computed, styles: Styles) -> Scene:
    """Points of the paper, our curves, and pale behind them those at the values before."""
    layers = item_layers(item, printed, computed.curves, computed.before, styles)
    spoken = f"{item.title}. {sentence(item, computed)}"
    note = "" if layers else "computing …" if computed.busy else "; ".join(computed.failed) or "Nothing is computed."
    return Scene(item.name, item.x, item.y, layers, note=note, spoken=spoken, logs="y", live=computed.busy)


def turned_away(item: Item, values: Mapping[str, Any]) -> list[str]:
    """The parameters that are not at the paper's value, in words."""
    turned = [each for each in item.turned if not each.limit and values[each.name] != each.paper]
    return [f"{each.title} {each.words(values[each.name])}" for each in turned]


def sentence(item: Item, computed: Computed) -> str:
    """The deviation of our points from the paper, and the values that it holds for, in a sentence."""
    found, away = agreement(item.points(computed.rows)), turned_away(item, computed.values)
    if not found.points:
        return f"The paper gives no numbers for this {'table' if item.name.startswith('table') else 'figure'}."
    if not found.known:
        return f"No point is computed{' yet' if computed.busy else ''}."
    where = f"Away from the paper's values ({'; '.join(away)})" if away else "At the paper's values"
    if not found.near:
        times = f"{TIMES_OFF:.0f} times"
        return f"{where}, the model does not apply: {_counted(found)}, all more than {times} off."
    off = f"the model does not apply to {len(found.off)} of {_counted(found)}" if found.off else ""
    return f"{where}, {'; '.join(filter(None, (off, _near(item, found))))}."


def _near(item: Item, found: Agreement) -> str:
    """The mean deviation of the points to which the model applies, and the largest."""
    of = f"the {'other ' if found.off else ''}{len(found.near)}" if found.off else _counted(found)
    farthest = max(found.near, key=lambda each: abs(each.value.percent or 0.0))
    most = f"{deviation_text(farthest.value.percent)} ({farthest.curve}, {place(item, farthest.x)})"
    if len(found.near) == 1:
        return f"{of} is {deviation_text(farthest.value.percent)} from {found.source}"
    return f"{of} are {number(found.mean)}% from {found.source} on average, at most {most}"


def _counted(found: Agreement) -> str:
    """The number of points that are compared, and of all if some are not computed."""
    known = numbers.counted(len(found.known), "point")
    return known if len(found.known) == len(found.points) else f"{known} so far (of {len(found.points)})"


def counted(item: Item, computed: Computed) -> str:
    """How many of the printed numbers agree, and what is not counted; empty away from the paper's values."""
    points = item.points(computed.rows)
    if not points or turned_away(item, computed.values):
        return ""
    return f"Printed numbers: {tally_words(tally(point.value for point in points))}."


def why(item: Item, computed: Computed) -> str:
    """Why points are far from the paper at its values, or that it is not explained; empty where none is."""
    far = [point for point in item.points(computed.rows) if point.value.said]
    if not far or turned_away(item, computed.values):
        return ""
    off = [point for point in far if not point.value.applies]
    near = [point for point in far if point.value.applies]
    said_of = [
        _reasons(item, f"More than {NOTABLE:.0f}% away", near, percents=True) if near else "",
        _reasons(item, f"The model does not apply, more than {TIMES_OFF:.0f} times off", off, percents=False)
        if off
        else "",
    ]
    return " ".join(filter(None, said_of))


def _reasons(item: Item, begin: str, far: list[Point], *, percents: bool) -> str:
    """The reasons of points, each with the farthest of its points."""
    far.sort(key=lambda point: -abs(point.value.percent or 0.0))
    found = []
    for reason in dict.fromkeys(point.value.said for point in far):
        of = [point for point in far if point.value.said == reason]
        named = "; ".join(
            f"{point.curve}, {place(item, point.x)}" + (f" ({deviation_text(point.value.percent)})" if percents else "")
            for point in of[:MOST_FAR]
        )
        more = f" and {len(of) - MOST_FAR} more" if len(of) > MOST_FAR else ""
        found.append(f"{named}{more}: {reason}.")
    return f"{begin}: {' '.join(found)}"


def columns(item: Item) -> list[str]:
    """The headings of the table, with the unit of its numbers."""
    unit = f", {item.y.kind}" if item.y.kind not in ("", "count") else ""
    source = next((each.source for each in item.compared if each.curve), PRINTED).capitalize()
    return ["Curve", item.x.word or item.x.title, f"{source}{unit}", f"Ours{unit}", "Deviation", "Source of ours"]


def rows(item: Item, points: Sequence[Point]) -> list[list[Any]]:
    """A row for each point of the paper."""
    made = []
    for point in points:
        # Times of this machine are not compared.
        ours, modelled = point.value.compared
        made.append(
            [
                point.curve,
                {"key": point.x, "text": item.x.names[round(point.x)] if item.x.names else said(point.x, item.x.kind)},
                {"key": _first(point.value.printed), "text": printed_text(point.value.printed)},
                None if ours is None else {"key": _first(ours), "text": _ours(item, ours)},
                {"key": point.value.percent, "text": point.value.verdict},
                None if ours is None else MODELLED if modelled else COUNTED.removesuffix(" here"),
            ]
        )
    return made


def _first(value: object) -> object:
    """The number by which a cell is sorted."""
    return value[0] if isinstance(value, (list, tuple)) else value


def _ours(item: Item, value: float | Sequence[float]) -> str:
    """Our number, or a range, without the unit, which the heading has."""
    kind = item.y.kind if item.y.kind == "count" else ""
    return "–".join(said(one, kind) for one in (value if isinstance(value, Sequence) else (value,)))


def marks(points: Sequence[Point]) -> list[str]:
    """Rows to which the model does not apply are red."""
    return ["" if point.value.applies else "failed" for point in points]


def facts(item: Item, points: Sequence[Point], styles: Styles) -> list[dict[str, Any]]:
    """The id that keeps each row across updates, and the look that its curve has in the picture."""
    found = []
    for point in points:
        look = curve_style(styles.named(point.curve))
        if point.value.alone:
            look = dataclasses.replace(look, dash=NO_LINE, marker=MARKS[point.value.source])
        elif item.drawn_as != "curves":
            look = dataclasses.replace(look, dash=NO_LINE)
        else:
            look = dataclasses.replace(look, dash=DASHED if point.value.compared[1] else ())
        found.append({"id": f"{point.curve} {point.x}", "style": sample(look)})
    return found


def thumbnail(
    item: Item, printed: Sequence[Curve], curves: Sequence[Curve]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Curves of the paper and ours: places from 0 to 1 across and upwards, on the scales of the axes, and what sets the
    look of each."""
    everything = [*printed, *curves]
    if not everything:
        return [], []
    across = _shares(item.x, [curve.x for curve in everything])
    upwards = _shares(item.y, [curve.y for curve in everything])
    places: list[list[list[float]]] = [
        np.round(np.column_stack(pair), 3).tolist() for pair in zip(across, upwards, strict=True)
    ]
    rings = zip(printed, places, strict=False)
    lines = zip(curves, places[len(printed) :], strict=True)
    return (
        [{"places": at, "off": curve.source == READ_OFF} for curve, at in rings],
        [{"places": at, "modelled": curve.source == MODELLED} for curve, at in lines],
    )


def _shares(axis: Axis, values: list[np.ndarray]) -> list[np.ndarray]:
    thinned = [each[:: 1 + each.size // FINEST] for each in values]
    scaled = [np.log10(each) if axis.log else each for each in thinned]
    low, high = min(each.min() for each in scaled), max(each.max() for each in scaled)
    return [(each - low) / (high - low) if high > low else np.full(each.size, 0.5) for each in scaled]
