"""The list of runs as one file: `recording.save_runs` with names, styles and origins of the list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.errors import InputError
from workbench.files import TemporaryFolder
from workbench.live.ui.run_list import FILE, ListedRun, RunList
from workbench.records import NamedRun, load_runs, save_runs

ENDING = ".runs.zip"
MOST_BYTES = 256 << 20
"""Bytes of a file that is opened through the page, at most."""


def save_list(runs: Sequence[ListedRun], path: str | Path) -> Path:
    """Write the runs that have a result. Raises InputError where there is none."""
    kept = [
        NamedRun(record, run.given, run.origin, run.style, run.pinned, run.hidden)
        for run in runs
        if (record := run.record) is not None
    ]
    return save_runs(kept, path)


def open_list(runs: RunList, path: str | Path, number: int = 0) -> list[ListedRun]:
    """Add the runs of a file to a list, with new numbers; returns them. Raises InputError as `load_runs` does.

    number: of the first run when it was saved, which it gets again where that is free. A style that another run has
    already is replaced by a free one.
    """
    found = load_runs(path)
    taken = {run.style for run in runs.runs}
    added = []
    for run in found:
        style = None if run.style in taken else run.style
        origin = run.origin or FILE
        # Earlier versions named every run by its code.
        given = "" if run.name == run.record.code else run.name
        made = runs.add(
            run.record, origin, given, style=style, pinned=run.pinned, hidden=run.hidden, number=0 if added else number
        )
        taken.add(made.style)
        added.append(made)
    return added


def open_bytes(runs: RunList, name: str, content: bytes, number: int = 0) -> list[ListedRun]:
    """`open_list` of a file that came through the page."""
    if len(content) > MOST_BYTES:
        raise InputError(f"{name} has {len(content) >> 20} MB, at most {MOST_BYTES >> 20} MB can be opened here")
    with TemporaryFolder("files") as folder:
        path = folder / f"upload{ENDING}"
        path.write_bytes(content)
        try:
            return open_list(runs, path, number)
        except InputError as error:
            raise InputError(str(error).replace(str(path), name)) from None
