"""A run as a value on disk: one file, versioned, written to a temporary file and renamed."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.recording.files import write
from workbench.recording.history import COLUMNS, History
from workbench.recording.trace import Trace

FORMAT = "cg-workbench run"
VERSION = 1
SUMMARY: dict[str, type | tuple[type, ...]] = {
    "problem": dict,
    "N": int,
    "solver": str,
    "preconditioner": str,
    "deflation": str,
    "coarse": (str, type(None)),
    "device": str,
    "iterations": int,
    "reason": str,
    "relative_residual": (float, int),
}
"""What every summary holds: views read these without asking."""


@dataclasses.dataclass(frozen=True, eq=False)
class Record:
    """Everything that views and exports need of a run, as plain data.

    summary: the fields that `workbench solve --json` prints, without the residual history.
    provenance: problem, blocks, versions, machine, device, seed, time of the run.
    solution: x, shape (N,), when it was kept. trace: where the time went, when the run was traced.
    """

    summary: dict[str, Any]
    provenance: dict[str, Any]
    history: History
    solution: np.ndarray | None = None
    trace: Trace | None = None


def save(record: Record, path: str | Path) -> Path:
    """Write a run to one file, about 56 bytes an iteration. Raises InputError when the folder cannot be written."""
    head = {"format": FORMAT, "version": VERSION, "summary": record.summary, "provenance": record.provenance}
    arrays = record.history.to_arrays()
    if record.solution is not None:
        arrays["solution"] = record.solution
    if record.trace is not None:
        arrays["trace"] = np.array(json.dumps(record.trace.to_dict()))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, head=np.array(json.dumps(head)), **arrays)  # pyright: ignore[reportArgumentType]
    return write(Path(path), buffer.getvalue())


def load(path: str | Path) -> Record:
    """Read a run back. Raises InputError when the file is missing, is no run, is damaged, or is of a later version."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"no run file at {path}")
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        head = json.loads(str(arrays.pop("head")))
        if head["format"] != FORMAT:
            raise ValueError
        version = int(head["version"])
        if version > VERSION:
            raise InputError(
                f"{path} is a run of format version {version}, this workbench reads up to {VERSION}; update it"
            )
        _check(path, head["summary"], head["provenance"])
        solution = arrays.pop("solution", None)
        trace = Trace.from_dict(json.loads(str(arrays.pop("trace")))) if "trace" in arrays else None
        return Record(head["summary"], head["provenance"], History.from_arrays(arrays), solution, trace)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile):
        raise InputError(f"{path} is no run of this workbench; runs are written by `workbench solve --save`") from None


def _check(path: Path, summary: Any, provenance: Any) -> None:
    """Raise InputError where what says how the run was made and ended is damaged."""
    whole = isinstance(summary, dict) and isinstance(provenance, dict)
    wrong = [name for name, kind in SUMMARY.items() if not isinstance(summary.get(name, ...), kind)] if whole else []
    if wrong or not whole:
        told = f"in its summary, {', '.join(wrong)} cannot be read" if whole else "its summary cannot be read"
        raise InputError(f"{path} is damaged: {told}; save the run again, or take another copy of the file")


def to_csv(record: Record, path: str | Path) -> Path:
    """Write the history as CSV: a row an iteration, provenance in comment lines that start with #."""
    text = io.StringIO()
    for key, value in record.summary.items():
        text.write(f"# {key}: {json.dumps(value)}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["iteration", *COLUMNS])
    for row in range(record.history.count):
        writer.writerow([row, *(repr(float(record.history[name][row])) for name in COLUMNS)])
    return write(Path(path), text.getvalue().encode())
