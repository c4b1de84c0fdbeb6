"""Saved sequences, `.seq.npz`: what was solved, to replay it with any method, and the state, to continue it.

A record holds the configuration, the series, a bit a cell and step for the phases, and where the right-hand sides were
kept also b of all steps or the last ones, in double precision, which is then its largest part.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np

from workbench.devices.interchange import on_host
from workbench.errors import InputError, printable_path
from workbench.extensions.flow.components import Components
from workbench.extensions.flow.record_file import FORMAT, STATE, Record, load, marks_of
from workbench.files import replacing, with_ending
from workbench.files.arrays import json_array
from workbench.files.codec import table as csv_of
from workbench.files.data_files import path_of
from workbench.problems import LinearSystem
from workbench.problems.files import RECORD
from workbench.registry import parameter, register
from workbench.run import Configuration
from workbench.sequences.method import PARTS, Method
from workbench.sequences.sequence import Sequence
from workbench.sequences.systems import STARTS_HELP, StepSystem, Systems, SystemSequence

ORDER = ("time", "dt", "iterations", "seconds", "centre", "rise_velocity", "circularity", "volume", "moved_cells")
"""The first columns of the table, as far as a sequence has them."""


def target(path: str | Path) -> Path:
    """The path that `save` writes, with the ending .seq.npz. Raises InputError for what is no regular file."""
    return with_ending(path_of(path), RECORD, ".npz")


def save(sequence: Sequence, path: str | Path, last: int = 0) -> Path:
    """Write the steps so far, and the state. Returns the path, which ends with .seq.npz.

    last: number of last steps whose right-hand sides are saved, by default all that are kept. Raises InputError before
    the first step, and for paths that cannot be written.
    """
    path = target(path)
    if not sequence.steps:
        raise InputError("the sequence has made no step that could be saved; step it first")
    assert sequence.labels is not None
    about = {
        "configuration": sequence.configuration.to_dict(),
        "names": list(sequence.series),
        "renewed_every": sequence.methods[0].renewed_every,
        "marks": [list(mark) for mark in sequence.methods[0].marks],
        "seconds": sequence.seconds,
        "others": [_described(method) for method in sequence.methods[1:]],
    }
    starts = sequence.methods[0].starts
    arrays = {
        "format": np.array(FORMAT),
        "about": json_array(about),
        "series": np.array(list(sequence.series.values())),
        "phases": np.array(sequence.phases),
        "units": np.array(sequence.units),
        "b": np.array(list(sequence.kept)[-last:]).reshape(-1, sequence.labels.size),
        "solutions": np.array([on_host(x, "x") for x in starts.solutions]),
        "times": np.array(starts.times),
        "labels": np.asarray(sequence.labels),
        "shape": np.array(sequence.labels.shape),
        **{f"{STATE}{name}": values for name, values in sequence.systems.state().items()},
    }
    with replacing(path) as stream:
        np.savez_compressed(stream, **arrays)
    return path


def table(sequence: Sequence) -> str:
    """The series as CSV, a row for every step."""
    columns = [name for name in ORDER if name in sequence.series]
    columns += [name for name in sequence.series if name not in columns]
    return csv_of({}, columns, zip(*(sequence.series[name] for name in columns), strict=True))


def resume(path: str | Path) -> Sequence:
    """The sequence of a record, as it was when it was saved. It continues as if it had not been, but that methods other
    than the leading one begin with its solutions, and that mg makes levels that it kept anew. Raises InputError as
    `load` does."""
    record = load(path)
    arrays, about = record.arrays, record.about
    kept = len(arrays["b"])
    keep = kept if kept < record.steps else bool(kept)
    try:
        sequence = Sequence(record.configuration, keep=keep, renewed_every=about.renewed_every)
        if set(about.names) != set(sequence.series):
            raise InputError("another version measured other series")
        sequence.systems.restore(record.state_like(sequence.systems.state()))
        sequence.series = {name: record.series(name).tolist() for name in sequence.series}
        sequence.seconds = [dict(part) for part in about.seconds]
        sequence.phases = list(arrays["phases"])
        sequence.kept.extend(arrays["b"])
        sequence.units = arrays["units"].tolist()
        sequence.labels = arrays["labels"]
        _restore_methods(sequence, record)
    except InputError as error:
        raise InputError(
            f"the record {printable_path(path)} has no state to continue from: {error}; replay it instead"
        ) from None
    return sequence


def _restore_methods(sequence: Sequence, record: Record) -> None:
    (leading,) = sequence.methods
    leading.starts.solutions = [np.array(x) for x in record.arrays["solutions"]]
    leading.starts.times = record.arrays["times"].tolist()
    for iterations, seconds in zip(sequence.series["iterations"], sequence.seconds, strict=True):
        leading.note(iterations, {name: seconds[name] for name in PARTS})
    leading.marks = marks_of(record.about.marks)
    sequence.x = leading.starts.solutions[-1] if leading.starts.solutions else None
    for described in record.about.others:
        configuration = Configuration.from_dict(described.configuration)
        method = Method(configuration, leading.starts, renewed_every=described.renewed_every)
        method.marks = marks_of(described.marks)
        for name in SERIES:
            values = getattr(described, name)
            if len(values) != sequence.steps:
                raise InputError(f"a method has {len(values)} {name} in {sequence.steps} steps")
            setattr(method, name, list(map(float, values)))
        method.failure = described.failure
        sequence.methods.append(method)


SERIES = ("iterations", "setup_seconds", "seconds")


def _described(method: Method) -> dict[str, Any]:
    """A method and its series as plain data."""
    described = {name: getattr(method, name) for name in (*SERIES, "failure", "renewed_every")}
    return {**described, "configuration": method.configuration.to_dict(), "marks": [list(m) for m in method.marks]}


@register
@dataclasses.dataclass(frozen=True)
class Recorded(SystemSequence):
    """A recorded sequence of systems, solved again: phases and b as they were, whatever the method; those steps whose b
    was kept.

    Two methods on a record get the same systems, so that their iterations and seconds compare. The tolerance is that of
    the record's problem, times `looser`.

    Cost of a step: a solve. Raises InputError for files that are no records, and records without b.
    """

    name: ClassVar[str] = "recorded"
    title: ClassVar[str] = "A recorded sequence, replayed"
    tolerance_by: ClassVar[str] = "looser"

    path: str = parameter("", "the record, .seq.npz")
    most: int = parameter(0, "steps that are replayed, 0 for all", low=0, high=2**31 - 1)
    looser: float = parameter(1.0, "factor of the recorded tolerance", low=1e-9, high=1e9)
    start: str = parameter("linear", STARTS_HELP)

    @property
    def words(self) -> str:
        return f"record {Path(self.path).name.removesuffix(RECORD)}" if self.path else "a record, not chosen yet"

    @property
    def tolerance(self) -> float:
        return self.looser * self.source.tolerance

    @property
    def grid(self) -> tuple[int, ...] | None:
        try:
            return tuple(self.record.arrays["shape"].tolist())
        except InputError:
            return None

    @property
    def record(self) -> Record:
        """The record as read; it is kept until the file changes."""
        if not self.path:
            raise InputError("recorded needs a path, such as recorded:x.seq.npz", at="problem.path")
        found = _record(self.path, _changed(self.path))
        if not found.arrays["b"].size:
            raise InputError(
                f"the record {printable_path(self.path)} keeps no right-hand sides; record it with --record"
            )
        return found

    @property
    def source(self) -> SystemSequence:
        """The problem that was recorded."""
        problem, passed = self, set[str]()
        while isinstance(problem, Recorded):
            if problem.path in passed:
                raise InputError(f"the record {printable_path(self.path)} replays itself; choose another one")
            passed.add(problem.path)
            problem = cast(SystemSequence, problem.record.configuration.problem)
        return problem

    def system(self, made: StepSystem) -> LinearSystem:
        return self.source.system(made)

    def systems(self, device: str = "cpu") -> RecordedSystems:
        source = self.source
        if self.looser != 1 and not source.tolerance:
            raise InputError(
                f"looser multiplies the tolerance of a record, and {source.name} ends at rtol; leave looser at 1, and "
                "choose rtol",
                at="problem.looser",
            )
        return RecordedSystems(self)


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


@functools.lru_cache(maxsize=2)
def _record(path: str, _changed: float) -> Record:
    return load(path)


class RecordedSystems(Systems):
    """The systems of a record."""

    def __init__(self, problem: Recorded) -> None:
        self._record, self.seconds, self._steps = problem.record, {}, 0
        known = len(self._record.arrays["b"])
        self._first, self._count = self._record.steps - known, min(problem.most or known, known)
        self._components: Components | None = None
        self._before: tuple[np.ndarray, np.ndarray] | None = None
        self._times, self._dts = self._record.series("time"), self._record.series("dt")

    def next(self) -> StepSystem | None:
        at, arrays = self._first + self._steps, self._record.arrays
        if self._steps >= self._count:
            return None
        shape = tuple(arrays["shape"].tolist())
        bits = np.unpackbits(arrays["phases"][at], count=int(np.prod(shape)))
        inside = bits.astype(bool).reshape(shape)
        components = self._components or Components(inside)
        self._before = (components.labels, components.volumes) if self._components else None
        moved = np.flatnonzero(inside != (components.labels > 0))
        components.follow(moved, lambda: inside)
        self._components = components
        dt, unit = float(self._dts[at]), float(arrays["units"][at])
        b = arrays["b"][self._steps]
        return StepSystem(float(self._times[at]), dt, b, components.labels, unit, components.moved_cells)

    def end(self, x: np.ndarray) -> None:
        self._steps += 1

    def undo(self) -> None:
        if self._components is None or self._before is None:
            self._components = None
        else:
            self._components.restore(*self._before)

    def state(self) -> dict[str, np.ndarray]:
        return {"numbers": np.array([self._steps])}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        (steps,) = state["numbers"].tolist()
        if not 0 <= steps <= self._count:
            raise InputError(f"it is at step {steps} of {self._count}")
        self._steps = steps
