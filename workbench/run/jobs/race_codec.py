"""A race as it ended as a link and as a file: one text, which opens without running anything.

Curves are thinned: a link has at most `POINTS` points of each, and fewer where it would be longer than the address of a
page may be; a file has at most `FILE_POINTS`. The first iteration at each tolerance of `race_curves.KEPT`, and at that
of the race, is always among them, so that iterations and verdict stay as they were. Rows between two points are
interpolated.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.errors import InputError, printable_path
from workbench.files import read_bytes, with_ending, write
from workbench.files.codec import AGAIN, Link, finite, read_object
from workbench.records import Record
from workbench.records.typed import read
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.link_codec import checked, expand, shorten, without_address
from workbench.run.choices.share_link import check_registered
from workbench.run.jobs.race_curves import (
    FILE_POINTS,
    MOST_SAMPLES,
    POINTS,
    Curve,
    Samples,
    check,
    history_of,
    plain_curve,
    plain_samples,
    reached,
    samples_of,
    thinned,
)
from workbench.run.jobs.race_record import EntryRecord, RaceRecord, same_system
from workbench.run.jobs.ranking import MEASURES, Sample
from workbench.words.names import code

LINK = Link("cgr", 1, "race", 1 << 18, 1 << 21)
FORMAT = LINK.prefix[:-1]
ENDING = ".cg-race.json"
FEWEST = 50
"""Points of a curve to which a link is thinned where more make it too long for an address."""
SHORT = 7000
"""Characters of a link that an address holds with room for the rest."""
MOST_BYTES = 32 << 20
MOST_ENTRIES = 100
MOST_NUMBER = 1_000_000
"""The highest number of an entry."""
MOST_ROWS = 2_000_000
"""Iterations of all runs of a race together, later runs included."""
LONGEST_WORD = 2000
FACTS = {
    "N": int, "nnz": int, "coarse_solver": str, "deflation_vectors": int, "precision": str, "iterations": int,
    "converged": bool, "reason": str, "relative_residual": float, "true_relative_residual": float,
    "residual_gap_at": int, "drift": float, "setup_seconds": float, "compile_seconds": float,
    "iteration_seconds": float, "runs_at_once": int, "iteration_bytes": int,
}  # fmt: skip
"""Entries of a summary that the configuration does not say, with their types; any may be unknown."""
RATIOS = ("drift", "relative_residual", "true_relative_residual")
"""Facts that may be NaN, or infinite."""
MOST_FACT = 1 << 53
"""Bound for other facts, and for integers in place of ratios; each is a floating-point number too."""
THINNED = "The curve of this run is thinned to {} points; the rows between are interpolated."


def is_race(text: str) -> bool:
    """True if a text is the link of a race, the address of a page with one, or the path of a file with one."""
    return bool(LINK.match(LINK.within(text))) or text.strip().endswith(ENDING)


def to_link(race: RaceRecord) -> str:
    """A link: `cgr1.`, then letters, digits, - and _. Raises InputError for blocks that are in memory only, and for a
    race that is too long."""
    points, link = POINTS, LINK.pack(plain_of(race, POINTS))
    while len(link) > SHORT and points > FEWEST:
        points //= 2
        link = LINK.pack(plain_of(race, points))
    return link


def from_link(text: str) -> RaceRecord:
    """The race of a link. Raises InputError for bad text. Nothing is run, read or fetched."""
    if not LINK.match(text):
        raise InputError(f"a link to a race begins with {LINK.prefix}, got {text.strip()[:20]!r}; copy the whole text")
    return race_of(LINK.unpack(text))


def race_at(text: str) -> RaceRecord:
    """The race of a text that `is_race` is true for. Raises InputError for any other."""
    link = LINK.within(text)
    return from_link(link) if LINK.match(link) else load_race(text.strip())


def save_race(race: RaceRecord, path: str | Path) -> Path:
    """Write a race as JSON; returns the path, which ends with .cg-race.json. Raises InputError as `to_link`."""
    text = json.dumps({"format": FORMAT, "race": plain_of(race, FILE_POINTS)}, separators=(",", ":"))
    return write(with_ending(Path(path), ENDING, ".json"), f"{text}\n")


def load_race(path: str | Path) -> RaceRecord:
    """The race in a file of `save_race`. Raises InputError for any other file."""
    content = read_bytes(Path(path), MOST_BYTES, "saved race")
    return read_race(content, printable_path(path))


def read_race(content: bytes, name: str) -> RaceRecord:
    """The race in the content of a file. Raises InputError for any other content. name: of the file, for the
    sentence."""
    plain = read_object(content, name, LINK.value)
    if plain.get("format") != FORMAT:
        raise InputError(f"{name} is no saved race of version 1; choose a {ENDING} file")
    try:
        return race_of(plain.get("race"))
    except InputError as error:
        raise InputError(f"{name} is damaged: {error}") from None


@dataclasses.dataclass(frozen=True)
class _Run:
    facts: dict[str, Any]
    curve: Curve
    started: str = ""
    cpu: str = ""
    workbench: str = ""
    style: int | None = None
    samples: Samples | None = None


@dataclasses.dataclass(frozen=True)
class _Entry:
    method: dict[str, Any]
    error: str = ""
    number: int = 0
    listed: int = 0
    given: str = ""
    run: _Run | None = None


@dataclasses.dataclass(frozen=True)
class _Race:
    entries: list[_Entry]
    tolerance: float
    measure: str
    with_setup: bool
    ended: str
    machine: str
    cores: int
    verdict: str


def plain_of(race: RaceRecord, points: int) -> dict[str, Any]:
    """A race as plain data, with at most that number of points of each curve. Raises InputError as `to_link`."""
    if len(race.entries) > MOST_ENTRIES or sum(map(_rows, race.entries)) > MOST_ROWS:
        raise InputError(
            f"a saved race has at most {MOST_ENTRIES} entries and {MOST_ROWS} iterations; save its runs instead"
        )
    _check_system(race.entries)
    return {**vars(race), "entries": [_plain_entry(entry, race.tolerance, points) for entry in race.entries]}


def race_of(plain: object) -> RaceRecord:
    """The race of plain data, with every value checked. Raises InputError."""
    found = read(_Race, plain, LINK.value)
    if found.measure not in MEASURES:
        raise InputError(f"it measures {found.measure[:40]!r}, which is none of {', '.join(MEASURES)}; {AGAIN}")
    check(math.isfinite(found.tolerance) and found.tolerance > 0, "tolerance")
    check(1 <= found.cores <= 1 << 20, "number of cores")
    check(all(len(text) <= LONGEST_WORD for text in (found.ended, found.machine, found.verdict)), "texts")
    check(1 <= len(found.entries) <= MOST_ENTRIES, "number of entries")
    rows = sum(_rows_unpacked(entry.run) for entry in found.entries if entry.run)
    check(rows <= MOST_ROWS, "number of iterations")
    entries = tuple(map(_entry_of, found.entries))
    _check_system(entries)
    return RaceRecord(**{**vars(found), "entries": entries})


def _check_system(entries: Sequence[EntryRecord]) -> None:
    for entry in entries:
        if not same_system(entry.configuration, entries[0].configuration):
            raise InputError(
                f"entries of a race solve one system, and these have {entries[0].configuration.problem.label} and "
                f"{entry.configuration.problem.label}, or other right-hand sides; use a race for each"
            )


def _rows(entry: EntryRecord) -> int:
    return (entry.record.history.count if entry.record else 0) * (1 + min(len(entry.samples), MOST_SAMPLES))


def _rows_unpacked(run: _Run) -> int:
    """The rows that a run in a file unpacks to."""
    check(all(step >= 0 for step in run.curve.at), "iterations")
    return (sum(run.curve.at) + 1) * (1 + (len(run.samples.setup) if run.samples else 0))


def _plain_entry(entry: EntryRecord, tolerance: float, points: int) -> dict[str, Any]:
    check_registered(entry.configuration)
    plain: dict[str, Any] = {"method": shorten(without_address(entry.configuration.to_dict()))}
    if entry.error:
        plain["error"] = entry.error[:LONGEST_WORD]
    named = {"number": entry.number, "listed": entry.listed, "given": entry.given}
    plain |= {name: value for name, value in named.items() if value}
    # A run that was stopped before its first row is as before its start.
    if entry.record is not None and entry.record.history.count:
        plain["run"] = _plain_run(entry.record, entry.samples[:MOST_SAMPLES], tolerance, points)
    return finite(plain)


def _plain_run(record: Record, samples: Sequence[Sample], tolerance: float, points: int) -> dict[str, Any]:
    relative, clock = record.relative_residual, record.history["seconds"]
    reached_rows = reached(relative, tolerance)
    rows = thinned(relative, clock, reached_rows, points)
    made = record.provenance
    facts = {name: record.summary.get(name) for name in FACTS}
    plain: dict[str, Any] = {
        "facts": {name: value for name, value in facts.items() if value is not None},
        "curve": plain_curve(record, rows, reached_rows),
        "started": str(made.get("started", "")),
        "cpu": str(made.get("machine", {}).get("cpu", "")),
        "workbench": str(made.get("workbench", "")),
    }
    if record.style is not None:
        plain["style"] = record.style
    if samples:
        plain["samples"] = plain_samples(samples, reached_rows, relative.size)
    return plain


def _entry_of(entry: _Entry) -> EntryRecord:
    configuration = Configuration.from_dict(checked(expand(entry.method)))
    check(len(entry.error) <= LONGEST_WORD and len(entry.given) <= LONGEST_WORD, "texts")
    check(0 <= entry.number <= MOST_NUMBER and 0 <= entry.listed <= MOST_NUMBER, "numbers")
    about = {"number": entry.number, "listed": entry.listed, "given": entry.given}
    if entry.run is None:
        return EntryRecord(configuration, None, entry.error, **about)
    record = _record_of(configuration, entry.run)
    return EntryRecord(configuration, record, "", samples_of(entry.run.samples, record.history.count), **about)


def _record_of(configuration: Configuration, run: _Run) -> Record:
    """The record of a run, whose summary is made of the configuration and of its own facts."""
    for name, value in run.facts.items():
        kinds = (int, float) if FACTS.get(name) is float else (FACTS.get(name),)
        check(value is None or type(value) in kinds, f"{name[:40]} of a run")
        if isinstance(value, int | float):
            free = name in RATIOS and isinstance(value, float)
            check(free or -MOST_FACT <= value <= MOST_FACT, f"{name[:40]} of a run")
            check(name == "drift" or not value < 0, f"{name[:40]} of a run")
    for name in ("iterations", "reason", "N"):
        check(run.facts.get(name) is not None, f"{name} of a run")
    history, thin = history_of(run.curve, run.facts)
    blocks = {kind: code(configuration.blocks[kind]) for kind in ("solver", "preconditioner", "deflation")}
    deflated = bool(run.facts.get("deflation_vectors"))
    summary = {
        **dict.fromkeys(FACTS),
        "problem": configuration.problem.to_dict(),
        **blocks,
        "coarse": configuration.coarse.name if deflated else None,
        "variant": configuration.variant.name if deflated else None,
        "device": configuration.device,
        "ranks": configuration.ranks if configuration.ranks > 1 else None,
        "norm": str(configuration.stopping.norm),
        "memory_needed": None,
        "setup_phases": [],
        "columns": [],
        **run.facts,
    }
    for name in ("setup_seconds", "compile_seconds", "iteration_seconds"):
        summary[name] = float(summary[name] or 0.0)
    for name in ("relative_residual", "true_relative_residual"):
        summary[name] = math.nan if summary[name] is None else float(summary[name])
    provenance = {
        "configuration": configuration.to_dict(),
        "notes": [THINNED.format(len(run.curve.at))] if thin else [],
        "started": run.started,
        "workbench": run.workbench,
        "machine": {"cpu": run.cpu},
    }
    style = run.style if run.style is not None and 0 <= run.style < 1000 else None
    return Record(summary, provenance, history, style=style)
