"""Records: runs as plain data, and their files, which are versioned and replaced atomically."""

from __future__ import annotations

import dataclasses
import functools
import io
from pathlib import Path
from typing import Any

import numpy as np

from workbench import registry
from workbench.errors import InputError, printable_path
from workbench.files import opened, write
from workbench.files.arrays import json_array, json_of, read_arrays
from workbench.files.codec import table
from workbench.records.film import MEMBERS as FILM
from workbench.records.film import Film
from workbench.records.history import COLUMNS, History
from workbench.records.trace import Trace
from workbench.records.typed import read
from workbench.words.names import method_code, method_name, problem_name, run_parts

FORMAT = "cg-workbench run"
VERSION = 1
HINT = "runs are written by `workbench solve --save`"
SOLUTION_TYPES = ("f4", "f8", "c8", "c16")
MEMBERS = ("head", *COLUMNS, "true_residuals", "columns", "rank", "pivot", "solution", "trace", *FILM)
"""The arrays in a file; "columns" to "pivot" are of runs with many right-hand sides, those after them are optional."""
MOST_STYLES = 1000
"""Styles that a file may name; another number is one of a damaged file."""
EARLIER_KEYS = {"parted_at": "residual_gap_at"}
"""Keys of a summary as earlier versions wrote them, and their names now."""


@dataclasses.dataclass(frozen=True, eq=False)
class Record:
    """A run as plain data, for views and exports.

    summary: the fields that `workbench solve --json` prints, without the residual history.
    provenance: problem, configuration, versions, machine, device, seed, time of the run.
    solution: x, shape (N,), or (N, s) for many right-hand sides, if it was stored. trace: events, if the run was
    traced. film: frames, if the run was filmed. style: index of its colour, dash and mark, None where it was never
    drawn.

    Examples:
        >>> from workbench.run import Run, configure, run_through
        >>> record = run_through(Run(configure("two-layer", n=16))).record()
        >>> record.label, record.summary["converged"], bool(record.relative_residual[-1] <= 1e-6)
        ('CG, Jacobi', True, True)
    """

    summary: dict[str, Any]
    provenance: dict[str, Any]
    history: History
    solution: np.ndarray | None = None
    trace: Trace | None = None
    style: int | None = None
    film: Film | None = None

    @functools.cached_property
    def parts(self) -> dict[str, str]:
        """The parts of the run's name, see `workbench.words.names.run_parts`."""
        return run_parts(self.provenance.get("configuration", {}), self.summary)

    @property
    def label(self) -> str:
        """The name of the method, without the problem, for legends."""
        return method_name(self.parts)

    @property
    def code(self) -> str:
        """The method as code writes it, for tooltips."""
        return method_code({kind: text for kind, text in self.summary.items() if self.parts.get(kind)})

    @property
    def problem_label(self) -> str:
        """The name of the problem."""
        return problem_name(self.parts)

    @property
    def norm_of_b(self) -> float:
        """||b||, from the last residual and its relative value; ||r_0|| for a run that ended with r = 0."""
        residual, relative = self.history["residual"], self.summary["relative_residual"]
        if residual.size and relative and np.isfinite(relative):
            return float(residual[-1]) / relative
        return float(residual[0]) if residual.size and residual[0] > 0 else 1.0

    @property
    def relative_residual(self) -> np.ndarray:
        """||r||/||b|| per iteration, the start being 0; shape (iterations + 1,)."""
        return self.history["residual"] / self.norm_of_b


def save(record: Record, path: str | Path) -> Path:
    """Write a run to a file, about 56 bytes per iteration, and its film. Raises InputError if the folder cannot
    be written.

    Examples:
        >>> from workbench.records import save
        >>> from workbench.run import Run, configure, run_through
        >>> save(run_through(Run(configure("two-layer", n=16))).record(), "layers.run.npz").name
        'layers.run.npz'
    """
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "summary": record.summary,
        "provenance": record.provenance,
    }
    if record.style is not None:
        head["style"] = record.style
    arrays = record.history.to_arrays()
    if record.solution is not None:
        arrays["solution"] = record.solution
    if record.trace is not None:
        arrays["trace"] = json_array(record.trace.to_dict())
    if record.film is not None:
        arrays |= record.film.to_arrays()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, head=json_array(head), **arrays)  # pyright: ignore[reportArgumentType]
    return write(Path(path), buffer.getvalue())


def load(path: str | Path) -> Record:
    """Read a run file, limited in size as in `read_arrays`.

    Raises InputError for a missing file, another format, a damaged file, and a later format version.

    Examples:
        >>> from workbench.records import load, save
        >>> from workbench.run import Run, configure, run_through
        >>> record = run_through(Run(configure("two-layer", n=16))).record()
        >>> load(save(record, "layers.run.npz")).history.count == record.history.count
        True
    """
    with opened(path, "run file") as stream:
        try:
            arrays = read_arrays(stream, MEMBERS)
            head = json_of(arrays.pop("head")) if "head" in arrays else None
        except InputError as error:
            raise InputError(f"{printable_path(path)} is not a workbench run file: {error}; {HINT}") from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InputError(f"{printable_path(path)} is not a workbench run file; {HINT}")
    try:
        version = read(_Version, head, "head").version
        if version <= VERSION:
            return _record(head, arrays)
    except InputError as error:
        raise InputError(
            f"{printable_path(path)} is damaged: {error}; save the run again, or use another copy of the file"
        ) from None
    raise InputError(
        f"{printable_path(path)} is a run of format version {version}, this workbench reads up to {VERSION}; update it"
    )


def _record(head: dict[str, Any], arrays: dict[str, np.ndarray]) -> Record:
    """The run, with every part validated. Raises InputError for an invalid part."""
    stored = _with_present_keys(head.get("summary"))
    summary = read(_Summary, stored, "summary")
    # Views find what earlier versions did not write, too.
    plain = {**{name: getattr(summary, name) for name in ADDED}, **stored}
    plain["problem"] = _with_present_parameters(plain["problem"])
    read(_Provenance, head.get("provenance"), "provenance")
    provenance = head["provenance"]
    if solved := provenance.get("configuration", {}).get("problem"):
        configuration = {**provenance["configuration"], "problem": _with_present_parameters(solved)}
        provenance = {**provenance, "configuration": configuration}
    solution = arrays.pop("solution", None)
    shape = (summary.N, *arrays["columns"].shape[1:]) if "columns" in arrays else (summary.N,)
    if solution is not None and (solution.shape != shape or solution.dtype.str[1:] not in SOLUTION_TYPES):
        raise InputError(
            f"its solution has the shape {solution.shape} of {solution.dtype}, but the run has {summary.N} unknowns"
        )
    text = arrays.pop("trace", None)
    trace = None if text is None else Trace.from_dict(json_of(text))
    film = Film.from_arrays({name: arrays.pop(name) for name in FILM if name in arrays})
    style = head.get("style")
    known = isinstance(style, int) and 0 <= style < MOST_STYLES
    shown = style if known else None
    return Record(plain, provenance, History.from_arrays(arrays), solution, trace, shown, film)


def _with_present_keys(summary: Any) -> Any:
    """A summary with the keys of this version; anything but a dictionary as it is."""
    if not isinstance(summary, dict):
        return summary
    return {EARLIER_KEYS.get(key, key): value for key, value in summary.items()}


def _with_present_parameters(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem with the names that its parameters have now, so that all readers show one meaning; of one that is not
    installed here, or whose values are refused, as it is."""
    try:
        known = registry.known("problem", problem["name"])
        return {**problem, "parameters": known.present(problem["parameters"])} if known else problem
    except InputError:
        return problem


@dataclasses.dataclass(frozen=True)
class _Version:
    version: int


@dataclasses.dataclass(frozen=True)
class _Block:
    name: str
    parameters: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class _Column:
    """The end of one of several right-hand sides."""

    reason: str
    iteration: int
    relative_residual: float
    true_relative_residual: float


@dataclasses.dataclass(frozen=True)
class _Phase:
    name: str
    seconds: float


@dataclasses.dataclass(frozen=True)
class _NeedItem:
    name: str
    device: float
    host: float


@dataclasses.dataclass(frozen=True)
class _Need:
    device: float
    host: float
    items: list[_NeedItem]
    unknown: list[str]


@dataclasses.dataclass(frozen=True)
class _Summary:
    """Required entries of a summary, then those that earlier versions lack; views rely on their types."""

    problem: _Block
    N: int
    solver: str
    preconditioner: str
    deflation: str
    coarse: str | None
    device: str
    iterations: int
    reason: str
    relative_residual: float
    variant: str | None = None
    nnz: int | None = None
    deflation_vectors: int = 0
    converged: bool = False
    norm: str = ""
    true_relative_residual: float | None = None
    residual_gap_at: int | None = None
    drift: float | None = None
    setup_seconds: float = 0.0
    compile_seconds: float = 0.0
    iteration_seconds: float = 0.0
    memory_needed: _Need | None = None
    runs_at_once: int | None = None
    setup_phases: list[_Phase] = dataclasses.field(default_factory=list)
    columns: list[_Column] = dataclasses.field(default_factory=list)


ADDED = tuple(field.name for field in dataclasses.fields(_Summary) if field.default is not dataclasses.MISSING)
"""Entries of a summary that have a default."""


@dataclasses.dataclass(frozen=True)
class _Stopping:
    norm: str
    rtol: float


@dataclasses.dataclass(frozen=True)
class _Configuration:
    """Names of runs are made of these; a run of a matrix from memory lacks some."""

    problem: _Block | None = None
    solver: _Block | None = None
    preconditioner: _Block | None = None
    deflation: _Block | None = None
    coarse: _Block | None = None
    variant: _Block | None = None
    stopping: _Stopping = dataclasses.field(default_factory=lambda: _Stopping("", 0.0))


@dataclasses.dataclass(frozen=True)
class _Provenance:
    """The entries of the provenance that views read; all are optional."""

    configuration: _Configuration = dataclasses.field(default_factory=_Configuration)
    notes: list[str] = dataclasses.field(default_factory=list)
    started: str = ""
    machine: dict[str, Any] = dataclasses.field(default_factory=dict)


def to_csv(record: Record, path: str | Path) -> Path:
    """Write the history as CSV, one row per iteration, with the summary in comment lines that start with #.

    Raises InputError if the folder cannot be written.

    Examples:
        >>> from workbench.records import to_csv
        >>> from workbench.run import Run, configure, run_through
        >>> record = run_through(Run(configure("two-layer", n=16))).record()
        >>> "iteration,residual" in to_csv(record, "layers.csv").read_text()
        True
    """
    rows = ([row, *(float(record.history[name][row]) for name in COLUMNS)] for row in range(record.history.count))
    return write(Path(path), table(record.summary, ["iteration", *COLUMNS], rows))
