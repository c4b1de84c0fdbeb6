"""The papers with their items as small pictures, each with how far ours are from print once that is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from workbench.errors import InputError
from workbench.extensions.papers import Paper, papers
from workbench.extensions.papers.agreement import agreement
from workbench.extensions.papers.items import Item
from workbench.extensions.papers.page.paper_scene import thumbnail
from workbench.extensions.papers.page.paper_view import KNOWN
from workbench.extensions.papers.recorded import recorded
from workbench.live.ui.assets import script
from workbench.live.ui.view import LiveWidget
from workbench.registry import unknown_name


class Shelf(LiveWidget):
    """All papers. open: called with the names of the paper and of the item that is pressed."""

    _script = script("papers/shelf.js")
    papers = traitlets.List().tag(sync=True)
    """For each paper its words and its items: name, title, printed points and our lines as shares of the picture, badge
    and its tone."""

    last = traitlets.Unicode().tag(sync=True)
    """The item that was shown last, which has the focus when the shelf is shown again."""

    def __init__(self, open_item: Callable[[str, str], object]) -> None:
        self._open = open_item
        super().__init__()
        self.renew()
        self.on_msg(self._receive)

    def renew(self) -> None:
        """Bring the badges up to date."""
        self.papers = [_paper(paper) for paper in papers().values()]

    def first_of(self, paper: str) -> str:
        """The first item of a paper, as in `last`. Raises InputError, which lists them, for an unknown paper."""
        items = {each["name"]: each["items"] for each in self.papers}
        if paper not in items:
            raise InputError(unknown_name("paper", paper, items))
        return f"{paper}.{items[paper][0]['name']}"

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        if isinstance(content, dict) and content.get("kind") == "open":
            self._open(str(content.get("paper")), str(content.get("item")))


def _paper(paper: Paper) -> dict[str, Any]:
    return {"name": paper.name, "title": paper.title, "who": paper.who, "items": [_item(item) for item in paper.items]}


def _item(item: Item) -> dict[str, Any]:
    printed, stored = item.printed(), recorded(item)
    if (item.paper, item.name) in KNOWN:
        (found, curves), made = KNOWN[item.paper, item.name], "computed here"
    else:
        found = agreement(item.points(stored.rows if stored else [case.row for case in item.cases(item.paper_values)]))
        curves, made = (stored.curves, f"computed {stored.short}") if stored else ((), "not computed")
    badge, tone = found.badge
    points, lines = thumbnail(item, printed, curves)
    facts = {"name": item.name, "title": item.title, "badge": badge, "tone": tone, "made": made}
    return facts | {"points": points, "lines": lines, "as": item.drawn_as}
