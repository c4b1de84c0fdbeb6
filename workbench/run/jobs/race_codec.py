"""A race as it ended as a link and as a file: one text, which opens without running anything.

Curves are thinned: a link has at most `POINTS` points of each, and fewer where it would be longer than the address of a
page may be; a file has at most `FILE_POINTS`. The first iteration at each tolerance of `KEPT`, and at that of the race,
is always among them, so that iterations and verdict stay as they were. Rows between two points are interpolated.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import InputError, printable_path
from workbench.files import read_bytes, with_ending, write
from workbench.files.codec import AGAIN, Link, finite, read_object
from workbench.records import History, Record
from workbench.records.typed import read
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.link_codec import checked, expand, shorten, without_address
from workbench.run.choices.share_link import check_registered
from workbench.run.jobs.delay import delay
from workbench.run.jobs.race_record import EntryRecord, RaceRecord, same_system
from workbench.run.jobs.ranking import MEASURES, Sample
from workbench.words.names import code

LINK = Link("cgr", 1, "race", 1 << 18, 1 << 21)
FORMAT = LINK.prefix[:-1]
ENDING = ".cg-race.json"
POINTS, FILE_POINTS = 200, 2000
"""Points of a curve in a link, and in a file."""
FEWEST = 50
"""Points of a curve to which a link is thinned where more make it too long for an address."""
SHORT = 7000
"""Characters of a link that an address holds with room for the rest."""
KEPT = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Tolerances whose first iteration is kept."""
MOST_BYTES = 32 << 20
MOST_ENTRIES, MOST_SAMPLES, MOST_RINGS = 100, 200, 20
MOST_NUMBER = 1_000_000
"""The highest number of an entry."""
MOST_ROWS = 2_000_000
"""Iterations of all runs of a race together, later runs included."""
SCALE = 10_000
"""Steps of a decade of the residual."""
TICKS = 100_000
"""Steps of the time of all iterations of a run."""
ZERO = -400 * SCALE
"""The code of a residual of 0; floating-point numbers have no power of ten as low."""
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
class _Curve:
    """The rows `at` as differences; powers of ten of the relative residual, in steps of 1 / `SCALE`, None for NaN;
    seconds as differences, in steps of the run's iteration time / `TICKS`."""

    at: list[int]
    residual: list[int | None]
    seconds: list[int]
    rings: list[list[float]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class _Samples:
    """Later runs: seconds of each setup, and at each of the rows `at`, in s."""

    at: list[int]
    setup: list[float]
    seconds: list[list[float]]


@dataclasses.dataclass(frozen=True)
class _Run:
    facts: dict[str, Any]
    curve: _Curve
    started: str = ""
    cpu: str = ""
    workbench: str = ""
    style: int | None = None
    samples: _Samples | None = None


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
    _check(math.isfinite(found.tolerance) and found.tolerance > 0, "tolerance")
    _check(1 <= found.cores <= 1 << 20, "number of cores")
    _check(all(len(text) <= LONGEST_WORD for text in (found.ended, found.machine, found.verdict)), "texts")
    _check(1 <= len(found.entries) <= MOST_ENTRIES, "number of entries")
    rows = sum(_rows_unpacked(entry.run) for entry in found.entries if entry.run)
    _check(rows <= MOST_ROWS, "number of iterations")
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
    _check(all(step >= 0 for step in run.curve.at), "iterations")
    return (sum(run.curve.at) + 1) * (1 + (len(run.samples.setup) if run.samples else 0))


def _check(good: bool, what: str) -> None:
    if not good:
        raise InputError(f"the {what} of the race cannot be read; {AGAIN}")


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
    reached = _reached(relative, tolerance)
    rows = thinned(relative, clock, reached, points)
    made = record.provenance
    facts = {name: record.summary.get(name) for name in FACTS}
    plain: dict[str, Any] = {
        "facts": {name: value for name, value in facts.items() if value is not None},
        "curve": _plain_curve(record, rows, reached),
        "started": str(made.get("started", "")),
        "cpu": str(made.get("machine", {}).get("cpu", "")),
        "workbench": str(made.get("workbench", "")),
    }
    if record.style is not None:
        plain["style"] = record.style
    if samples:
        at = np.unique([0, *reached, relative.size - 1])
        times = [sample.seconds[np.minimum(at, sample.seconds.size - 1)] for sample in samples]
        plain["samples"] = {
            "at": at.tolist(),
            "setup": [_digits(sample.setup) for sample in samples],
            "seconds": [[*map(_digits, found.tolist())] for found in times],
        }
    return plain


def _digits(value: float) -> float:
    """A number with five digits."""
    return float(f"{value:.5g}")


def _reached(relative: np.ndarray, tolerance: float) -> list[int]:
    """The first row at each tolerance that is kept."""
    found = (np.flatnonzero(relative <= level) for level in sorted({*KEPT, tolerance}))
    return sorted({int(rows[0]) for rows in found if rows.size})


def thinned(relative: np.ndarray, clock: np.ndarray, reached: Sequence[int], points: int) -> np.ndarray:
    """The rows of a curve that stay, at most `points`: the first and last, those at which a tolerance is reached and
    the ones before, those that were delayed, and of equal stretches between them the least and the largest."""
    if relative.size <= points:
        return np.arange(relative.size)
    kept = {0, relative.size - 1, *reached, *(max(row - 1, 0) for row in reached)}
    for row in delay(clock).iterations[: points // 8].tolist():
        kept |= {row - 1, row}
    stretches = (points - len(kept)) // 2
    for rows in np.array_split(np.arange(relative.size), stretches) if stretches > 0 else ():
        known = rows[np.isfinite(relative[rows])]
        if known.size:
            kept |= {int(known[relative[known].argmin()]), int(known[relative[known].argmax()])}
    return np.array(sorted(kept))


def _plain_curve(record: Record, rows: np.ndarray, reached: Sequence[int]) -> dict[str, Any]:
    relative, history = record.relative_residual[rows], record.history
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.log10(relative) * SCALE
    # Never below a tolerance before it was reached, nor above it there.
    powers = np.where(np.isin(rows, reached), np.floor(powers), np.ceil(powers))
    powers[relative == 0] = ZERO
    clock = history["seconds"][rows]
    whole = float(clock[-1]) or 1.0
    steps = np.diff(np.round(clock / whole * TICKS).astype(int), prepend=0)
    norm = record.norm_of_b
    rings = [[int(row), _digits(value / norm)] for row, value in history.true_residuals[-MOST_RINGS:].tolist()]
    return {
        "at": np.diff(rows, prepend=0).tolist(),
        "residual": [int(power) if math.isfinite(power) else None for power in powers],
        "seconds": steps.tolist(),
        "rings": [ring for ring in rings if math.isfinite(ring[1])],
    }


def _entry_of(entry: _Entry) -> EntryRecord:
    configuration = Configuration.from_dict(checked(expand(entry.method)))
    _check(len(entry.error) <= LONGEST_WORD and len(entry.given) <= LONGEST_WORD, "texts")
    _check(0 <= entry.number <= MOST_NUMBER and 0 <= entry.listed <= MOST_NUMBER, "numbers")
    about = {"number": entry.number, "listed": entry.listed, "given": entry.given}
    if entry.run is None:
        return EntryRecord(configuration, None, entry.error, **about)
    record = _record_of(configuration, entry.run)
    return EntryRecord(configuration, record, "", _samples_of(entry.run.samples, record.history.count), **about)


def _record_of(configuration: Configuration, run: _Run) -> Record:
    """The record of a run, whose summary is made of the configuration and of its own facts."""
    for name, value in run.facts.items():
        kinds = (int, float) if FACTS.get(name) is float else (FACTS.get(name),)
        _check(value is None or type(value) in kinds, f"{name[:40]} of a run")
        if isinstance(value, int | float):
            free = name in RATIOS and isinstance(value, float)
            _check(free or -MOST_FACT <= value <= MOST_FACT, f"{name[:40]} of a run")
            _check(name == "drift" or not value < 0, f"{name[:40]} of a run")
    for name in ("iterations", "reason", "N"):
        _check(run.facts.get(name) is not None, f"{name} of a run")
    history, thin = _history_of(run)
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


def _history_of(run: _Run) -> tuple[History, bool]:
    """The rows of a run, straight between the points on a logarithmic axis, and whether some are interpolated."""
    curve = run.curve
    rows = np.cumsum(np.array(curve.at, dtype=np.int64))
    count = int(rows[-1]) + 1 if rows.size else 0
    same = len(curve.at) == len(curve.residual) == len(curve.seconds)
    _check(same and count == run.facts["iterations"] + 1 and (not rows.size or rows[0] == 0), "curve of a run")
    _check(bool(np.all(np.diff(rows) > 0)) and all(0 <= step <= TICKS for step in curve.seconds), "curve of a run")
    _check(all(power is None or ZERO <= power <= -ZERO for power in curve.residual), "residuals of a run")
    powers = np.array([math.nan if power is None else power / SCALE for power in curve.residual])
    ticks = np.cumsum(np.array(curve.seconds, dtype=np.int64))
    _check(bool(ticks[-1] <= TICKS + len(ticks)), "times of a run")
    every = np.arange(count)
    with np.errstate(over="ignore"):
        residual = np.power(10.0, np.interp(every, rows, powers))
    seconds = np.interp(every, rows, ticks * (float(run.facts.get("iteration_seconds") or 0.0) / TICKS))
    history = History()
    # The last residual is known in full.
    last = run.facts.get("relative_residual")
    if last is not None and residual.size and math.isfinite(last) and last > 0:
        residual[-1] = last
    history.extend(residual=residual, seconds=seconds)
    for ring in curve.rings[:MOST_RINGS]:
        _check(len(ring) == 2 and 0 <= ring[0] < count and math.isfinite(ring[1]) and ring[1] >= 0, "true residuals")
        history.confirm(int(ring[0]), float(ring[1]))
    return history, rows.size < count


def _samples_of(samples: _Samples | None, count: int) -> tuple[Sample, ...]:
    if samples is None:
        return ()
    _check(len(samples.setup) == len(samples.seconds) <= MOST_SAMPLES, "later runs")
    at = np.array(samples.at, dtype=np.int64)
    _check(at.size > 0 and bool(np.all(np.diff(at) > 0)) and at[0] == 0 and at[-1] < count, "later runs")
    made = []
    for setup, seconds in zip(samples.setup, samples.seconds, strict=True):
        times = [setup, *seconds]
        _check(len(seconds) == at.size and all(math.isfinite(time) and time >= 0 for time in times), "later runs")
        made.append(Sample(setup, np.interp(np.arange(count), at, seconds)))
    return tuple(made)
