"""Results of items at the paper's values that come with the package, computed earlier by `scripts.record_papers`."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.extensions.papers.comparison import Row, row_name
from workbench.extensions.papers.items import MEASURED, Case, Curve, Item
from workbench.extensions.papers.printed import DATA
from workbench.files.codec import read_json
from workbench.records.typed import read

FILE = DATA / "recorded.json"
FINEST = 200
"""Points of a whole curve that are kept."""


@dataclasses.dataclass(frozen=True)
class StoredCurve:
    """A curve that is no column of the rows."""

    name: str
    source: str
    x: list[float]
    y: list[float]


@dataclasses.dataclass(frozen=True)
class StoredItem:
    """name: as paper.item. names: of the rows. found: the columns that were computed for each. left: works of `works`
    that were not done. date: in ISO format. machine: in words, with its load."""

    name: str
    names: list[str]
    found: list[dict[str, Any]]
    curves: list[StoredCurve]
    left: int
    works: int
    date: str
    machine: str


@dataclasses.dataclass(frozen=True)
class Stored:
    """The file."""

    items: list[StoredItem]


@dataclasses.dataclass(frozen=True, eq=False)
class Recorded:
    """Rows and curves of an item, and in words on which day and machine they were computed. short: the day."""

    rows: Sequence[Row]
    curves: Sequence[Curve]
    left: int
    works: int
    day: str
    short: str
    machine: str


@functools.cache
def stored() -> Stored:
    """The file of all items; an empty one where it cannot be read."""
    try:
        return read(Stored, read_json(FILE.read_bytes()), "recorded results")
    except (OSError, InputError):
        return Stored([])


@functools.cache
def recorded(item: Item) -> Recorded | None:
    """The recorded results of an item; None where it has none, other rows by now, or values that cannot be read."""
    found = next((each for each in stored().items if each.name == f"{item.paper}.{item.name}"), None)
    cases = list(item.cases(item.paper_values)) if found else []
    if found is None or found.names != names_of(item, cases):
        return None
    try:
        return _read(item, cases, found)
    # Columns are of any type, which only their use tells.
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return None


def _read(item: Item, cases: Sequence[Case], found: StoredItem) -> Recorded:
    """The rows, curves and day of what was stored."""
    rows = item.joined(cases, found.found)
    whole = [Curve(each.name, np.array(each.x), np.array(each.y), each.source) for each in found.curves]
    curves = [_elsewhere(curve) for curve in (*item.curves(rows), *whole)]
    day = datetime.fromisoformat(found.date)
    long, short = (f"{day.day} {month} {day.year}" for month in (f"{day:%B}", f"{day:%b}"))
    return Recorded(rows, curves, found.left, found.works, long, short, found.machine)


def names_of(item: Item, cases: Sequence[Case]) -> list[str]:
    """The names of the rows, by which a file of other rows is found out."""
    return [row_name(case.row, tuple(name for name in item.named if name in case.row)) for case in cases]


def to_store(item: Item, cases: Sequence[Case], known: Mapping[tuple[int, int], Any], machine: str) -> StoredItem:
    """An item for the file, of today. cases: with the columns of the model. known: as of `Item.rows`."""
    plain = list(item.cases(item.paper_values))
    found = [{k: v for k, v in case.row.items() if k not in old.row} for case, old in zip(cases, plain, strict=True)]
    curves = []
    for (at, place), result in known.items():
        work = cases[at].works[place]
        found[at] |= work.columns(result)
        curves += [_thinned(curve) for curve in work.curves(result)]
    works = sum(len(case.works) for case in cases)
    rounded = [{name: _plain(value) for name, value in row.items()} for row in found]
    today, name = datetime.now(UTC).date().isoformat(), f"{item.paper}.{item.name}"
    return StoredItem(name, names_of(item, plain), rounded, curves, works - len(known), works, today, machine)


def _elsewhere(curve: Curve) -> Curve:
    """A curve that was measured on another machine, or on another day, is not called one of here."""
    if curve.source != MEASURED:
        return curve
    return dataclasses.replace(curve, name=re.sub(r"(?<=measured) here|(?<= )here\b", _recorded, curve.name))


def _recorded(found: re.Match[str]) -> str:
    return "" if found[0].startswith(" ") else "recorded"


def _thinned(curve: Curve) -> StoredCurve:
    kept = slice(None, None, 1 + curve.x.size // FINEST)
    return StoredCurve(curve.name, curve.source, _plain(curve.x[kept].tolist()), _plain(curve.y[kept].tolist()))


def _plain(value: object) -> Any:
    """A value for JSON, numbers with six digits."""
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, (float, np.number)) else value
