"""The page of a report: one HTML file with all items, in the colours and sizes of the workbench's own pages."""

from __future__ import annotations

import collections
import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.extensions.papers import papers
from workbench.extensions.papers.comparison import PRINTED
from workbench.extensions.papers.reproduction import cell_text, cells_of
from workbench.extensions.papers.standing import INDEPENDENT, NOTABLE, Standing
from workbench.files.data_files import PACKAGE
from workbench.plots.html_table import Html, html_table
from workbench.words.numbers import deviation_text, duration

TOKENS = PACKAGE / "live" / "static" / "ui" / "tokens.css"
STYLE = """
body { margin: 0 auto; max-width: 1100px; padding: var(--wb-5) var(--wb-4); background: var(--wb-ground);
  color: var(--wb-ink); font: var(--wb-t-body)/var(--wb-lh) var(--wb-font); }
h1 { font-size: var(--wb-t-view); font-weight: var(--wb-w-head); margin: 0 0 var(--wb-1); }
h2 { font-size: var(--wb-t-lead); font-weight: var(--wb-w-head); margin: var(--wb-5) 0 0; padding-top: var(--wb-4);
  border-top: 1px solid var(--wb-hair); }
h3 { font-size: var(--wb-t-head); font-weight: var(--wb-w-head); margin: var(--wb-4) 0 var(--wb-1); }
p, ul { margin: var(--wb-1) 0; max-width: 80ch; }
ul { padding-left: var(--wb-4); }
a { color: var(--wb-accent); }
a:focus-visible, summary:focus-visible { outline: var(--wb-ring); outline-offset: var(--wb-ring-gap); }
.made, .notes, summary { color: var(--wb-ink-2); font-size: var(--wb-t-note); }
.wide { overflow-x: auto; margin: var(--wb-2) 0; }
table { border-collapse: collapse; font-size: var(--wb-t-note); font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--wb-ink-2); padding-bottom: var(--wb-1); }
th { background: var(--wb-surface); font-weight: var(--wb-w-firm); text-align: left; }
th, td { padding: var(--wb-1) var(--wb-2); border-bottom: 1px solid var(--wb-hair); vertical-align: top; }
td:last-child { max-width: 42ch; }
.wb-number { text-align: right; white-space: nowrap; }
.good { color: var(--wb-good); } .warn { color: var(--wb-warn); } .bad { color: var(--wb-bad); }
figure { margin: var(--wb-3) 0; padding: var(--wb-2); background: #fff; border: 1px solid var(--wb-hair);
  border-radius: var(--wb-radius); width: fit-content; max-width: 100%; box-sizing: border-box; overflow-x: auto; }
figure svg { display: block; max-width: 100%; height: auto; }
"""
THEME = """
const dark = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement.dataset;
const set = () => Object.assign(root, {wbBy: "system", wbTheme: dark.matches ? "dark" : "light"});
dark.addEventListener("change", set); set();
"""
Entry = dict[str, Any]


def page(entries: Sequence[tuple[Entry, str]]) -> str:
    """The whole page. entries: of the report, each with its figure as SVG or ""."""
    machines = dict.fromkeys(entry["configuration"]["machine"] for entry, _ in entries)
    body = [
        "<h1>Tables and figures of the papers, printed and computed here</h1>",
        f'<p class="made">{_text("; ".join(machines))}</p>',
        "<p>Ours: counted or measured here. Modelled: computed for the machine of the paper. Deviation: the larger one "
        "of both from the print. Times of this machine have a ratio to those printed and no deviation, as the machines "
        "differ; unequal sizes have neither. Not counted: numbers that are made from the print, that no paper prints, "
        "or that are rows of another item. A reason begins with what it rests on.</p>",
        _summary([entry for entry, _ in entries]),
    ]
    for paper in dict.fromkeys(entry["paper"] for entry, _ in entries):
        about = papers()[paper]
        body.append(f'<h2>{_text(about.title)}</h2><p class="made">{_text(f"{paper}: {about.who}")}</p>')
        body += [_item(entry, picture) for entry, picture in entries if entry["paper"] == paper]
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>Papers, printed and computed</title>",
            f"<style>{TOKENS.read_text(encoding='utf-8')}{STYLE}</style><script>{THEME}</script></head><body>",
            *body,
            "</body></html>",
        ]
    )


def worst(entry: Entry) -> float | None:
    """The largest deviation in percent; None where nothing is compared in numbers."""
    known = [value["percent"] for value in entry["compared"] if value["percent"] is not None]
    return max(known, key=abs, default=None)


def counts(values: Iterable[Mapping[str, Any]]) -> dict[Standing, int]:
    """How many compared numbers of entries stand in each way."""
    found = collections.Counter(value["standing"] for value in values)
    return {each: found[each.value] for each in Standing}


def verdict(entry: Entry) -> str:
    """The standing of the printed numbers of an item, in words."""
    if entry["failed"]:
        return "failed"
    found = counts(entry["compared"])
    compared, near = sum(found[each] for each in INDEPENDENT), found[Standing.WITHIN] + found[Standing.FITTED]
    if not entry["compared"]:
        return "nothing printed to compare"
    if not compared:
        return Standing.NOT_COUNTED.value if found[Standing.NOT_COUNTED] else "not compared: other size or machine"
    if near == compared:
        return f"all within {NOTABLE:.0f}%"
    if found[Standing.OPEN]:
        return f"{found[Standing.OPEN]} of {compared} {Standing.OPEN.value}"
    return f"{compared - near} of {compared} have a reason"


def kinds(entry: Entry) -> str:
    """The kinds of our values: counted or measured here, timed here, modelled."""
    found = entry["compared"]
    here = [value for value in found if value["ours"] is not None]
    words = {
        "computed here": any(not value["elsewhere"] for value in here),
        "timed here": any(value["elsewhere"] for value in here),
        "modelled": any(value["modelled"] is not None for value in found),
    }
    return ", ".join(word for word, there in words.items() if there) or "-"


def summary_rows(entries: Iterable[Entry]) -> list[list[str]]:
    """Item, what of ours there is, its size, the largest deviation, what becomes of its numbers, and seconds."""
    return [
        [
            f"{entry['paper']} {entry['target']}",
            kinds(entry),
            str(entry["configuration"]["max_n"]),
            deviation_text(worst(entry)),
            verdict(entry),
            duration(entry["seconds"]),
        ]
        for entry in entries
    ]


SUMMARY = ("item", "next to the print", "n at most", "largest deviation", "printed numbers", "made in")


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


def _summary(entries: Sequence[Entry]) -> str:
    tallies = _table(TALLY, tally_rows(entries), numbers=range(1, len(TALLY)))
    rows = []
    for entry, (item, *cells) in zip(entries, summary_rows(entries), strict=True):
        state = _state(cells[3])
        linked = Html(f'<a href="#{_anchor(entry)}">{_text(item)}</a>')
        rows.append([linked, *cells[:3], Html(f'<span class="{state}">{_text(cells[3])}</span>'), cells[4]])
    return tallies + _table(SUMMARY, rows, numbers=(2, 3, 5))


def _state(words: str) -> str:
    if words == "failed":
        return "bad"
    return "warn" if words.endswith(Standing.OPEN.value) else "good" if "within" in words or "reason" in words else ""


def _item(entry: Entry, picture: str) -> str:
    made = entry["configuration"]
    about = [
        f"n at most {made['max_n']}{', the quick size' if made['quick'] else ''}",
        f"made {entry['date'].replace('T', ' ').removesuffix('+00:00')} UTC in {duration(entry['seconds'])}",
        f"on {made['machine']}, accelerator: {made['device']}, version {made['workbench']}",
    ]
    parts = [
        f'<section id="{_anchor(entry)}"><h3>{_text(entry["target"])}. {_text(entry["title"])}</h3>',
        f'<p class="made">{_text("; ".join(about))}</p>',
    ]
    if entry["failed"]:
        return f'{"".join(parts)}<p class="bad">Failed: {_text(entry["failed"])}</p></section>'
    if picture:
        parts.append(f"<figure>{picture[picture.index('<svg') :]}</figure>")
    if entry["compared"]:
        parts.append(_compared(entry["compared"]))
        parts.append(f"<details><summary>All columns</summary>{_table(*cells_of(entry['rows']))}</details>")
    else:
        parts.append(_table(*cells_of(entry["rows"])))
    notes = "".join(f"<li>{_text(note)}</li>" for note in entry["notes"])
    return f'{"".join(parts)}<ul class="notes">{notes}</ul></section>'


COMPARED = ("row", "column", "printed", "ours", "range", "ours / printed", "modelled", "deviation", "reason or remark")


def _compared(values: Sequence[Entry]) -> str:
    rows = []
    for value in values:
        state = "warn" if value["standing"] == Standing.OPEN.value else ""
        rows.append(
            [
                value["row"],
                value["column"].removeprefix("printed").replace("_", " ").strip() or "-",
                _theirs(value),
                *(cell_text(value[name]) for name in ("ours", "spread", "ratio", "modelled")),
                value.get("verdict") or deviation_text(value["percent"]),
                Html(f'<span class="{state}">{_text(value["remark"])}</span>'),
            ]
        )
    # Columns of which no row has anything say nothing.
    kept = [k for k in range(len(COMPARED)) if any(row[k] not in ("-", '<span class=""></span>') for row in rows)]
    numbers = [place for place, k in enumerate(kept) if 2 <= k <= 7]
    return _table([COMPARED[k] for k in kept], [[row[k] for k in kept] for row in rows], numbers=numbers)


def _theirs(value: Entry) -> str:
    """The number of the paper in its digits, and its source where that is not the text."""
    source = value.get("source") or PRINTED
    text = value.get("printed_text") or cell_text(value["printed"])
    return text if source == PRINTED else f"{text}, {source}"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Iterable[int]) -> str:
    return f'<div class="wide" tabindex="0">{html_table(headings, rows, numbers=numbers)}</div>'


def _anchor(entry: Entry) -> str:
    return f"{entry['paper']}-{entry['target']}"


def _text(text: str) -> str:
    return html.escape(text)
