"""Files of a race: its picture on the axis that is shown, tables, and run files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench import figures
from workbench.errors import InputError
from workbench.live.convergence import Curve
from workbench.live.export import export, make_folder, slug
from workbench.live.runs import Ended
from workbench.run import Lane

KINDS = {"svg": "Picture (SVG)", "png": "Picture (PNG)", "csv": "Tables (CSV)", "run": "Run files"}
XAXES = {
    "iterations": ("iteration", ""),
    "seconds": ("iteration time on each run's own clock", "s"),
    "bytes": ("read and written by the iterations", "B"),
}
"""What the axis says, and its unit."""


def export_race(
    kind: str, lanes: Sequence[tuple[Lane, Curve]], measure: str, tolerance: float, folder: Path
) -> list[Path]:
    """Write the lanes that have ended in one of the `KINDS`: one picture of all, or one file for each.

    Returns the paths. Raises InputError while no lane has ended, where no lane's bytes are counted, and when the folder
    cannot be written.
    """
    runs = [
        Ended(lane.number, lane.configuration, lane.result.record(), lane.result.reason, curve.style)
        for lane, curve in lanes
        if lane.result is not None
    ]
    if not runs:
        raise InputError("no lane has ended yet; wait, or press Stop")
    if kind not in ("svg", "png"):
        return export(kind, runs, None, folder)
    curves = {lane.number: curve for lane, curve in lanes}
    counted = [run for run in runs if measure != "bytes" or curves[run.number].iteration_bytes is not None]
    if not counted:
        raise InputError("the bytes of no lane are counted; choose iterations or seconds for the picture")
    xlabel, xunit = XAXES[measure]
    figure = figures.convergence(
        [run.record for run in counted],
        [f"{run.number}: {run.configuration.label}" for run in counted],
        tolerance=tolerance,
        positions=[curves[run.number].positions(measure) for run in counted],
        xlabel=xlabel,
        xunit=xunit,
        legend="below",
        height=3.4 + 0.2 * len(counted),
    )
    make_folder(folder)
    stem = slug(f"race {runs[0].configuration.problem.label} {runs[0].record.provenance['started']} {measure}")
    return [figures.save(figure, folder / f"{stem}.{kind}")]
