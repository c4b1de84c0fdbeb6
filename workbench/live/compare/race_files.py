"""Files of a race: its picture on the axis that is shown, tables, and run files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from workbench import figures
from workbench.errors import InputError
from workbench.live.plots.curve import Curve
from workbench.live.ui.export import export
from workbench.live.ui.run_list import ListedRun

KINDS = {"csv": "Tables (CSV)", "run": "Run files"}
XAXES = {
    "iterations": ("iteration", ""),
    "seconds": ("iteration time on each run's own clock", "s"),
    "total": ("setup and iteration time on each run's own clock", "s"),
    "bytes": ("read and written by the iterations", "B"),
}
"""What the axis says, and its unit."""


Entries = Sequence[tuple[ListedRun, Curve | None]]
"""The entries of a race in the list of runs, with their curves."""


def export_race(kind: str, entries: Entries, folder: Path) -> list[Path]:
    """Write a file for each entry that has ended, in one of the `KINDS`; returns the paths.

    Raises InputError while no entry has ended, and when the folder cannot be written.
    """
    return export(kind, ended(entries), folder)


def ended(entries: Entries) -> list[ListedRun]:
    """The entries with a result. Raises InputError while there is none."""
    runs = [run for run, _ in entries if not run.active and run.record is not None]
    if not runs:
        raise InputError("no entry has ended yet; wait, or press Stop")
    return runs


def race_figure(entries: Entries, measure: str, tolerance: float, *, with_setup: bool = True) -> Figure:
    """The entries that have ended in one picture. with_setup: seconds count the setup too.

    Raises InputError while none has, and against bytes if those of no entry are counted.
    """
    curves = {run.number: curve for run, curve in entries if curve is not None}
    drawn = [(run, run.record, curves[run.number]) for run in ended(entries) if run.number in curves]
    counted = [row for row in drawn if measure != "bytes" or row[2].iteration_bytes is not None]
    if not counted:
        raise InputError("the bytes of no entry are counted; choose iterations or seconds for the picture")
    xlabel, xunit = XAXES["total" if measure == "seconds" and with_setup else measure]
    return figures.convergence(
        [record for _, record, _ in counted if record is not None],
        [f"{run.number}: {run.handle.method}" for run, _, _ in counted],
        tolerance=tolerance,
        positions=[curve.positions(measure, with_setup=with_setup) for _, _, curve in counted],
        xlabel=xlabel,
        xunit=xunit,
        legend="below",
        height=3.4 + 0.2 * len(counted),
    )


def race_name(entries: Entries, measure: str) -> str:
    """The rest of the name of a race's file: problem, time of the start, axis."""
    first = ended(entries)[0].handle
    return f"{first.problem} {first.provenance['started']} {measure}"
