"""The curve of a run as whole numbers, thinned, and back: what a race as a link or a file has of each entry."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.files.codec import AGAIN
from workbench.records import History, Record
from workbench.run.jobs.ranking import Sample, delay

POINTS, FILE_POINTS = 200, 2000
"""Points of a curve in a link, and in a file."""
KEPT = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Tolerances whose first iteration is kept."""
SCALE = 10_000
"""Steps of a decade of the residual."""
TICKS = 100_000
"""Steps of the time of all iterations of a run."""
ZERO = -400 * SCALE
"""The code of a residual of 0; floating-point numbers have no power of ten as low."""
MOST_SAMPLES, MOST_RINGS = 200, 20


@dataclasses.dataclass(frozen=True)
class Curve:
    """The rows `at` as differences; powers of ten of the relative residual, in steps of 1 / `SCALE`, None for NaN;
    seconds as differences, in steps of the run's iteration time / `TICKS`."""

    at: list[int]
    residual: list[int | None]
    seconds: list[int]
    rings: list[list[float]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Samples:
    """Later runs: seconds of each setup, and at each of the rows `at`, in s."""

    at: list[int]
    setup: list[float]
    seconds: list[list[float]]


def check(good: bool, what: str) -> None:
    """Raise InputError, with the name of what cannot be read, unless it is good."""
    if not good:
        raise InputError(f"the {what} of the race cannot be read; {AGAIN}")


def _digits(value: float) -> float:
    """A number with five digits."""
    return float(f"{value:.5g}")


def reached(relative: np.ndarray, tolerance: float) -> list[int]:
    """The first row at each tolerance that is kept."""
    found = (np.flatnonzero(relative <= level) for level in sorted({*KEPT, tolerance}))
    return sorted({int(rows[0]) for rows in found if rows.size})


def thinned(relative: np.ndarray, clock: np.ndarray, at_tolerances: Sequence[int], points: int) -> np.ndarray:
    """The rows of a curve that stay, at most `points`: the first and last, those at which a tolerance is reached and
    the ones before, those that were delayed, and of equal stretches between them the least and the largest."""
    if relative.size <= points:
        return np.arange(relative.size)
    kept = {0, relative.size - 1, *at_tolerances, *(max(row - 1, 0) for row in at_tolerances)}
    for row in delay(clock).iterations[: points // 8].tolist():
        kept |= {row - 1, row}
    stretches = (points - len(kept)) // 2
    for rows in np.array_split(np.arange(relative.size), stretches) if stretches > 0 else ():
        known = rows[np.isfinite(relative[rows])]
        if known.size:
            kept |= {int(known[relative[known].argmin()]), int(known[relative[known].argmax()])}
    return np.array(sorted(kept))


def plain_curve(record: Record, rows: np.ndarray, kept: Sequence[int]) -> dict[str, Any]:
    """The curve of a run at these rows as plain data, see `Curve`. kept: those at which a tolerance is reached."""
    relative, history = record.relative_residual[rows], record.history
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.log10(relative) * SCALE
    # Never below a tolerance before it was reached, nor above it there.
    powers = np.where(np.isin(rows, kept), np.floor(powers), np.ceil(powers))
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


def plain_samples(samples: Sequence[Sample], kept: Sequence[int], rows: int) -> dict[str, Any]:
    """Later runs as plain data, with the times of the first, the last and the kept rows. rows: of the curve."""
    at = np.unique([0, *kept, rows - 1])
    times = [sample.seconds[np.minimum(at, sample.seconds.size - 1)] for sample in samples]
    return {
        "at": at.tolist(),
        "setup": [_digits(sample.setup) for sample in samples],
        "seconds": [[*map(_digits, found.tolist())] for found in times],
    }


def history_of(curve: Curve, facts: Mapping[str, Any]) -> tuple[History, bool]:
    """The rows of a run, straight between the points on a logarithmic axis, and whether some are interpolated."""
    rows = np.cumsum(np.array(curve.at, dtype=np.int64))
    count = int(rows[-1]) + 1 if rows.size else 0
    same = len(curve.at) == len(curve.residual) == len(curve.seconds)
    check(same and count == facts["iterations"] + 1 and (not rows.size or rows[0] == 0), "curve of a run")
    check(bool(np.all(np.diff(rows) > 0)) and all(0 <= step <= TICKS for step in curve.seconds), "curve of a run")
    check(all(power is None or ZERO <= power <= -ZERO for power in curve.residual), "residuals of a run")
    powers = np.array([math.nan if power is None else power / SCALE for power in curve.residual])
    ticks = np.cumsum(np.array(curve.seconds, dtype=np.int64))
    check(bool(ticks[-1] <= TICKS + len(ticks)), "times of a run")
    every = np.arange(count)
    with np.errstate(over="ignore"):
        residual = np.power(10.0, np.interp(every, rows, powers))
    seconds = np.interp(every, rows, ticks * (float(facts.get("iteration_seconds") or 0.0) / TICKS))
    history = History()
    # The last residual is known in full.
    last = facts.get("relative_residual")
    if last is not None and residual.size and math.isfinite(last) and last > 0:
        residual[-1] = last
    history.extend(residual=residual, seconds=seconds)
    for ring in curve.rings[:MOST_RINGS]:
        check(len(ring) == 2 and 0 <= ring[0] < count and math.isfinite(ring[1]) and ring[1] >= 0, "true residuals")
        history.confirm(int(ring[0]), float(ring[1]))
    return history, rows.size < count


def samples_of(samples: Samples | None, count: int) -> tuple[Sample, ...]:
    """The clocks of later runs, shape (count,) each, interpolated. Raises InputError."""
    if samples is None:
        return ()
    check(len(samples.setup) == len(samples.seconds) <= MOST_SAMPLES, "later runs")
    at = np.array(samples.at, dtype=np.int64)
    check(at.size > 0 and bool(np.all(np.diff(at) > 0)) and at[0] == 0 and at[-1] < count, "later runs")
    made = []
    for setup, seconds in zip(samples.setup, samples.seconds, strict=True):
        times = [setup, *seconds]
        check(len(seconds) == at.size and all(math.isfinite(time) and time >= 0 for time in times), "later runs")
        made.append(Sample(setup, np.interp(np.arange(count), at, seconds)))
    return tuple(made)
