"""Files of a race: its picture on the axis that is shown, tables, and run files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from workbench import figures
from workbench.errors import InputError
from workbench.live.kit.export import export
from workbench.live.kit.finished_runs import Ended
from workbench.live.plots.convergence import Curve
from workbench.run import RaceEntry

KINDS = {"csv": "Tables (CSV)", "run": "Run files"}
XAXES = {
    "iterations": ("iteration", ""),
    "seconds": ("iteration time on each run's own clock", "s"),
    "total": ("setup and iteration time on each run's own clock", "s"),
    "bytes": ("read and written by the iterations", "B"),
}
"""What the axis says, and its unit."""


def export_race(kind: str, lanes: Sequence[tuple[RaceEntry, Curve]], folder: Path) -> list[Path]:
    """Write a file for each lane that has ended, in one of the `KINDS`; returns the paths.

    Raises InputError while no lane has ended, and when the folder cannot be written.
    """
    return export(kind, ended(lanes), folder)


def ended(lanes: Sequence[tuple[RaceEntry, Curve]]) -> list[Ended]:
    """The lanes that have ended. Raises InputError while there is none."""
    runs = [
        Ended(lane.number, lane.configuration, lane.result.record(), lane.result.reason, curve.style)
        for lane, curve in lanes
        if lane.result is not None
    ]
    if not runs:
        raise InputError("no lane has ended yet; wait, or press Stop")
    return runs


def race_figure(
    lanes: Sequence[tuple[RaceEntry, Curve]], measure: str, tolerance: float, *, with_setup: bool = True
) -> Figure:
    """The lanes that have ended in one picture. with_setup: seconds count the setup too.

    Raises InputError while none has, and against bytes where no lane's are counted.
    """
    curves = {lane.number: curve for lane, curve in lanes}
    counted = [run for run in ended(lanes) if measure != "bytes" or curves[run.number].iteration_bytes is not None]
    if not counted:
        raise InputError("the bytes of no lane are counted; choose iterations or seconds for the picture")
    xlabel, xunit = XAXES["total" if measure == "seconds" and with_setup else measure]
    return figures.convergence(
        [run.record for run in counted],
        [f"{run.number}: {run.configuration.label}" for run in counted],
        tolerance=tolerance,
        positions=[curves[run.number].positions(measure, with_setup=with_setup) for run in counted],
        xlabel=xlabel,
        xunit=xunit,
        legend="below",
        height=3.4 + 0.2 * len(counted),
    )


def race_name(lanes: Sequence[tuple[RaceEntry, Curve]], measure: str) -> str:
    """The rest of the name of a race's file: problem, time of the start, axis."""
    first = ended(lanes)[0]
    return f"{first.configuration.problem.label} {first.record.provenance['started']} {measure}"
