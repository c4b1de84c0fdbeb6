"""A table that is sorted by pressing a heading, whose rows can be chosen and acted on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import traitlets

from workbench.live.ui.assets import script
from workbench.live.ui.view import LiveWidget
from workbench.plots.scenes.style import COLOURS, CurveStyle
from workbench.words.numbers import count, duration, number

Act = Callable[[str, list[Any], str], object]


class SortTable(LiveWidget):
    """Rows of cells. order: the column that it is sorted by, -1 for none, and whether it falls.

    empty: the text while there are no rows. marks: for each row "best", "failed", "estimated" or nothing. facts: for
    each row its "id", which keeps it across updates, and the parts that `sorttable.js` shows: "style", "title", "name",
    "pinned", "hidden", the "acts" that are possible. verbs: the acts on rows, {"name", "title", "tip"}; "inline" for a
    button in each row, "one" for exactly one row, "key" of the keyboard, "off" why not. chosen: ids. low: columns that
    a narrow table leaves out; lower: those that the narrowest leaves out. named: the column whose cells can be edited
    by verb "rename". hint: the sentence of the toolbar while no row is chosen; empty for one that lists the verbs.
    """

    _script = script("ui/sorttable.js")
    columns = traitlets.List(traitlets.Unicode()).tag(sync=True)
    rows = traitlets.List().tag(sync=True)
    marks = traitlets.List(traitlets.Unicode()).tag(sync=True)
    facts = traitlets.List().tag(sync=True)
    order = traitlets.Dict({"column": -1, "falling": False}).tag(sync=True)
    empty = traitlets.Unicode("").tag(sync=True)
    verbs = traitlets.List().tag(sync=True)
    chosen = traitlets.List().tag(sync=True)
    low = traitlets.List(traitlets.Unicode()).tag(sync=True)
    lower = traitlets.List(traitlets.Unicode()).tag(sync=True)
    named = traitlets.Unicode("").tag(sync=True)
    hint = traitlets.Unicode("").tag(sync=True)

    def __init__(self, act: Act | None = None, **traits: Any) -> None:
        super().__init__(**traits)
        self._act = act
        self.on_msg(self._receive)

    def show(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        marks: Sequence[str] = (),
        facts: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Show plain values, None where there is none; numbers are sorted as numbers. Only changes are sent."""
        with self.hold_sync():
            self.columns = list(columns)
            self.marks = list(marks)
            self.facts = [dict(fact) for fact in facts]
            self.rows = [[cell(value) for value in row] for row in rows]

    def press(self, verb: str, rows: Sequence[Any], value: str = "") -> None:
        """Act as the page does when a verb is pressed."""
        if self._act is not None:
            self._act(verb, list(rows), value)

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        if isinstance(content, dict) and content.get("kind") == "act" and isinstance(content.get("rows"), list):
            try:
                self.press(str(content.get("verb")), content["rows"], str(content.get("value", "")))
            # Nothing else would report it.
            except Exception:
                logging.getLogger(__name__).exception("an act of a table failed")


def cell(value: object) -> dict[str, Any]:
    """A value as it is sorted and as it is written; a dictionary is both already."""
    if isinstance(value, dict):
        return value
    if value is None:
        return {"key": None, "text": "–"}
    if isinstance(value, bool):
        return {"key": "yes" if value else "no", "text": "yes" if value else "no"}
    if isinstance(value, int):
        return {"key": value, "text": count(value)}
    if isinstance(value, float):
        finite = value == value and abs(value) != float("inf")
        return {"key": value if finite else None, "text": number(value)}
    return {"key": str(value), "text": str(value)}


def time_bar(setup: float, iterating: float, longest: float, colour: str, more: str = "") -> dict[str, Any]:
    """A cell with a bar of setup and iterations in s, hatched and solid, sorted by their sum.

    longest: the time of a full bar; a longer one is cut there, and marked. more: a clause behind what is read out.
    """
    label = "; ".join(filter(None, (f"setup {duration(setup)}, iterations {duration(iterating)}", more)))
    whole = max(longest, 1e-30)
    first = min(1.0, setup / whole)
    second = min(1.0 - first, iterating / whole)
    # Shares of the longest bar are sums of rounded numbers.
    cut = setup + iterating > whole * (1 + 1e-9)
    parts = {"first": first, "second": second, "cut": cut, "colour": colour, "label": label}
    return {"key": setup + iterating, "text": "", "tip": label, "parts": parts}


def sample(style: CurveStyle) -> dict[str, Any]:
    """A style as the page draws it: the colour is that of the theme."""
    colour = f"var(--wb-s{COLOURS.index(style.colour) + 1}, {style.colour})"
    return {"colour": colour, "dash": list(style.dash), "marker": style.marker}
