"""A sweep to watch: choose what varies, see how far it is, a table to sort, and a heat map over two of the choices."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live.compare.sweep_base import base_of, fixed, has_form, points, suggestion
from workbench.live.compare.sweep_choices import Choices
from workbench.live.compare.sweep_map import SweepMap
from workbench.live.compare.sweep_text import columns, counted, left_out, legend, marks, remaining, shortfall
from workbench.live.kit.controls import button
from workbench.live.kit.export import PICTURES, make_folder, slug
from workbench.live.kit.run_handle import RunHandle
from workbench.live.kit.save_bar import SaveBar
from workbench.live.kit.sort_table import SortTable
from workbench.live.kit.status import StatusLine
from workbench.live.solve.form import Form
from workbench.live.transport.closing import close_all
from workbench.live.transport.worker import LatestOnly
from workbench.problems import Problem
from workbench.recording import Record
from workbench.run import MACHINE, Configuration, Result, Stopping, Sweep, sweep
from workbench.run.cancellation import GRACE
from workbench.run.run_queue import QueueSlot
from workbench.run.sweep_files import to_csv, to_json
from workbench.run.sweeping import Row, combinations
from workbench.run.thread_job import ThreadJob
from workbench.settings import SECOND_LEVEL

KEPT = 100
"""Runs that can be looked into, without their solutions; a sweep may have thousands."""
SHOW_PERIOD = 0.5
"""Seconds between two looks at the rows while the sweep goes on."""


class SweepView:
    """A sweep as in `workbench.run.sweep`: SweepView("two-layer", {"n": [64, 128], "deflation": ["none", "stripes"]}).

    Display it, choose what varies and what stays the same, and press Run. The first argument may be a configuration,
    which is what stays the same; without `over` it begins with a suggestion. `rows` are those that are done, `result`
    is the sweep once it has ended, over what was chosen when it began; `error` is the sentence when it failed. Each run
    takes its turn among those of this kernel. `ended_runs` are the last `KEPT` that gave a result, by name. folder:
    where `export` writes, by default exports/ next to the notebook. Raises InputError as `sweep` does, before anything
    runs.
    """

    def __init__(
        self,
        problem: str | Problem | Configuration | None = None,
        over: Mapping[str, Sequence[Any]] | None = None,
        *,
        stopping: Stopping | None = None,
        folder: str | Path | None = None,
        **choices: Any,
    ) -> None:
        self.base = base_of(problem, stopping, choices)
        chosen = suggestion(self.base) if over is None else over
        if not isinstance(problem, Configuration):
            # Names that are both varied and fixed are told, which the base does not show.
            combinations(self.base.problem, chosen, stopping=stopping, **choices)
        self.over, self.runs = dict(chosen), len(points(self.base, chosen))
        self._chosen = self.base
        self.rows: list[Row] = []
        self._records: list[tuple[str, Record]] = []
        self.result: Sweep | None = None
        self.error = ""
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self._job: ThreadJob | None = None
        self._checker = LatestOnly("workbench-check")
        self._telling = threading.Lock()
        self._complaint = self._noted = ""
        self._title = self._name
        self._begun = self._next = 0.0
        self.status, self.plan, self.best, self.saved = (StatusLine() for _ in range(4))
        self.choices = Choices(self.base.problem, self.over, self._changed)
        self.form = Form(self._form_changed, self.base) if has_form(self.base) else None
        self._run = button("Run", "run every combination", self.run, style="primary")
        self._stop = button("Stop", "end the sweep; the rows so far stay", self.stop, style="danger")
        self.bar = widgets.IntProgress(0, 0, self.runs, layout={"width": "280px"})
        self.table = SortTable(empty="Runs that are done are listed here.")
        self.map = SweepMap(self._mark)
        self.map.begin(self.over)
        self._exports = [
            button(text, "save the rows of all runs", lambda kind=kind: self._exporting(kind), width="132px")
            for kind, text in (("csv", "Table (CSV)"), ("json", "Table (JSON)"))
        ]
        self.save_bar = SaveBar(
            lambda: {"heatmap": self.map.figure()},
            provenance=lambda: self._ended().provenance,
            about=self._stem,
            folder=self.folder,
            status=self.saved,
        )
        self.rest = widgets.Accordion([self.form.box] if self.form else [], selected_index=None)
        self.box = self._layout()
        self._enable()
        self._describe()

    def run(self) -> None:
        """Start from the first combination; returns at once. Does nothing while the sweep goes on."""
        if self._job is not None and self._job.working:
            return
        self.error = ""
        self._job = job = ThreadJob(lambda: self._work(job), "workbench-sweep", QueueSlot(MACHINE), on_end=self._end)
        job.start()
        self._enable()

    def stop(self) -> None:
        """End the sweep; the run under way ends with its next iteration and has its row.

        What cannot be interrupted ends in the background, and the sweep can be run again once it has.
        """
        if self._job is None:
            return
        self._job.stop()
        threading.Timer(GRACE, self._tell_of_background).start()

    def rebase(self, configuration: Configuration) -> None:
        """Let this configuration be what stays the same, from the next sweep on; what varies stays as it was typed.

        Choices that its problem does not have are taken away until there is one that has them, and the status line
        names them. Does nothing for the configuration that was given last, so what was set since stays.
        """
        if configuration == self._chosen:
            return
        self._chosen = self.base = configuration
        gone = self.choices.rebase(configuration.problem)
        if self.form and has_form(configuration):
            self.form.load(configuration)
            # Loading tells of changes, and what it read back has the form's precision.
            self.base = configuration
        self._note(f"what stays the same is now {configuration.problem.label}, {configuration.label}{left_out(gone)}")
        self._changed()

    def wait(self, timeout: float | None = None) -> Sweep:
        """Start unless it has been, wait for the end, and return the sweep. Interrupting the wait stops it.

        Raises TimeoutError when it takes longer than `timeout` seconds, InputError where the choices cannot be run and
        with the sentence of a sweep that failed.
        """
        if self._job is None:
            self.run()
        job = self._job
        assert job is not None
        try:
            job.join(timeout)
        except KeyboardInterrupt:
            self.stop()
            job.join()
        if job.working:
            raise TimeoutError(f"the sweep still goes on after {timeout} s; stop() ends it")
        if self.result is None:
            raise InputError(self.error)
        return self.result

    @property
    def ended_runs(self) -> list[RunHandle]:
        """The runs that gave a result, the latest first."""
        return [RunHandle(record, name) for name, record in reversed(self._records)]

    def export(self, kind: str) -> Path:
        """Write "csv" or "json" with all rows, or the heat map as a picture. Raises InputError before the end."""
        if kind in PICTURES:
            return self.save_bar.save(kind)[0]
        return self._write(kind, self.folder)

    def _write(self, kind: str, folder: Path) -> Path:
        result = self._ended()
        make_folder(folder)
        return (to_json if kind == "json" else to_csv)(result, folder / f"{slug(self._stem())}.{kind}")

    def close(self) -> None:
        """End the sweep and take everything off the page."""
        self.stop()
        self._checker.close()
        close_all(self.box)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    @property
    def _name(self) -> str:
        return self.base.problem.name

    def _layout(self) -> widgets.Box:
        rows = ([self._run, self._stop, self.bar], [self.save_bar.box, *self._exports])
        player, exports = (widgets.HBox(row) for row in rows)
        title = widgets.HTML("What varies").add_class("wb-title")
        asked = [title, self.choices.box, self.plan, *([self.rest] if self.form else [])]
        shown = [self.best, self.table, self.map.box, exports.add_class("wb-buttons"), self.saved]
        box = widgets.VBox([*asked, player.add_class("wb-buttons"), self.status, *shown])
        return box.add_class("wb-explorer").add_class("wb-race").add_class("wb-sweep")

    def _form_changed(self) -> None:
        assert self.form is not None
        try:
            chosen = self.form.configuration()
        except InputError as error:
            self._complain(str(error))
            return
        # What the form does not show of the stopping rule stays.
        told = {name: getattr(chosen.stopping, name) for name in ("norm", "rtol", "maxiter")}
        self.base = dataclasses.replace(chosen, stopping=dataclasses.replace(self.base.stopping, **told))
        if self.base.problem.name != self.choices.problem.name:
            gone = self.choices.rebase(self.base.problem)
            self._note(f"the problem is now {self.base.problem.label}{left_out(gone)}")
        self._changed()

    def _note(self, sentence: str) -> None:
        """Show a sentence next to the progress; before the first run it stays in front of how many runs there are."""
        self._noted = sentence
        self.status.say(sentence, "plain", self.status.state)

    def _changed(self) -> None:
        self._checker.ask(self._check)

    def _check(self) -> None:
        """Every combination is looked at before any is run."""
        try:
            over = self.choices.over()
            runs = len(points(self.base, over))
        except InputError as error:
            self._complain(str(error))
            return
        self._complaint, self.over, self.runs = "", over, runs
        self._describe()

    def _complain(self, sentence: str) -> None:
        self._complaint = sentence
        self.plan.say(sentence, "bad")

    def _describe(self) -> None:
        """How many runs, and what stays the same in them."""
        self.plan.say(counted(self.over))
        if self._job is None:
            ready = f"{self._name}: {self.runs} {'run' if self.runs == 1 else 'runs'}; press Run"
            self.status.say(f"{self._noted}; {ready}" if self._noted else ready)
        if self.form is None:
            return
        blocks = {kind: fields for kind, fields in self.form.blocks.items() if kind != "problem"}
        same = [getattr(self.base, kind).name for kind in blocks if kind not in self.over and not self._idle(kind)]
        told = ", ".join([self._name, *(name for name in same if name != "none")])
        self.rest.titles = (f"What stays the same: {told}",)
        for kind, fields in blocks.items():
            for control in (fields.choice, *fields.fields.values()):
                control.disabled = kind in self.over or self._idle(kind)
        for name, control in {**self.form.blocks["problem"].fields, **self.form.settings}.items():
            control.disabled = name in self.over

    def _idle(self, kind: str) -> bool:
        """Without deflation there is no coarse system to solve, and nothing to combine."""
        return kind in SECOND_LEVEL and self.base.deflation.name == "none" and "deflation" not in self.over

    def _ended(self) -> Sweep:
        if self.result is None:
            raise InputError("the sweep has not ended; wait, or press Stop")
        return self.result

    def _stem(self) -> str:
        return f"sweep {self._title} {self._ended().provenance['started']}"

    def _work(self, job: ThreadJob) -> None:
        # What was typed last must have been read.
        self._checker.wait(60)
        if self._complaint:
            raise InputError(self._complaint)
        self.rows, self.result, self._records = [], None, []
        over, self._title = self.over, self._name
        self._begun, self._next = time.monotonic(), 0.0
        self.bar.value, self.bar.max = 0, self.runs
        self.map.begin(over)
        self.best.say("")
        self.status.say(f"{self._title}: running, {self._done()}", "busy", "running")
        problem, same = fixed(self.base, over)
        asked = {"progress": self._progress, "on_result": self._keep, "cancelled": lambda: job.stopping}
        self.result = sweep(problem, over, slot=job.slot, **asked, **same)
        self._show()
        self.map.painter.wait(60)

    def _end(self, job: ThreadJob) -> None:
        self.error = job.error
        with self._telling:
            self._enable()
            self.status.say(*self._last_words())

    def _last_words(self) -> tuple[str, str, str]:
        """How the sweep ended, the tone of that and the state."""
        if self.error:
            never_ran = self.error == self._complaint
            said = self.error if never_ran else f"{self._title}: {self.error}; {self._done()}"
            return said, "bad", "idle" if never_ran else "failed"
        result = self._ended()
        return self._told(result), "good" if result.converged else "plain", "done"

    def _told(self, result: Sweep) -> str:
        """How it ended."""
        stopped = "stopped by the user, " if result.cancelled else ""
        return f"{self._title}: {stopped}{self._done()}{shortfall(self.rows)}"

    def _done(self) -> str:
        return f"{len(self.rows)} of {self.bar.max} runs done"

    def _tell_of_background(self) -> None:
        """Say that the sweep is over where its thread still has something to finish."""
        with self._telling:
            if self._job is not None and self._job.stopping and not self._job.over:
                self._stop.disabled = True
                background = "the run under way cannot be interrupted and ends in the background"
                self.status.say(f"{self._title}: stopped by the user, {self._done()}; {background}", "plain", "done")

    def _keep(self, configuration: Configuration, result: Result) -> None:
        name = f"run {len(self.rows) + 1}: {configuration.problem.label}, {configuration.label}"
        self._records = [*self._records, (name, result.record())][-KEPT:]

    def _progress(self, done: int, of: int, row: Row) -> None:
        self.rows = [*self.rows, row]
        self.bar.value = done
        # Short runs must not wait for pictures of each of them.
        now = time.monotonic()
        if (self._job and self._job.stopping) or now < self._next:
            return
        left = f"; {remaining(now - self._begun, done, of)}" if done < of else ""
        self.status.say(f"{self._title}: running, {done} of {of} runs done{left}", "busy", "running")
        self._show()
        self._next = time.monotonic() + SHOW_PERIOD

    def _show(self) -> None:
        self._mark()
        self.map.show(self.rows)

    def _mark(self) -> None:
        rows, over = self.rows, self.map.over
        if not rows:
            return
        found = marks(rows, over, str(self.map.value.value))
        self.table.show(*columns(rows, over), found)
        self.best.say(legend(found, over, self.map.what))

    def _enable(self) -> None:
        running = self._job is not None and not self._job.over
        self._run.disabled, self._stop.disabled = running, not running
        for control in (*self._exports, self.save_bar.press):
            control.disabled = self.result is None

    def _exporting(self, kind: str) -> None:
        self.save_bar.saver.save(lambda folder: [self._write(kind, folder)], self._stem, "the export")
