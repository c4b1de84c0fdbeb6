"""The page of a report: one HTML file with all items, in the colours and sizes of the workbench's own pages, alive
without a kernel and without a network."""

from __future__ import annotations

import collections
import dataclasses
import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.extensions.papers import papers
from workbench.extensions.papers.column_words import column_words, quantity_words
from workbench.extensions.papers.comparison import PRINTED, UNEXPLAINED
from workbench.extensions.papers.reproduction import cell_text, cells_of
from workbench.extensions.papers.standing import INDEPENDENT, NOTABLE, Mark, Standing, mark_of
from workbench.files.data_files import PACKAGE
from workbench.live.inspect.plain import THEMES, html_of
from workbench.plots.html_table import Html, html_table
from workbench.words.numbers import deviation_text, duration

TOKENS = PACKAGE / "live" / "static" / "ui" / "tokens.css"
STYLE = PACKAGE / "extensions" / "papers" / "page" / "report.css"
THEME = """
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
Object.assign(document.documentElement.dataset, {wbBy: "system", wbTheme: dark ? "dark" : "light"});
"""
"""Sets the theme before the first picture; the scripts of the plots follow it from then on."""
ABOUT = (
    "Ours: counted or measured here. Modelled: computed for the machine of the paper.",
    "Deviation: the larger one of both from the print; unequal sizes have none, nor do times of this machine.",
    "Not counted: numbers that are made from the print, that no paper prints, or that another item counts.",
    "A reason is measured, plausible or not explained, and says so first. Pictures can be hovered and zoomed, and a "
    "press on a name hides its curve.",
)
Entry = dict[str, Any]
COMPARED = ("row", "quantity", "printed", "ours", "range", "ours / printed", "modelled", "deviation", "reason")
NUMBERS = range(2, 8)
EMPTY = ("-", "\N{EN DASH}", "")


def page(entries: Sequence[tuple[Entry, str]]) -> str:
    """The whole page. entries: of the report, each with its pictures as HTML, or "" for none."""
    only = [entry for entry, _ in entries]
    machines = dict.fromkeys(entry["configuration"]["machine"] for entry in only)
    # What is equal for all items is said once.
    alike = len(machines) < 2
    themes = "".join(f"<option>{theme}</option>" for theme in THEMES)
    body = [
        f"<header><h1>Tables and figures of the papers, printed and computed here</h1>"
        f'<label>theme <select class="wb-offline-theme">{themes}</select></label></header>',
        "<noscript><p>The pictures need JavaScript; those of figures are in the folder items too.</p></noscript>",
        f'<div class="report"><nav aria-label="Contents">{_contents(only)}</nav><main>',
        f'<p class="made">{text("; ".join(machines))}</p>',
        *(f"<p>{sentence}</p>" for sentence in ABOUT),
        table(TALLY, tally_rows(only), numbers=range(1, len(TALLY))),
    ]
    for paper in dict.fromkeys(entry["paper"] for entry in only):
        of_paper = [(entry, pictures) for entry, pictures in entries if entry["paper"] == paper]
        body += _paper(paper, of_paper, alike=alike)
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>Papers, printed and computed</title>",
            f"<style>{TOKENS.read_text(encoding='utf-8')}</style><script>{THEME}</script></head><body>",
            *body,
            f"</main></div>{html_of()}<style>{STYLE.read_text(encoding='utf-8')}</style></body></html>",
        ]
    )


def _paper(paper: str, entries: Sequence[tuple[Entry, str]], *, alike: bool) -> list[str]:
    """The heading of a paper, the notes that hold for several of its items, and its items."""
    about = papers()[paper]
    every = collections.Counter(note for entry, _ in entries for note in dict.fromkeys(entry["notes"]))
    shared = {note: number for number, note in enumerate((note for note in every if every[note] > 1), 1)}
    notes = "".join(f'<li id="{paper}-note-{number}">{text(note)}</li>' for note, number in shared.items())
    said = f'<p class="made">Notes on several items:</p><ol class="notes">{notes}</ol>' if shared else ""
    return [
        f'<h2 id="{paper}">{text(about.title)}</h2><p class="made">{text(f"{paper}: {about.who}")}</p>{said}',
        *(block(entry, pictures, _mark(entry), shared, alike=alike) for entry, pictures in entries),
    ]


def counts(values: Iterable[Mapping[str, Any]]) -> dict[Standing, int]:
    """How many compared numbers of entries stand in each way."""
    found = collections.Counter(value["standing"] for value in values)
    return {each: found[each.value] for each in Standing}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The standing of an item: its mark, and its printed numbers in words."""

    mark: Mark
    words: str

    @property
    def html(self) -> Html:
        kind = self.mark.name.lower().replace("_", "-")
        return Html(f'<span class="mark {kind}" title="{text(self.words)}"><b>{self.mark.sign}</b>')


def _mark(entry: Entry) -> Html:
    found = verdict(entry)
    return Html(f"{found.html} {text(found.words)}</span>")


def verdict(entry: Entry) -> Verdict:
    """The standing of the printed numbers of an item, in words."""
    if entry["failed"]:
        return Verdict(Mark.FAILED, Mark.FAILED.value)
    found = counts(entry["compared"])
    mark = mark_of(found)
    compared, near = sum(found[each] for each in INDEPENDENT), found[Standing.WITHIN] + found[Standing.FITTED]
    if mark is Mark.NO_NUMBERS:
        return Verdict(mark, "no numbers to compare")
    if mark is Mark.NOT_COMPARED:
        why = "its numbers are not counted" if found[Standing.NOT_COUNTED] else "other size or machine"
        return Verdict(mark, f"{mark.value}: {why}")
    if mark is Mark.AGREES:
        return Verdict(mark, f"all {compared} within {NOTABLE:.0f}%")
    far = {each: found[each] for each in (Standing.EXPLAINED, Standing.PLAUSIBLE, Standing.OPEN) if found[each]}
    each = ", ".join(f"{number} {standing.value}" for standing, number in far.items())
    return Verdict(mark, f"{near} of {compared} within {NOTABLE:.0f}%, {each}")


def tally_rows(entries: Sequence[Entry]) -> list[list[str]]:
    """For each paper, and for all, how many printed numbers stand in each way."""
    papers_here = dict.fromkeys(entry["paper"] for entry in entries)
    groups = {name: [entry for entry in entries if entry["paper"] == name] for name in papers_here}
    rows = []
    for name, of in (groups | {"all": list(entries)} if len(groups) > 1 else groups).items():
        found = counts(value for entry in of for value in entry["compared"])
        rows.append([name, str(sum(found[each] for each in INDEPENDENT)), *(str(found[each]) for each in Standing)])
    return rows


TALLY = ("paper", "compared independently", *(each.value for each in Standing))


def _contents(entries: Sequence[Entry]) -> str:
    """The items by paper, each with its mark, and what the marks say."""
    found = [(entry, verdict(entry)) for entry in entries]
    parts = []
    for paper in dict.fromkeys(entry["paper"] for entry in entries):
        lines = "".join(
            f'<li><a href="#{anchor(entry)}">{one.html}</span><span>{text(entry["title"] or entry["target"])}</span>'
            "</a></li>"
            for entry, one in found
            if entry["paper"] == paper
        )
        parts.append(f'<h4><a href="#{paper}">{paper}</a></h4><ul>{lines}</ul>')
    used = [mark for mark in Mark if any(one.mark is mark for _, one in found)]
    marks = "".join(f"<li>{Verdict(mark, mark.value).html}</span> {mark.value}</li>" for mark in used)
    return f'{"".join(parts)}<h4>Marks</h4><ul class="marks">{marks}</ul>'


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
        >>> from workbench.extensions.papers.report_page import _letter
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
                # Reports of earlier versions have the column alone.
                value.get("quantity") or quantity_words(value["column"]),
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
