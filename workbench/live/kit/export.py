"""Files of runs: pictures, tables and run files in the folder exports/ next to the notebook."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from workbench import figures
from workbench.errors import InputError
from workbench.live.kit.finished_runs import Ended
from workbench.recording import save, save_trace, to_csv
from workbench.registry import unknown_name
from workbench.run import Norm

PICTURES = ("svg", "pdf", "png")
KINDS = {
    "csv": "Table (CSV)",
    "run": "Run file",
    "trace": "Trace (JSON)",
}
TIPS = {"trace": "for ui.perfetto.dev and `workbench retime`; only of runs that were traced"}
RUN_ENDING = ".run.npz"
TRACE_ENDING = ".trace.json"
LONGEST, KEPT_END = 120, 40
"""Characters of a file's name without its ending, and how many of its last ones always stay."""
NONE = "there is no run to export yet; press Run first"


def export(kind: str, runs: Sequence[Ended], folder: Path) -> list[Path]:
    """Write each run in one of the `KINDS`; returns the paths.

    Raises InputError when there is no run, or none with a trace where traces are asked for, or when the folder cannot
    be written.
    """
    if not runs:
        raise InputError(NONE)
    if kind == "trace" and not any(run.record.trace for run in runs):
        raise InputError('no run has a trace; tick "trace" before you press Run')
    make_folder(folder)
    match kind:
        case "csv":
            return [to_csv(run.record, folder / f"{file_stem(run)}.csv") for run in runs]
        case "run":
            return [save(run.record, folder / f"{file_stem(run)}{RUN_ENDING}") for run in runs]
        case "trace":
            traced = [(run.record.trace, file_stem(run)) for run in runs if run.record.trace]
            return [save_trace(trace, folder / f"{stem}{TRACE_ENDING}") for trace, stem in traced]
    raise InputError(unknown_name("kind of export", kind, KINDS))


def make_folder(folder: Path) -> None:
    """The folder where exports go, made where it is not there. Raises InputError when that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from None


def file_stem(run: Ended) -> str:
    """A file name from the run: problem, blocks, number and time of its start, so that no run overwrites another."""
    started = re.sub(r"[^0-9T]", "", run.record.provenance["started"].partition("+")[0])
    return slug(f"{run.configuration.problem.label} {run.configuration.label} {started} run{run.number}")


def slug(text: str) -> str:
    """Text as a file name that no system minds; a long one loses its middle, as a run's time and number come last."""
    name = re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.")
    return name if len(name) <= LONGEST else f"{name[: LONGEST - KEPT_END]}-{name[1 - KEPT_END :]}"


def pictures(runs: Sequence[Ended], field: Figure | None, plane: str = "") -> dict[str, Figure]:
    """Figures of the runs by name: all in one of their convergence, the field, and the timeline of the last if traced.

    plane: where the field cuts a cube, which is in its name.

    Raises InputError when there is no run.
    """
    if not runs:
        raise InputError(NONE)
    rules = {(rule.norm, rule.rtol, rule.atol) for rule in (run.configuration.stopping for run in runs)}
    norm, rtol, atol = next(iter(rules))
    # A line only where it holds for every run.
    tolerance = rtol if len(rules) == 1 and norm == Norm.RESIDUAL and atol == 0 else None
    records = [run.record for run in runs]
    found = {"convergence": figures.convergence(records, [run.label for run in runs], tolerance=tolerance)}
    if field is not None:
        found[f"field {plane}".strip()] = field
    if records[-1].trace:
        found["timeline"] = figures.timeline(records[-1].trace)
    return found


def provenance(runs: Sequence[Ended]) -> dict[str, Any]:
    """What it takes to make the runs again, oldest first."""
    return {"runs": [run.record.provenance for run in runs]}
