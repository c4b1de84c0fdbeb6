"""An item of a report as a block of its page: the picture, the numbers, and the reasons, each said once."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.extensions.papers.column_words import column_words
from workbench.extensions.papers.comparison import PRINTED, UNEXPLAINED
from workbench.extensions.papers.reproduction import cell_text, cells_of
from workbench.extensions.papers.standing import Standing
from workbench.plots.html_table import Html, html_table
from workbench.words.numbers import deviation_text, duration

Entry = dict[str, Any]
COMPARED = ("row", "quantity", "printed", "ours", "range", "ours / printed", "modelled", "deviation", "reason")
NUMBERS = range(2, 8)
EMPTY = ("-", "")


def block(entry: Entry, pictures: str, mark: Html, shared: Mapping[str, int], *, alike: bool) -> str:
    """An item. mark: of its numbers. shared: numbers of the notes that the paper says once. alike: all items were made
    on the same machine, which the page names."""
    head = f'<section id="{anchor(entry)}" class="item"><h3>{text(entry["title"] or entry["target"])}</h3>'
    head += f'<p class="made">{mark}<span>{text(_made(entry, alike=alike))}</span></p>'
    if entry["failed"]:
        return f'{head}<p class="bad">Failed: {text(entry["failed"])}</p></section>'
    if entry["compared"]:
        reasons = _reasons(entry["compared"])
        numbers = _compared(entry, reasons) + _listed(entry, reasons)
        numbers += f"<details><summary>All columns</summary>{table(*_in_words(entry['rows']))}</details>"
    else:
        numbers = table(*_in_words(entry["rows"]))
    side = f'<div class="picture">{pictures}</div>' if pictures else ""
    body = f'<div class="parts{"" if pictures else " alone"}">{side}<div class="numbers">{numbers}</div></div>'
    return f"{head}{body}{_notes(entry, shared)}</section>"


def _made(entry: Entry, *, alike: bool) -> str:
    made = entry["configuration"]
    about = [
        f"{entry['paper']} {entry['target']}",
        f"n at most {made['max_n']}{', the quick size' if made['quick'] else ''}",
        f"made {entry['date'].replace('T', ' ').removesuffix('+00:00')} UTC in {duration(entry['seconds'])}",
        f"accelerator: {made['device']}",
        *([] if alike else [f"on {made['machine']}, version {made['workbench']}"]),
    ]
    return "; ".join(about)


def _reasons(values: Sequence[Entry]) -> dict[str, str]:
    """A letter for each remark, in the order of the rows."""
    remarks = dict.fromkeys(value["remark"] for value in values if value["remark"])
    return {remark: _letter(place) for place, remark in enumerate(remarks)}


def _letter(place: int) -> str:
    """a to z, then aa, ab and so on.

    Examples:
        >>> from workbench.extensions.papers.report_item import _letter
        >>> _letter(0), _letter(27)
        ('a', 'ab')
    """
    before, last = divmod(place, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + last)


def _compared(entry: Entry, reasons: Mapping[str, str]) -> str:
    rows = []
    for value in entry["compared"]:
        state = "warn" if value["standing"] == Standing.OPEN.value else ""
        letter = reasons.get(value["remark"], "")
        link = f'<a class="{state}" href="#{anchor(entry)}-{letter}">{letter}</a>' if letter else ""
        rows.append(
            [
                value["row"],
                value["quantity"],
                _theirs(value),
                *(cell_text(value[name]) for name in ("ours", "spread", "ratio", "modelled")),
                value.get("verdict") or deviation_text(value["percent"]),
                Html(link),
            ]
        )
    # Columns of which no row has anything say nothing.
    kept = [k for k in range(len(COMPARED)) if any(row[k] not in EMPTY for row in rows)]
    numbers = [place for place, k in enumerate(kept) if k in NUMBERS]
    return table([COMPARED[k] for k in kept], [[row[k] for k in kept] for row in rows], numbers=numbers)


def _listed(entry: Entry, reasons: Mapping[str, str]) -> str:
    """The reasons below their table, each with what it rests on first, and how many numbers it is of."""
    lines = []
    for remark, letter in reasons.items():
        of = [value for value in entry["compared"] if value["remark"] == remark]
        state = "warn" if of[0]["standing"] == Standing.OPEN.value else ""
        rests, colon, rest = remark.partition(": ")
        said = f"<b>{text(rests)}</b>: {text(rest)}" if colon else f"<b>{text(remark)}</b>"
        how_many = f" ({len(of)} numbers)" if len(of) > 1 else ""
        lines.append(f'<li id="{anchor(entry)}-{letter}" class="{state}"><i>{letter}</i> {said}{how_many}</li>')
    return f'<ul class="reasons">{"".join(lines)}</ul>' if lines else ""


def _notes(entry: Entry, shared: Mapping[str, int]) -> str:
    # What is not explained stands below the table already.
    notes = [note for note in entry["notes"] if not note.startswith(f"{UNEXPLAINED}, ")]
    own = "".join(f"<li>{text(note)}</li>" for note in notes if note not in shared)
    numbers = sorted({shared[note] for note in notes if note in shared})
    links = ", ".join(f'<a href="#{entry["paper"]}-note-{number}">{number}</a>' for number in numbers)
    also = f"<li>Notes on several items of the paper: {links}.</li>" if links else ""
    return f'<ul class="notes">{own}{also}</ul>' if own or also else ""


def _in_words(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]], list[int]]:
    """All columns of the rows, with headings in words."""
    _, cells, numbers = cells_of(rows)
    return [column_words(name) for name in rows[0]], cells, numbers


def _theirs(value: Entry) -> str:
    """The number of the paper in its digits, and its source where that is not the text."""
    source = value.get("source") or PRINTED
    said = value.get("printed_text") or cell_text(value["printed"])
    return said if source == PRINTED else f"{said}, {source}"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Iterable[int]) -> str:
    """A table that scrolls by itself where the window is narrow."""
    return f'<div class="wide" tabindex="0">{html_table(headings, rows, numbers=numbers)}</div>'


def anchor(entry: Entry) -> str:
    """The id of an item on the page."""
    return f"{entry['paper']}-{entry['target']}"


def text(said: str) -> str:
    """Text as HTML."""
    return html.escape(said)
