"""Files of runs: pictures, tables and run files in the folder exports/ next to the notebook."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.live.ui.file_names import make_folder, slug
from workbench.live.ui.run_list import ListedRun, labels
from workbench.plots.scenes.convergence import convergence_scene
from workbench.plots.scenes.timeline import timeline_scene
from workbench.records import Record, save, save_trace, to_csv
from workbench.registry import unknown_name
from workbench.run import Norm

PICTURES = ("svg", "pdf", "png")
KINDS = {
    "csv": "Table (CSV)",
    "run": "Run files",
    "trace": "Trace (JSON)",
}
FILES = {"csv": "tables", "run": "run files", "trace": "traces"}
"""The plural of each kind of file, for the name of an archive."""
TIPS = {"trace": "for ui.perfetto.dev and `workbench retime`; only of runs that were traced"}
RUN_ENDING = ".run.npz"
TRACE_ENDING = ".trace.json"
NONE = "there is no run to export yet; press Run first"


def export(kind: str, runs: Sequence[ListedRun], folder: Path) -> list[Path]:
    """Write each run in one of the `KINDS`; returns the paths.

    Raises InputError when there is no run, or none with a trace where traces are asked for, or when the folder cannot
    be written.
    """
    ended = [(record, run) for run in runs if (record := run.record) is not None]
    made = [
        (dataclasses.replace(record, style=run.style, film=run.handle.film), file_stem(run)) for record, run in ended
    ]
    if not made:
        raise InputError(NONE)
    if kind == "trace" and not any(record.trace for record, _ in made):
        raise InputError("no run has kernel timings; tick “Record kernel timings” before you press Run")
    make_folder(folder)
    match kind:
        case "csv":
            return [to_csv(record, folder / f"{stem}.csv") for record, stem in made]
        case "run":
            return [save(record, folder / f"{stem}{RUN_ENDING}") for record, stem in made]
        case "trace":
            traced = [(record.trace, stem) for record, stem in made if record.trace]
            return [save_trace(trace, folder / f"{stem}{TRACE_ENDING}") for trace, stem in traced]
    raise InputError(unknown_name("kind of export", kind, KINDS))


def file_stem(run: ListedRun) -> str:
    """A file name from the run: problem, blocks, number and time of its start, so that no run overwrites another."""
    started = re.sub(r"[^0-9T]", "", str(run.handle.provenance.get("started", "")).partition("+")[0])
    return slug(f"{run.handle.problem} {run.handle.method} {started} run{run.number}")


def pictures(runs: Sequence[ListedRun], field: Figure | None, plane: str = "") -> dict[str, Any]:
    """Pictures of the runs by name: all in one of their convergence, the field, and the timeline of the last if traced.

    plane: where the field cuts a cube, which is in its name.

    Raises InputError when there is no run.
    """
    named = zip(runs, labels(runs), strict=True)
    found = [(record, label) for run, label in named if (record := run.record) is not None]
    if not found:
        raise InputError(NONE)
    rules = {_stopping(record) for record, _ in found}
    norm, rtol, atol = next(iter(rules))
    # A line only where it holds for every run.
    tolerance = rtol if len(rules) == 1 and norm == Norm.RESIDUAL and atol == 0 else None
    records, names = [record for record, _ in found], [label for _, label in found]
    styles = [run.style for run in runs if run.record is not None]
    drawn: dict[str, Any] = {"convergence": convergence_scene(records, names, tolerance=tolerance, styles=styles)}
    if field is not None:
        drawn[f"field {plane}".strip()] = field
    if records[-1].trace:
        drawn["timeline"] = timeline_scene(records[-1].trace)
    return drawn


def provenance(runs: Sequence[ListedRun]) -> dict[str, Any]:
    """The provenance of the runs, by which they can be made again, oldest first."""
    return {"runs": [run.record.provenance for run in runs if run.record is not None]}


def _stopping(record: Record) -> tuple[str, float, float]:
    """The norm and the tolerances of a run."""
    rule = record.provenance.get("configuration", {}).get("stopping", {})
    return str(rule.get("norm", "")), float(rule.get("rtol", 0.0)), float(rule.get("atol", 0.0))
