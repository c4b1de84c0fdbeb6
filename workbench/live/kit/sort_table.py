"""A table that its reader sorts by pressing a heading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from workbench.live.kit.assets import module, style_sheet


class SortTable(anywidget.AnyWidget):
    """Rows of cells. order: the column that it is sorted by, -1 for none, and whether it falls.

    empty: what stands there while there are no rows. marks: for each row "best", "failed" or nothing.
    """

    _esm = module("kit/sorttable.js")
    _css = style_sheet()

    columns = traitlets.List(traitlets.Unicode()).tag(sync=True)
    rows = traitlets.List().tag(sync=True)
    marks = traitlets.List(traitlets.Unicode()).tag(sync=True)
    order = traitlets.Dict({"column": -1, "falling": False}).tag(sync=True)
    empty = traitlets.Unicode("").tag(sync=True)

    def show(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], marks: Sequence[str] = ()) -> None:
        """Show plain values, None where there is none; numbers are sorted as numbers."""
        with self.hold_sync():
            self.columns = list(columns)
            self.marks = list(marks)
            self.rows = [[_cell(value) for value in row] for row in rows]


def _cell(value: Any) -> dict[str, Any]:
    """A value as it is sorted and as it is written."""
    if value is None:
        return {"key": None, "text": "–"}
    if isinstance(value, bool):
        return {"key": "yes" if value else "no", "text": "yes" if value else "no"}
    if isinstance(value, (int, float)):
        finite = value == value and abs(value) != float("inf")
        text = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
        return {"key": value if finite else None, "text": text}
    return {"key": str(value), "text": str(value)}
