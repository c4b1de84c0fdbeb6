"""Parts of the explorer: files and figures of runs, one problem on the cores and on an accelerator, the outcome of the
last run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import ipywidgets as widgets

from workbench import devices
from workbench.live.solve.explorer_text import BACKGROUND, STOPPED, ending, needs_plain_cg, result_html, setup_line
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, markup, row
from workbench.live.ui.export import FILES, KINDS, PICTURES, TIPS, export, file_stem, provenance
from workbench.live.ui.run_list import ListedRun, numbered
from workbench.live.ui.save_bar import Picture, SaveBar
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.run import BothDevices, Session, State

PLANE = "plane of the slice"
TIP = "run this problem on the cores and on an accelerator, with both timelines on one axis"
PLAIN = "the problem and the levels of this run with plain CG, which rounding harms less"
ALONE = "This machine has no accelerator; PoCL turns its cores into one."


class ExportBar(View):
    """runs: returns those to save, of which the last names files of all. pictures: returns theirs by name. plane:
    returns that of the field, which its figures note. further: buttons at the end."""

    def __init__(
        self,
        runs: Callable[[], Sequence[ListedRun]],
        pictures: Callable[[], Mapping[str, Picture]],
        plane: Callable[[], str],
        folder: Path,
        *further: widgets.Widget,
    ) -> None:
        self._runs, self._folder = runs, folder
        self.status = StatusLine()
        self.buttons = {
            kind: button(text, _tip(kind), self._saving(kind), width="104px") for kind, text in KINDS.items()
        }
        self.figures = SaveBar(
            pictures,
            notes=lambda name: {PLANE: f"plane {plane()}"} if name.startswith("field ") else {},
            noted=[PLANE],
            provenance=lambda: provenance(runs()),
            about=lambda: file_stem(runs()[-1]),
            folder=folder,
            status=self.status,
        )
        self.box = row("wb-buttons", self.figures.box, *self.buttons.values(), *further)

    def save(self, kind: str) -> list[Path]:
        """Write the runs into the folder as "csv", "run" or "trace", or their figures as "svg", "pdf" or "png".

        Returns the paths. Raises InputError where there is nothing to write, or it cannot be written.
        """
        return self.figures.save(kind) if kind in PICTURES else export(kind, self._runs(), self._folder)

    def enable(self) -> None:
        """Enable the buttons that have something to save, and no others."""
        runs = self._runs()
        traced = [run for run in runs if run.record and run.record.trace]
        # Each once: a button that is enabled and disabled again can be pressed in between.
        for kind, control in self.buttons.items():
            control.disabled = not (traced if kind == "trace" else runs)
        self.figures.press.disabled = not runs

    def _saving(self, kind: str) -> Callable[[], None]:
        """The action of a button."""

        def name() -> str:
            runs = self._runs()
            return f"{len(runs)} {FILES[kind]} until {file_stem(runs[-1])}"

        return lambda: self.figures.saver.save(lambda folder: export(kind, self._runs(), folder), name, "the export")


def _tip(kind: str) -> str:
    return f"save it; {TIPS[kind]}" if kind in TIPS else "save it, a file for each run"


class BothBar:
    """act: the action of the button, in a thread of its own, since creating a device takes seconds."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._worker = LatestOnly("workbench-both")
        self._latest: BothDevices | None = None
        self.button = button("Run on cores and accelerator", TIP, lambda: self._worker.ask(act), width="auto")
        self.note = StatusLine()
        """The line that says if these run at once or one after the other."""
        if not {"opencl", "cuda"} & {*devices.names()}:
            self.button.disabled = True
            self.note.say(ALONE)
        self.box = row("wb-buttons", self.button, self.note)

    def keep(self, both: BothDevices) -> None:
        """Keep these two runs as the latest."""
        self._latest = both
        self.note.say(both.sentence)

    def with_other(self, run: object) -> tuple[Session, ...]:
        """Both runs, where this is one of the latest two; else none."""
        return self._latest.runs if self._latest and run in self._latest.runs else ()

    def close(self) -> None:
        """Keep no run."""
        self._worker.close()
        self._latest = None


class Outcome:
    """Display `box`, and below the plots `others` and `setup`. run_plain: the action of the button that a run broken
    down by rounding has."""

    def __init__(self, run_plain: Callable[[], None]) -> None:
        self.result, self.setup, self.others = markup(), markup(), markup()
        self.plain = button("Run plain CG", PLAIN, run_plain, width="120px")
        self.box = row("wb-outcome", self.result, self.plain)
        self.show(None)

    def show(self, last: ListedRun | None) -> None:
        """Show the outcome of a run that has ended; None for none."""
        record = last.record if last else None
        self.result.value = _result_of(last) if last else ""
        self.setup.value = setup_line(f"run {last.number}", record) if last and record else ""
        self.plain.layout.display = "" if record and needs_plain_cg(record.summary) else "none"

    def tell_absent(self, numbers: Sequence[int]) -> None:
        """Name the runs that the plot leaves out, since they are on another problem."""
        said = f"Not drawn: {numbered(numbers)}, on another problem. Tick a row to draw it." if numbers else ""
        self.others.value = f'<p class="wb-note">{said}</p>' if said else ""


def _result_of(run: ListedRun) -> str:
    if (record := run.record) is None:
        failed = run.handle.state is State.FAILED
        lingers = isinstance(run.source, Session) and run.source.lingering
        words = f"{run.error or STOPPED}{BACKGROUND * lingers}"
        return result_html(run.number, None, words, "bad" if failed else "plain", ())
    words = ending(record.summary)
    tone = "good" if record.summary["converged"] else "plain"
    notes = record.provenance["notes"]
    return result_html(run.number, record.summary, words, tone, notes, run.handle.waited)
