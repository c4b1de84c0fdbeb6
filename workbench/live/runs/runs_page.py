"""The page of all runs: a table, the convergence of the chosen ones, and a file of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.files import TemporaryFolder
from workbench.live.plots.convergence import ConvergenceView, ListedCurves
from workbench.live.plots.curve import AXES
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, row
from workbench.live.ui.export import provenance
from workbench.live.ui.run_list import FILE, ListedRun, RunList, numbered
from workbench.live.ui.run_table import RunTable
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.records import NamedRun, load_runs, save_runs
from workbench.words.numbers import counted

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


class RunsPage(View):
    """All runs of a page, and their file. Display it. The list stays in the kernel, so that a page that is loaded again
    shows it as it was.

    runs: the list of the page. folder: where `save` writes, by default exports/ next to the notebook.

    Examples:
        >>> from workbench.live import RunsPage
        >>> RunsPage().close()
    """

    names_problem = False

    def __init__(self, runs: RunList | None = None, folder: str | Path | None = None) -> None:
        self.runs = runs or RunList()
        self.publisher = Publisher()
        self.status = StatusLine()
        self.table = RunTable(self.runs, self.publisher, whole=True)
        self.convergence = ConvergenceView(publisher=self.publisher, movable=False)
        self.curves = ListedCurves(self.convergence, self.runs, self._shows)
        self.axis = widgets.ToggleButtons(options=AXES[:2])
        self.axis.observe(lambda change: setattr(self.convergence, "axis", change["new"]), "value")
        self.save_bar = SaveBar(
            lambda: {"convergence": self.convergence.scene()},
            provenance=lambda: provenance(self._shown()),
            about=lambda: f"{len(self._shown())} runs",
            folder=folder,
            status=self.status,
        )
        self.save_all = button(
            "Save all runs", "one file with every run that has ended", self._press_save, width="112px"
        )
        self.upload = widgets.FileUpload(
            accept=".zip,.npz", description="Open runs", icon="", layout={"width": "112px"}
        )
        self.upload.tooltip = "a file of Save all runs, or a run file; its runs are added to the list"
        self.upload.observe(self._uploaded, "value")
        self._opener = LatestOnly("workbench-open-runs")
        files = row("wb-buttons", self.save_all, self.upload, self.save_bar.box)
        against = row("wb-buttons", widgets.Label("x-axis"), self.axis)
        self.hint = widgets.HTML()
        halves = row("wb-halves", self.table.box, widgets.VBox([self.hint, against, self.convergence]))
        parts = [files, self.status, halves]
        self.box = widgets.VBox(parts).add_class("wb-explorer").add_class("wb-runspage")
        self.runs.on_change(self._enable)
        self._enable()

    def save(self, path: str | Path | None = None) -> Path:
        """Write every run that has ended to one file. Raises InputError where there is none."""
        return save_list(self.runs.runs, Path(path) if path is not None else self.save_bar.folder / f"runs{ENDING}")

    def open(self, path: str | Path) -> list[ListedRun]:
        """Add the runs of a file to the list; returns them. Raises InputError for a file that is damaged or no runs."""
        return open_list(self.runs, path)

    def hide(self, hidden: bool) -> None:
        """Send nothing while another page is in front."""
        self.convergence.link.hidden = hidden
        self.publisher.wake()

    def close(self) -> None:
        """Take everything off the page."""
        self.runs.forget(self._enable)
        self.curves.close()
        self.table.close()
        self._opener.close()
        self.publisher.close()
        super().close()

    def _shows(self, run: ListedRun) -> bool:
        chosen = self.runs.chosen
        return run in chosen if chosen else True

    def _shown(self) -> list[ListedRun]:
        """The runs on the plot that have a result."""
        return [r for r in self.runs.runs if not r.hidden and self._shows(r) and r.record is not None]

    def _enable(self) -> None:
        none = not any(run.record is not None for run in self.runs.runs if not run.active)
        self.save_all.disabled = self.save_bar.press.disabled = none
        said = drawn(self.runs)
        self.hint.value = f'<p class="wb-empty" role="status">{said}</p>' if said else ""

    def _press_save(self) -> None:
        def write(folder: Path) -> list[Path]:
            folder.mkdir(parents=True, exist_ok=True)
            return [self.save(folder / f"runs{ENDING}")]

        self.save_bar.saver.save(write, lambda: "runs", "saving the runs")

    def _uploaded(self, change: Mapping[str, Any]) -> None:
        for file in change["new"]:
            name, content = str(file["name"])[:60], bytes(file["content"])
            self.status.say(f"opening {name}", "busy")
            self._opener.ask(lambda name=name, content=content: self._take(name, content))

    def _take(self, name: str, content: bytes) -> None:
        try:
            added = open_bytes(self.runs, name, content)
            self.status.say(f"Opened {name}: {counted(len(added), 'run')} added to the list.", "good")
        # Nothing else would report it to the user.
        except Exception as error:
            self.status.say(error_message(error, "opening the runs"), "bad")


def drawn(runs: RunList) -> str:
    """A sentence on the runs that the plot shows, and why; empty without a run."""
    if not runs.runs:
        return ""
    wanted = runs.chosen or runs.runs
    shown = [run.number for run in wanted if not run.hidden]
    hidden = [run.number for run in wanted if run.hidden]
    which = "chosen" if runs.chosen else "all that are not hidden"
    said = f"Drawn: {numbered(shown)}, {which}." if shown else ""
    pressed = "press Show to draw them" if runs.chosen else "choose them and press Show to draw them"
    return " ".join(filter(None, (said, f"Hidden: {numbered(hidden)}; {pressed}." if hidden else "")))
