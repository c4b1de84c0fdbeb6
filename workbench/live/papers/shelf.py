"""The papers with their items as small pictures, each with how far ours are from print once that is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import traitlets

from workbench.live.papers.paper_view import DEVIATIONS
from workbench.live.ui.assets import module
from workbench.live.ui.view import LiveWidget
from workbench.number_text import number
from workbench.papers.comparison import NOTABLE
from workbench.papers.items import Curve, Item, Paper, papers


class Shelf(LiveWidget):
    """All papers. open: called with the names of the paper and of the item that is pressed."""

    _esm = module("papers/shelf.js")
    papers = traitlets.List().tag(sync=True)
    """Of each its words and its items: name, title, printed points as shares of the picture, badge and its tone."""

    def __init__(self, open_item: Callable[[str, str], object]) -> None:
        self._open = open_item
        super().__init__()
        self.renew()
        self.on_msg(self._receive)

    def renew(self) -> None:
        """Bring the badges up to date."""
        self.papers = [_paper(paper) for paper in papers().values()]

    def _receive(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict) and content.get("kind") == "open":
            self._open(str(content.get("paper")), str(content.get("item")))


def _paper(paper: Paper) -> dict[str, Any]:
    return {"name": paper.name, "title": paper.title, "who": paper.who, "items": [_item(item) for item in paper.items]}


def _item(item: Item) -> dict[str, Any]:
    printed = item.printed()
    badge, tone = _badge(item, printed)
    shown = {"name": item.name, "title": item.title, "badge": badge, "tone": tone}
    return {**shown, "points": thumbnail(item, printed)}


def _badge(item: Item, printed: Sequence[Curve]) -> tuple[str, str]:
    """How far ours are from print, and whether that is near or far."""
    if not printed:
        return "no printed numbers", ""
    deviation = DEVIATIONS.get((item.paper, item.name))
    if deviation is None:
        return "not computed here yet", ""
    return f"{number(deviation)}% from print", "far" if deviation > NOTABLE else "near"


def thumbnail(item: Item, printed: Sequence[Curve]) -> list[list[float]]:
    """The printed points from 0 to 1 across and upwards, on the scales of the axes."""
    if not printed:
        return []
    shares = []
    for axis, values in ((item.x, [curve.x for curve in printed]), (item.y, [curve.y for curve in printed])):
        scaled = np.concatenate(values)
        scaled = np.log10(scaled) if axis.log else scaled
        low, extent = scaled.min(), np.ptp(scaled)
        shares.append((scaled - low) / extent if extent else np.full(scaled.size, 0.5))
    return [[round(float(x), 3), round(float(y), 3)] for x, y in zip(*shares, strict=True)]
