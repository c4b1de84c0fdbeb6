"""HTML tables of runs, kernels, phases and costs."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

NUMBER = ' class="wb-number"'
PLAIN = {
    False: ' style="text-align: left; padding: 2px 8px; line-height: 1.5; white-space: nowrap"',
    True: ' style="text-align: right; padding: 2px 8px; line-height: 1.5; white-space: nowrap"',
}


class Html(str):
    """Text that is HTML already. Every other text is escaped where it becomes a cell."""


def html_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Iterable[int] = (),
    classes: str = "wb-table",
    caption: str = "",
) -> str:
    """A table with a head. The last cell of a row with fewer cells than headings spans the other columns.

    numbers: positions of the columns with numbers, which are aligned to the right. classes: of the table; "" for a page
    without the style sheet of the views, where the alignment is written into the cells.
    """
    right = frozenset(numbers)

    def looks(column: int) -> str:
        return (NUMBER if column in right else "") if classes else PLAIN[column in right]

    def line(cells: Sequence[str]) -> str:
        rest = len(headings) - len(cells)
        span = f' colspan="{rest + 1}"' if rest else ""
        parts = [f"<td{looks(column)}>{_escaped(cell)}</td>" for column, cell in enumerate(cells[:-1])]
        column = len(cells) - 1
        last = f"<td{span or looks(column)}>{_escaped(cells[-1])}</td>"
        return f"<tr>{''.join(parts)}{last}</tr>"

    head = "".join(f'<th scope="col"{looks(column)}>{_escaped(name)}</th>' for column, name in enumerate(headings))
    about = f"<caption>{_escaped(caption)}</caption>" if caption else ""
    body = "".join(line(cells) for cells in rows)
    named = f' class="{classes}"' if classes else ""
    return f"<table{named}>{about}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _escaped(text: str) -> str:
    return text if isinstance(text, Html) else html.escape(text)
