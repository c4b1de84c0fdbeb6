"""Saved sequences, `.seq.npz`: what was solved, to replay it with any method, and the state, to continue it.

A record holds the configuration, the series, a bit a cell and step for the phases, and where the right-hand sides were
kept also b of all steps or the last ones, in double precision, which is then its largest part.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from workbench.data_files import path_of
from workbench.devices.interchange import on_host
from workbench.errors import InputError, printable_path
from workbench.files import opened, replacing
from workbench.flow.components import Components
from workbench.flow.method import PARTS, Method, MethodMark
from workbench.flow.sequence import Sequence
from workbench.flow.systems import STARTS_HELP, StepSystem, Systems, SystemSequence
from workbench.problems import LinearSystem
from workbench.problems.files import RECORD
from workbench.recording.archive import read_arrays, text_of
from workbench.registry import parameter, register
from workbench.run import Configuration

FORMAT = "workbench sequence 1"
ARRAYS = ("series", "phases", "units", "b", "solutions", "times", "labels", "shape")
TEXTS = ("format", "about")
STATE = "state_"
INCREMENTS = "increment", "increment_before"
STATES = ("phi", "u", "p", "advection", "numbers", "labels", "volumes", "owner", "temperature", *INCREMENTS)

ORDER = ("time", "dt", "iterations", "seconds", "centre", "rise_velocity", "circularity", "volume", "moved_cells")
"""The first columns of the table, as far as a sequence has them."""


@dataclasses.dataclass(frozen=True, eq=False)
class Record:
    """A record as read. about: its configuration, the names of the series, marks and seconds, as plain data."""

    about: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray]
    state: Mapping[str, np.ndarray]

    @property
    def configuration(self) -> Configuration:
        """That of the sequence."""
        return Configuration.from_dict(self.about["configuration"])

    @property
    def steps(self) -> int:
        """Steps of the series."""
        return self.arrays["series"].shape[1]


def save(sequence: Sequence, path: str | Path, last: int = 0) -> Path:
    """Write the steps so far, and the state. Returns the path, which ends with .seq.npz.

    last: with the right-hand sides of so many last steps, by default all that are kept. Raises InputError before the
    first step, and for paths that cannot be written.
    """
    path = path_of(path)
    if not path.name.endswith(RECORD):
        path = path.with_name(f"{path.name.removesuffix('.npz')}{RECORD}")
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
        "about": np.array(json.dumps(about)),
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
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*(sequence.series[name] for name in columns), strict=True))
    return text.getvalue()


def load(path: str | Path) -> Record:
    """Read a record. Raises InputError for other files, those that are cut, and those of another version."""
    try:
        with opened(path_of(path), "record of a sequence") as stream:
            found = read_arrays(stream, (*TEXTS, *ARRAYS, *(f"{STATE}{name}" for name in STATES)))
        version = text_of(found["format"]) if "format" in found else ""
        if version != FORMAT:
            other = (
                f"of version {version.rpartition(' ')[2]}, this workbench reads 1" if version[:8] == FORMAT[:8] else ""
            )
            raise InputError(f"it is {other or 'no record of a sequence'}")
        missing = [name for name in (*TEXTS, *ARRAYS) if name not in found]
        if missing:
            raise InputError(f"it has no {missing[0]}")
        return _checked(found)
    except InputError as error:
        raise InputError(
            f"cannot read {printable_path(path)} as a record: {error}; save it again, or choose another file"
        ) from None


def _checked(found: Mapping[str, np.ndarray]) -> Record:
    """The record, if its arrays fit one another."""
    try:
        about = json.loads(text_of(found["about"]))
        names, configuration = about["names"], Configuration.from_dict(about["configuration"])
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError("its description is damaged") from None
    arrays = {name: found[name] for name in ARRAYS}
    shape = tuple(arrays["shape"].tolist())
    size, steps = int(np.prod(shape)), arrays["series"].shape[-1] if arrays["series"].ndim == 2 else -1
    fitting = {
        "series": (len(names), steps),
        "phases": (steps, (size + 7) // 8),
        "units": (steps,),
        "b": (min(len(arrays["b"]), steps), size),
        "labels": shape,
        "solutions": (len(arrays["times"]), size),
    }
    for name, expected in fitting.items():
        if arrays[name].shape != expected:
            raise InputError(f"its {name} have the shape {arrays[name].shape} in place of {expected}")
    if not isinstance(configuration.problem, SystemSequence) or not isinstance(about.get("marks"), list):
        raise InputError("its configuration is no sequence")
    if not all(np.isfinite(arrays[name]).all() for name in ("b", "units", "solutions")):
        raise InputError("it has values that are not finite")
    state = {name.removeprefix(STATE): values for name, values in found.items() if name.startswith(STATE)}
    return Record(about, arrays, state)


def resume(path: str | Path) -> Sequence:
    """The sequence of a record, as it was when it was saved. It continues as if it had not been, but that methods other
    than the leading one begin with its solutions, and that mg makes levels that it kept anew. Raises InputError as
    `load` does."""
    record = load(path)
    arrays, about = record.arrays, record.about
    kept = len(arrays["b"])
    every = about.get("renewed_every", 1)
    sequence = Sequence(record.configuration, keep=kept if kept < record.steps else bool(kept), renewed_every=every)
    try:
        sequence.systems.restore(record.state)
    except (KeyError, ValueError, IndexError):
        raise InputError(
            f"the record {printable_path(path)} has no state to continue from; replay it instead"
        ) from None
    sequence.series = {name: row.tolist() for name, row in zip(about["names"], arrays["series"], strict=True)}
    sequence.seconds = about["seconds"]
    sequence.phases = list(arrays["phases"])
    sequence.kept.extend(arrays["b"])
    sequence.units = arrays["units"].tolist()
    sequence.labels = arrays["labels"].astype(np.int32)
    try:
        _restore_methods(sequence, record)
    except (KeyError, ValueError, TypeError):
        raise InputError(f"the record {printable_path(path)} has damaged methods; replay it instead") from None
    return sequence


def _restore_methods(sequence: Sequence, record: Record) -> None:
    (leading,) = sequence.methods
    leading.starts.solutions = [np.array(x) for x in record.arrays["solutions"]]
    leading.starts.times = record.arrays["times"].tolist()
    for iterations, seconds in zip(sequence.series["iterations"], sequence.seconds, strict=True):
        leading.note(iterations, {name: seconds[name] for name in PARTS})
    leading.marks = [MethodMark(int(step), str(label)) for step, label in record.about["marks"]]
    sequence.x = leading.starts.solutions[-1] if leading.starts.solutions else None
    for described in record.about["others"]:
        every = int(described["renewed_every"])
        method = Method(Configuration.from_dict(described["configuration"]), leading.starts, renewed_every=every)
        method.marks = [MethodMark(int(step), str(label)) for step, label in described["marks"]]
        for name in SERIES:
            setattr(method, name, np.array(described[name], float).reshape(sequence.steps).tolist())
        method.failure = str(described["failure"])
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
    def record(self) -> Record:
        """As read; kept until the file changes."""
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
        problem = self.record.configuration.problem
        assert isinstance(problem, SystemSequence)
        return problem.source if isinstance(problem, Recorded) else problem

    def system(self, made: StepSystem) -> LinearSystem:
        return self.source.system(made)

    def systems(self, device: str = "cpu") -> RecordedSystems:
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
        names = self._record.about["names"]
        self._times, self._dts = (self._record.arrays["series"][names.index(name)] for name in ("time", "dt"))

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
        return StepSystem(float(self._times[at]), dt, b, components.labels, unit, components.moved)

    def end(self, x: np.ndarray) -> None:
        self._steps += 1

    def undo(self) -> None:
        if self._components is None or self._before is None:
            self._components = None
        else:
            self._components.take(*self._before)

    def state(self) -> dict[str, np.ndarray]:
        return {"numbers": np.array([self._steps])}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        self._steps = int(state["numbers"][0])
