"""A report of tables and figures in a folder: each is written as soon as it is made, as JSON and SVG, and is made again
only for another configuration."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import workbench
from workbench.devices.default_accelerator import ORDER, accelerators_among, default_accelerator
from workbench.errors import InputError, error_message, printable_path
from workbench.extensions.papers import PAPERS, Target, target_of
from workbench.extensions.papers.report_page import page
from workbench.extensions.papers.reproduction import Progress
from workbench.files import write
from workbench.files.codec import read_json
from workbench.files.data_files import PACKAGE, data_folder
from workbench.live.inspect.plain import html_of
from workbench.machines.describe import machine_line
from workbench.plots.figures.saving import save
from workbench.records.typed import read

MARK, MARKED = "report.json", "tables and figures of papers"
"""The file by which a folder is known as a report, and what it says."""
PAGE, PARTS = "index.html", "items"
HEIGHT = 320
"""Pixels of a picture's height on the page."""
Entry = dict[str, Any]
"""The stored data of an item: those of `Reproduction.to_dict`, and how, when and where it was made."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """An item that a report is to have."""

    paper: str
    name: str
    target: Target

    @property
    def words(self) -> str:
        return f"{self.paper} {self.name}"

    @property
    def stem(self) -> str:
        return f"{self.paper}-{self.name}"


@dataclasses.dataclass(frozen=True)
class Choices:
    """The way of making items. max_n: the largest number of grid points per side. quick: no item takes more than a
    minute. device: where accelerators are measured, "cuda", "opencl" or "cpu" for none; "" takes the first."""

    max_n: int = 512
    quick: bool = False
    device: str = ""

    def size(self, target: Target) -> int:
        """The largest size of an item."""
        return max(target.smallest, min(target.quick, self.max_n)) if self.quick else self.max_n

    @property
    def accelerators(self) -> tuple[str, ...]:
        if self.device == "cpu":
            return ()
        return (self.device,) if self.device else ORDER

    def check(self) -> None:
        """Raise InputError where the accelerator that was named is not here."""
        with accelerators_among(self.accelerators):
            found, why = default_accelerator()
        if self.device not in ("", "cpu", found):
            raise InputError(why)


def asked(paper: str = "", name: str = "") -> list[Asked]:
    """All items, those of a paper, or one. Raises InputError, which lists them, for an unknown paper or item."""
    if name:
        return [Asked(paper, name, target_of(paper, name))]
    if paper and paper not in PAPERS:
        target_of(paper, "")
    return [Asked(one, each, of[each]) for one, of in PAPERS.items() if paper in ("", one) for each in of]


class Report:
    """The report in a folder, which is made if it is not there; an empty one becomes a report.

    Raises InputError for a folder with other files, and where it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{printable_path(folder)} is no folder; choose another place for the report")
        if folder.is_dir() and any(folder.iterdir()) and not self._is_report():
            raise InputError(
                f"{printable_path(folder)} has files and is no report of the workbench; choose a new or an empty folder"
            )
        try:
            (folder / PARTS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make {printable_path(folder)}: {error.strerror}; choose another place") from None
        write(folder / MARK, json.dumps({"report": MARKED, "workbench": workbench.__version__}))

    def _is_report(self) -> bool:
        mark = _read(self.folder / MARK)
        return mark is not None and mark.get("report") == MARKED

    def kept(self, item: Asked, choices: Choices) -> Entry | None:
        """The item, if it is there, made with the same choices, sources and machine, and did not fail."""
        entry = self._entry(item)
        if entry is None or entry["failed"] or entry["configuration"] != configuration(item, choices):
            return None
        return entry

    def make(self, item: Asked, choices: Choices, progress: Progress) -> Entry:
        """Make an item and write it; one that fails is written with a sentence that says why."""
        begun = perf_counter()
        entry: Entry = {"paper": item.paper, "target": item.name, "configuration": configuration(item, choices)}
        picture, alive = self._part(item, ".svg"), self._part(item, ".html")
        try:
            with accelerators_among(choices.accelerators):
                made = item.target.made(choices.size(item.target), progress, choices.device)
            entry |= {**made.to_dict(), "failed": ""}
            for path in (picture, alive):
                path.unlink(missing_ok=True)
            if made.figure is not None:
                save(made.figure, picture)
            if made.alive:
                write(alive, html_of(*made.alive, height=HEIGHT, assets=False, group=item.stem))
        # Whatever an item raises concerns that item alone.
        except Exception as error:
            entry |= {"title": "", "rows": [], "notes": [], "compared": [], "failed": error_message(error, item.words)}
        entry |= {"seconds": perf_counter() - begun, "date": datetime.now(UTC).isoformat(timespec="minutes")}
        write(self._part(item, ".json"), json.dumps(entry, indent=1))
        return entry

    def write_page(self) -> Path:
        """Write the page with all items that are there, and return its path. It needs no other file and no network."""
        entries = [(item, entry) for item in asked() if (entry := self._entry(item)) is not None]
        pictures = [(entry, self._picture(item)) for item, entry in entries]
        return write(self.folder / PAGE, page(pictures))

    def _entry(self, item: Asked) -> Entry | None:
        entry = _read(self._part(item, ".json"), _Item)
        # The page finds rows of a table by the names of the first one, and an item by its own.
        rows = entry["rows"] if entry else []
        alike = entry and (any(rows) or entry["failed"]) and all(row.keys() == rows[0].keys() for row in rows)
        return entry if alike and (entry["paper"], entry["target"]) == (item.paper, item.name) else None

    def _picture(self, item: Asked) -> str:
        """The pictures of an item as HTML: those that are alive, or its figure."""
        alive, figure = (self._text(item, suffix) for suffix in (".html", ".svg"))
        if alive or "<svg" not in figure:
            return alive
        return f"<figure>{figure[figure.index('<svg') :]}</figure>"

    def _text(self, item: Asked, suffix: str) -> str:
        path = self._part(item, suffix)
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    def _part(self, item: Asked, suffix: str) -> Path:
        return self.folder / PARTS / f"{item.stem}{suffix}"


def configuration(item: Asked, choices: Choices) -> dict[str, Any]:
    """Everything that an item depends on."""
    return {
        "workbench": workbench.__version__,
        "sources": fingerprint(),
        "max_n": choices.size(item.target),
        "quick": choices.quick,
        "device": choices.device or "any",
        "machine": machine_line(),
    }


@functools.cache
def fingerprint() -> str:
    """The first 12 hexadecimal digits of the SHA-256 of what computes: programs, kernels, printed numbers, profiles."""
    found = hashlib.sha256()
    for folder, endings in ((PACKAGE, (".py", ".cl")), (data_folder(), (".toml",))):
        for path in sorted(each for each in folder.rglob("*") if each.suffix in endings):
            found.update(f"{path.relative_to(folder)} ".encode() + path.read_bytes())
    return found.hexdigest()[:12]


def left_out(items: Iterable[Asked], choices: Choices) -> list[Asked]:
    """Items whose smallest size is above the largest that was chosen."""
    return [item for item in items if choices.size(item.target) < item.target.smallest]


def _read(path: Path, kind: type = dict) -> Entry | None:
    """Plain data of a file, which a dataclass describes; None for a missing or damaged file."""
    try:
        found = read_json(path.read_bytes())
        if kind is not dict:
            read(kind, found, "item")
    except (OSError, InputError):
        return None
    return found if isinstance(found, dict) else None


Cell = str | float | list[Any] | None


@dataclasses.dataclass(frozen=True)
class _Made:
    """The entries of `configuration` that the page reads."""

    workbench: str
    max_n: int
    quick: bool
    device: str
    machine: str


@dataclasses.dataclass(frozen=True)
class _Compared:
    """The entries of `comparison.PrintedValue.to_dict` that the page reads."""

    row: str
    column: str
    printed: Cell
    ours: Cell
    spread: Cell
    ratio: float | None
    modelled: Cell
    paper_size: Cell
    our_size: Cell
    said: str
    standing: str
    remark: str
    elsewhere: bool
    percent: float | None
    agrees: bool | None
    source: str = ""
    verdict: str = ""
    printed_text: str = ""
    quantity: str = ""


@dataclasses.dataclass(frozen=True)
class _Item:
    """The parts of an `Entry` that the page reads."""

    paper: str
    target: str
    title: str
    configuration: _Made
    rows: list[dict[str, Any]]
    notes: list[str]
    compared: list[_Compared]
    failed: str
    seconds: float
    date: str
