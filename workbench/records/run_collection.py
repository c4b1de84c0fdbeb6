"""Files with several runs: a ZIP archive of run files, with an index of their names and styles."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

from workbench.errors import InputError, printable_path
from workbench.files import TemporaryFolder, opened, write
from workbench.files.arrays import check_unpacked
from workbench.files.codec import read_json
from workbench.records.record import Record, load, save
from workbench.records.typed import read

FORMAT = "cg-workbench runs"
VERSION = 1
INDEX = "runs.json"
MOST_RUNS = 1000
MOST_INDEX = 4 << 20
"""Bytes of the index."""


@dataclasses.dataclass(frozen=True)
class NamedRun:
    """A run with its entries in a list of runs. style: index of colour, dash and mark.

    name: given by the user, or "".

    Examples:
        >>> from workbench.records import NamedRun
        >>> from workbench.run import Run, configure, run_through
        >>> NamedRun(run_through(Run(configure("two-layer", n=16))).record(), "first").record.problem_label
        'Two layers, 16²'
    """

    record: Record
    name: str
    origin: str = ""
    style: int = 0
    pinned: bool = False
    hidden: bool = False


def save_runs(runs: Sequence[NamedRun], path: str | Path) -> Path:
    """Write runs to one file. Raises InputError for no run, and if the folder cannot be written.

    Examples:
        >>> from workbench.records import NamedRun, save_runs
        >>> from workbench.run import Run, configure, run_through
        >>> record = run_through(Run(configure("two-layer", n=16))).record()
        >>> save_runs([NamedRun(record, "first")], "all.runs.npz").name
        'all.runs.npz'
    """
    if not runs:
        raise InputError("there is no run with a result to save; let one end first")
    head = {"format": FORMAT, "version": VERSION, "runs": [_facts(run, place) for place, run in enumerate(runs)]}
    buffer = io.BytesIO()
    # Run files are compressed already. Stored members also have no hidden size, which `load_runs` relies on.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive, TemporaryFolder("files") as folder:
        archive.writestr(INDEX, json.dumps(head))
        for place, run in enumerate(runs):
            archive.write(save(run.record, folder / _member(place)), _member(place))
    return write(Path(path), buffer.getvalue())


def load_runs(path: str | Path) -> list[NamedRun]:
    """Read a file of `save_runs`, or one with a single run.

    Memory: that of the runs, all together at most `workbench.process.limits.unpacked`. Raises InputError for a missing
    file, another format, a damaged file, and a later format version.

    Examples:
        >>> from workbench.records import NamedRun, load_runs, save_runs
        >>> from workbench.run import Run, configure, run_through
        >>> record = run_through(Run(configure("two-layer", n=16))).record()
        >>> [run.name for run in load_runs(save_runs([NamedRun(record, "a"), NamedRun(record, "b")], "both.runs.npz"))]
        ['a', 'b']
    """
    named = printable_path(path)
    with opened(path, "file of runs") as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                if INDEX not in archive.namelist():
                    record = load(path)
                    return [NamedRun(record, "", style=record.style or 0)]
                return _read(archive, os.fstat(stream.fileno()).st_size)
        except InputError as error:
            text = str(error)
            raise InputError(text if text.startswith(named) else f"{named} cannot be opened: {text}") from None
        # Errors of zipfile for invalid bytes, and for a damaged header with a version of ZIP that it cannot read.
        except (zipfile.BadZipFile, KeyError, RuntimeError, EOFError, OSError, ValueError):
            raise InputError(
                f"{named} is damaged or not a file of runs; use another copy, or save the runs again"
            ) from None


def _read(archive: zipfile.ZipFile, size: int) -> list[NamedRun]:
    if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
        raise InputError("its members are compressed, which a file of runs never is; save the runs again")
    if sum(member.file_size for member in archive.infolist()) > size:
        raise InputError("its members overlap; save the runs again")
    if archive.getinfo(INDEX).file_size > MOST_INDEX:
        raise InputError(f"its index has more than {MOST_INDEX >> 20} MB")
    head = read(_Index, read_json(archive.read(INDEX)), "index")
    if head.format != FORMAT:
        raise InputError("it is not a file of runs of this workbench")
    if head.version > VERSION:
        raise InputError(f"it has format version {head.version}, this workbench reads up to {VERSION}; update it")
    if len(head.runs) > MOST_RUNS:
        raise InputError(f"it has {len(head.runs)} runs, at most {MOST_RUNS} can be opened")
    found, unpacked = [], 0
    with TemporaryFolder("files") as folder:
        for place, entry in enumerate(head.runs):
            name = _member(place)
            if name not in archive.namelist():
                raise InputError(f"run {place + 1} of {len(head.runs)} is missing; use another copy of the file")
            target = folder / name
            target.write_bytes(archive.read(name))
            with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(target) as run:
                unpacked = check_unpacked(run.infolist(), size, unpacked)
            try:
                record = load(target)
            except InputError as error:
                raise InputError(f"run {place + 1} of {len(head.runs)}: {error}".replace(str(target), "it")) from None
            style = entry.style if 0 <= entry.style < MOST_RUNS else 0
            found.append(NamedRun(record, entry.name, entry.origin, style, entry.pinned, entry.hidden))
    return found


def _member(place: int) -> str:
    return f"{place + 1}.run.npz"


def _facts(run: NamedRun, place: int) -> dict[str, object]:
    facts = {field.name: getattr(run, field.name) for field in dataclasses.fields(run) if field.name != "record"}
    return {"file": _member(place), **facts}


@dataclasses.dataclass(frozen=True)
class _Entry:
    name: str
    origin: str = ""
    style: int = 0
    pinned: bool = False
    hidden: bool = False


@dataclasses.dataclass(frozen=True)
class _Index:
    format: str
    version: int
    runs: list[_Entry]
