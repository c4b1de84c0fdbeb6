"""The picture of an item: printed points as rings, those read off a figure as diamonds, our curves or bars, and pale
ones of before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.extensions.papers.comparison import PRINTED, READ_OFF, REFERENCE
from workbench.extensions.papers.items import MODELLED, Curve, Item
from workbench.plots.scenes.scene import BarsOf, CurveOf, Layer, PointsOf
from workbench.plots.scenes.style import COLOURS
from workbench.words.numbers import THIN, said

FEW = 40
"""Points of a curve that have a mark each."""
SOLID, DASHED = ((), (9.0, 2.5, 1.5, 2.5), (12.0, 3.0)), ((5.0, 4.0), (1.5, 3.0), (5.0, 2.0, 1.5, 2.0, 1.5, 2.0))
"""The dashes of what is counted or measured, and of what is modelled: the first for as many curves as there are
colours, the next ones for curves whose colours repeat."""
RING = 6.5
MARKS = {PRINTED: "o", READ_OFF: "D", REFERENCE: "o"}
"""The mark of a point of the paper by its source."""
DOT = 2.5
WIDE = 0.8
"""The width of the bars of a group together."""


class Styles:
    """Styles of the curves of an item: one that is compared has that of its printed curve."""

    def __init__(self, printed: Sequence[Curve]) -> None:
        self._places = {curve.name: place for place, curve in enumerate(printed)}

    def of(self, curve: Curve) -> int:
        return self.named(curve.of or curve.name)

    def named(self, name: str) -> int:
        return self._places.setdefault(name, len(self._places))


def item_layers(
    item: Item,
    printed: Sequence[Curve],
    ours: Sequence[Curve],
    before: Sequence[Curve] = (),
    styles: Styles | None = None,
) -> list[Layer]:
    """before: curves of other values, which are pale. styles: kept from one picture to the next."""
    styles = styles or Styles(printed)
    # Bars of a group stand next to one another, and a printed point above the bar that it belongs to.
    wide = WIDE / max(1, len(ours))
    shifts = [(k + 0.5) * wide - WIDE / 2 if item.drawn_as == "bars" else 0.0 for k in range(len(ours))]
    pale = [_curve(item, curve, styles, faint=True) for curve in before]
    at = {curve.of: shift for curve, shift in zip(ours, shifts, strict=True)}
    rings = [layer for source in MARKS for layer in _rings(item, printed, styles, at, source)]
    if item.drawn_as == "bars":
        bars = [
            BarsOf(curve.name, curve.x + shift, curve.y, 0.9 * wide, style=styles.of(curve))
            for curve, shift in zip(ours, shifts, strict=True)
        ]
        return [*item.behind(), *pale, *bars, *rings]
    # The marks of curves are to be seen in the rings that they meet.
    return [*item.behind(), *pale, *rings, *(_curve(item, curve, styles) for curve in ours)]


def _curve(item: Item, curve: Curve, styles: Styles, *, faint: bool = False) -> CurveOf:
    few = curve.x.size <= FEW
    # Dashes say where numbers come from, colours what they belong to.
    name, only, style = "" if faint else curve.name, item.drawn_as != "curves", styles.of(curve)
    dash = (DASHED if curve.source == MODELLED else SOLID)[style // len(COLOURS) % len(SOLID)]
    return CurveOf(name, curve.x, curve.y, style, every=few, only=only, faint=faint, dash=dash, mark=few)


def _rings(
    item: Item, printed: Sequence[Curve], styles: Styles, shifts: Mapping[str, float], source: str
) -> list[Layer]:
    """A mark for each point of the paper, with a dot in the colour of its curve. Curves of which there is one here too
    share an entry of the legend, since that has their colour; each other one has its own."""
    unit = f"{THIN}{item.y.kind}" if item.y.kind not in ("", "count") else ""
    shared, alone, dots = [], [], []
    for curve in (curve for curve in printed if curve.source == source):
        x = curve.x + shifts.get(curve.name, 0.0)
        style, texts = styles.of(curve), []
        for at, text in zip(curve.x, curve.texts, strict=True):
            texts.append([f"{curve.name}, {place(item, at)}", f"{source}: {text}{unit}"])
        dots += [PointsOf("", x, curve.y, size=DOT, marker=".", style=style)]
        if curve.name in shifts:
            shared.append((x, curve.y, texts))
            continue
        look = {"size": RING, "marker": MARKS[source], "texts": texts, "word": source}
        alone.append(PointsOf(f"{curve.name}, {source}", x, curve.y, style=style, **look))
    if shared:
        x, y = (np.concatenate(each) for each in list(zip(*shared, strict=True))[:2])
        texts = [text for _, _, of_curve in shared for text in of_curve]
        look = {"size": RING, "marker": MARKS[source], "texts": texts, "word": source}
        alone.insert(0, PointsOf(source, x, y, len(texts), outlined=True, **look))
    return [*alone, *dots]


def place(item: Item, x: float) -> str:
    """A position on the axis in words."""
    if item.x.names is not None:
        return str(item.x.names[round(x)])
    return f"{item.x.word or item.x.title} = {said(float(x), item.x.kind)}"
