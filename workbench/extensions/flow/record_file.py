"""Reading of saved sequences, whose files may come from anywhere: dtypes are checked before shapes, shapes before
values."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Generator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import InputError, printable_path
from workbench.files import opened
from workbench.files.arrays import json_of, read_arrays, text_of
from workbench.files.data_files import path_of
from workbench.records.typed import read
from workbench.run import Configuration
from workbench.sequences.method import PARTS, MethodMark
from workbench.sequences.sequence import COLUMNS
from workbench.sequences.systems import SystemSequence

FORMAT = "workbench sequence 1"
DTYPES: dict[str, type] = {
    "series": np.float64, "phases": np.uint8, "units": np.float64, "b": np.float64, "solutions": np.float64,
    "times": np.float64, "labels": np.int32, "shape": np.int64,
}  # fmt: skip
"""Dtypes of the arrays of a record."""
TEXTS = ("format", "about")
STATE = "state_"
INCREMENTS = "increment", "increment_before"
STATES = ("phi", "u", "p", "advection", "numbers", "labels", "volumes", "owner", "temperature", *INCREMENTS)
ANY_LENGTH = ("volumes",)
"""Arrays of a state whose number of entries may differ."""

_BEING_READ: ContextVar[frozenset[Path]] = ContextVar("records that are being read", default=frozenset())
"""The grid of a replayed record is that of another record, and files may name one another in a circle."""


@dataclasses.dataclass(frozen=True)
class OtherMethod:
    """A method that did not lead: what `records.save` writes of it."""

    configuration: dict[str, Any]
    iterations: list[float]
    setup_seconds: list[float]
    seconds: list[float]
    failure: str
    renewed_every: int
    marks: list[list[Any]]


@dataclasses.dataclass(frozen=True)
class About:
    """The description of a sequence in its record. names: of the series; seconds: of each step, by part."""

    configuration: dict[str, Any]
    names: list[str]
    marks: list[list[Any]]
    seconds: list[dict[str, float]]
    others: list[OtherMethod]
    renewed_every: int = 1


@dataclasses.dataclass(frozen=True, eq=False)
class Record:
    """A record as read. configuration: that of the sequence."""

    about: About
    configuration: Configuration
    arrays: Mapping[str, np.ndarray]
    state: Mapping[str, np.ndarray]

    @property
    def steps(self) -> int:
        """Steps of the series."""
        return self.arrays["series"].shape[1]

    def series(self, name: str) -> np.ndarray:
        """A number for each step."""
        return self.arrays["series"][self.about.names.index(name)]

    def state_like(self, own: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The state, for systems whose own one has these arrays. Raises InputError where it does not fit them."""
        found = {}
        for name, values in own.items():
            if name not in self.state:
                raise InputError(f"it has no {name}")
            found[name] = _in_dtype(self.state[name], values.dtype, name)
            shape = (len(found[name]),) if name in ANY_LENGTH and found[name].ndim == 1 else values.shape
            _check_shape(found[name], shape, name)
            _check_finite(found[name], name)
        return found


def load(path: str | Path) -> Record:
    """Read a record. Raises InputError for other files, those that are cut, those of another version, and a record that
    replays itself."""
    try:
        place = path_of(path)
        with _being_read(place):
            return _checked(_arrays(place))
    except InputError as error:
        raise InputError(
            f"cannot read {printable_path(path)} as a record: {error}; save it again, or choose another file"
        ) from None


@contextlib.contextmanager
def _being_read(place: Path) -> Generator[None]:
    """Raise InputError for a file that is read to read itself."""
    outer = _BEING_READ.get()
    if place in outer:
        raise InputError("it replays itself")
    token = _BEING_READ.set(outer | {place})
    try:
        yield
    finally:
        _BEING_READ.reset(token)


def _arrays(place: Path) -> Mapping[str, np.ndarray]:
    """The arrays of a file, which are those of a record."""
    with opened(place, "record of a sequence") as stream:
        found = read_arrays(stream, (*TEXTS, *DTYPES, *(f"{STATE}{name}" for name in STATES)))
    version = text_of(found["format"]) if "format" in found else ""
    if version != FORMAT:
        other = f"of version {version.rpartition(' ')[2]}, this workbench reads 1" if version[:8] == FORMAT[:8] else ""
        raise InputError(f"it is {other or 'no record of a sequence'}")
    missing = [name for name in (*TEXTS, *DTYPES) if name not in found]
    if missing:
        raise InputError(f"it has no {missing[0]}")
    return found


def marks_of(plain: list[list[Any]]) -> list[MethodMark]:
    """From which steps on a method was used. Raises InputError for what was not made of `MethodMark`."""
    if not all(len(mark) == 2 and type(mark[0]) is int and isinstance(mark[1], str) for mark in plain):
        raise InputError("a mark of its methods is no step and name")
    return [MethodMark(step, label) for step, label in plain]


def _checked(found: Mapping[str, np.ndarray]) -> Record:
    """The record, if its arrays fit one another."""
    about = read(About, json_of(found["about"]), "description")
    configuration = Configuration.from_dict(about.configuration)
    if not isinstance(configuration.problem, SystemSequence):
        raise InputError("its configuration is no sequence")
    arrays = {name: _in_dtype(found[name], dtype, name) for name, dtype in DTYPES.items()}
    labels, grid, steps = arrays["labels"], configuration.problem.grid, len(about.seconds)
    if not labels.size or labels.ndim not in (2, 3) or labels.shape != (grid or labels.shape):
        raise InputError(f"its labels have the shape {labels.shape}, and no grid of its problem has")
    fitting = {
        "series": (len(about.names), steps),
        "phases": (steps, (labels.size + 7) // 8),
        "units": (steps,),
        "shape": (labels.ndim,),
        "times": (arrays["times"].size,),
        "solutions": (arrays["times"].size, labels.size),
        "b": (min(len(arrays["b"]) if arrays["b"].ndim else 0, steps), labels.size),
    }
    for name, expected in fitting.items():
        _check_shape(arrays[name], expected, name)
    if tuple(arrays["shape"].tolist()) != labels.shape:
        raise InputError(f"its shape is {arrays['shape'].tolist()} in place of {list(labels.shape)}")
    for name in ("b", "units", "solutions", "times"):
        _check_finite(arrays[name], name)
    made = Record(about, configuration, arrays, _state_in(found))
    _check_steps(made)
    return made


def _state_in(found: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(STATE): values for name, values in found.items() if name.startswith(STATE)}


def _check_steps(record: Record) -> None:
    """Raise InputError for steps that no sequence has made."""
    about, arrays = record.about, record.arrays
    absent = [name for name in COLUMNS if name not in about.names]
    if absent or len(set(about.names)) < len(about.names):
        raise InputError(f"its series have {f'no {absent[0]}' if absent else 'a name twice'}")
    if not record.steps or not all(part.keys() >= set(PARTS) for part in about.seconds):
        raise InputError(f"its steps lack seconds of {', '.join(PARTS)}")
    time, dt, iterations = (record.series(name) for name in ("time", "dt", "iterations"))
    _check_finite(np.array([time, dt, iterations]), "times, their steps or iterations")
    if min(dt.min(), np.diff(time).min(initial=1), np.diff(arrays["times"]).min(initial=1)) <= 0:
        raise InputError("its times do not ascend")
    if min(iterations.min(), arrays["units"].min(), arrays["labels"].min()) < 0:
        raise InputError("it has negative iterations, units or labels")


def _in_dtype(values: np.ndarray, dtype: type | np.dtype, name: str) -> np.ndarray:
    """The array in a dtype and in C order. Raises InputError for another kind of entries, and for larger integers."""
    wanted = np.dtype(dtype)
    if values.dtype.kind != wanted.kind:
        raise InputError(f"its {name} are {values.dtype} in place of {wanted}")
    with np.errstate(over="ignore"):
        made = np.asarray(values, wanted, order="C")
    if wanted.kind in "iu" and (made != values).any():
        raise InputError(f"its {name} have a number that is out of the range of {wanted}")
    return made


def _check_shape(values: np.ndarray, expected: tuple[int, ...], name: str) -> None:
    if values.shape != expected:
        raise InputError(f"its {name} have the shape {values.shape} in place of {expected}")


def _check_finite(values: np.ndarray, name: str) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"its {name} have values that are not finite")
