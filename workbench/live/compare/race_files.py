"""Files of a race: tables, run files, and the name of its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.errors import InputError
from workbench.live.ui.export import export
from workbench.live.ui.run_list import ListedRun

KINDS = {"csv": "Tables (CSV)", "run": "Run files"}


def export_race(kind: str, entries: Sequence[ListedRun], folder: Path) -> list[Path]:
    """Write a file for each entry that has ended, in one of the `KINDS`; returns the paths.

    Raises InputError while no entry has ended, and when the folder cannot be written.
    """
    return export(kind, ended(entries), folder)


def ended(entries: Sequence[ListedRun]) -> list[ListedRun]:
    """The entries of the list of runs with a result. Raises InputError while there is none."""
    runs = [run for run in entries if not run.active and run.record is not None]
    if not runs:
        raise InputError("no entry has ended yet; wait, or press Stop")
    return runs


def race_name(entries: Sequence[ListedRun], measure: str) -> str:
    """The rest of the name of a race's file: problem, time of the start, axis."""
    first = ended(entries)[0].handle
    return f"{first.problem} {first.provenance['started']} {measure}"
