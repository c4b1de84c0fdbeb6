"""A sweep to watch: how far it is, a table to sort, and a heat map over two of the choices."""

from __future__ import annotations

import io
import itertools
import math
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import numpy as np

from workbench.errors import InputError
from workbench.figures.heatmap import heatmap
from workbench.live.controls import button
from workbench.live.export import PICTURES, make_folder, slug
from workbench.live.save_bar import SaveBar
from workbench.live.sorttable import SortTable
from workbench.live.status import StatusLine
from workbench.problems import Problem
from workbench.run import Stopping, Sweep, sweep
from workbench.run.sweep_files import to_csv, to_json
from workbench.run.sweeping import Row, combinations

VALUES = {
    "iterations": "iterations",
    "iteration seconds": "iteration_seconds",
    "setup and iteration seconds": "seconds",
}
SHOWN = ("N", "iterations", "setup_seconds", "iteration_seconds", "true_relative_residual", "reason")
SHOW_PERIOD = 0.5
"""Seconds between two looks at the rows while the sweep goes on."""
WIDTH, DPI = 680, 160
"""Pixels of the page that the heat map takes, and dots an inch of what is sent."""


class SweepView:
    """A sweep as in `workbench.run.sweep`: SweepView("two-layer", {"n": [64, 128], "deflation": ["none", "stripes"]}).

    Display it and press Run. `rows` are those that are done, `result` is the sweep once it has ended. folder: where
    exports go, by default exports/ beside the notebook. Raises InputError as `sweep` does, before anything runs.
    """

    def __init__(
        self,
        problem: str | Problem,
        over: Mapping[str, Sequence[Any]],
        *,
        stopping: Stopping | None = None,
        folder: str | Path | None = None,
        **choices: Any,
    ) -> None:
        self.runs = len(combinations(problem, over, stopping=stopping, **choices))
        self.over = {name: list(values) for name, values in over.items()}
        self.rows: list[Row] = []
        self.result: Sweep | None = None
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self._ask = lambda: sweep(
            problem, over, stopping=stopping, progress=self._progress, cancelled=self._cancel.is_set, **choices
        )
        self._name = problem if isinstance(problem, str) else problem.label
        self._cancel = threading.Event()
        self._thread: threading.Thread | None = None
        self._drawing = threading.Lock()
        self._next = 0.0
        self._run = button("Run", "run every combination", self.run, style="primary")
        self._stop = button("Stop", "end the sweep; the rows so far stay", self.stop, style="danger")
        self.bar = widgets.IntProgress(0, 0, self.runs, layout={"width": "280px"})
        self.status, self.saved = StatusLine(), StatusLine()
        self.table = SortTable(empty="Runs that are done are listed here.")
        names = list(self.over)
        self.down = widgets.Dropdown(options=names, value=names[0], description="rows")
        self.across = widgets.Dropdown(options=names, value=names[-1], description="columns")
        self.value = widgets.Dropdown(options=VALUES, description="value")
        self.note = widgets.HTML()
        self.picture = widgets.Image(format="png", width=WIDTH, layout={"object_fit": "contain", "display": "none"})
        for control in (self.down, self.across, self.value):
            control.observe(lambda _change: self._draw(), "value")
        self._exports = [
            button(text, "write it into the folder exports/", lambda kind=kind: self._export(kind), width="132px")
            for kind, text in (("csv", "Table (CSV)"), ("json", "Table (JSON)"))
        ]
        self.save_bar = SaveBar(
            lambda: {"heatmap": self._heatmap()},
            provenance=lambda: self._ended().provenance,
            about=self._stem,
            folder=self.folder,
            status=self.saved,
        )
        self.box = self._layout()
        self._enable()
        self.status.say(f"{self._name}: {self.runs} runs; press Run")

    def run(self) -> None:
        """Start from the first combination; returns at once. Does nothing while the sweep goes on."""
        if self._thread is not None and self._thread.is_alive():
            return
        self._cancel.clear()
        self.rows, self.result, self._next = [], None, 0.0
        self.bar.value = 0
        self._thread = threading.Thread(target=self._work, name="workbench-sweep", daemon=True)
        self._thread.start()
        self._enable()

    def stop(self) -> None:
        """End the sweep; the run under way ends with its next iteration and has its row."""
        self._cancel.set()

    def wait(self, timeout: float | None = None) -> Sweep:
        """Start unless it has been, wait for the end, and return the sweep. Interrupting the wait stops it.

        Raises TimeoutError when it takes longer than `timeout` seconds.
        """
        if self._thread is None:
            self.run()
        assert self._thread is not None
        try:
            self._thread.join(timeout)
        except KeyboardInterrupt:
            self.stop()
            self._thread.join()
        if self.result is None:
            raise TimeoutError(f"the sweep still goes on after {timeout} s; stop() ends it")
        return self.result

    def export(self, kind: str) -> Path:
        """Write "csv" or "json" with all rows, or the heat map as a picture. Raises InputError before the end."""
        result = self._ended()
        if kind in PICTURES:
            return self.save_bar.save(kind)[0]
        make_folder(self.folder)
        return (to_json if kind == "json" else to_csv)(result, self.folder / f"{slug(self._stem())}.{kind}")

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _layout(self) -> widgets.Box:
        rows = [[self._run, self._stop, self.bar], [self.down, self.across, self.value]]
        rows.append([self.save_bar.box, *self._exports])
        player, choices, exports = (widgets.HBox(row).add_class("wb-buttons") for row in rows)
        parts = [player, self.status, self.table, choices, self.note, self.picture, exports, self.saved]
        return widgets.VBox(parts).add_class("wb-explorer").add_class("wb-race")

    def _ended(self) -> Sweep:
        if self.result is None:
            raise InputError("the sweep has not ended; wait, or press Stop")
        return self.result

    def _stem(self) -> str:
        return f"sweep {self._name} {self._ended().provenance['started']}"

    def _work(self) -> None:
        self.status.say(f"{self._name}: running, 0 of {self.runs} runs done", "busy", "running")
        self.result = self._ask()
        self._show()
        done = f"{len(self.rows)} of {self.runs} runs done"
        failed = sum(not row["converged"] for row in self.rows)
        told = f", {failed} did not converge" if failed else ""
        said = f"{self._name}: stopped by the user, {done}" if self.result.cancelled else f"{self._name}: {done}{told}"
        self._enable(over=True)
        self.status.say(said, "good" if self.result.converged else "plain", "done")

    def _progress(self, done: int, of: int, row: Row) -> None:
        self.rows = [*self.rows, row]
        self.bar.value = done
        # Short runs must not wait for pictures of each of them.
        if time.monotonic() < self._next:
            return
        self.status.say(f"{self._name}: running, {done} of {of} runs done", "busy", "running")
        self._show()
        self._next = time.monotonic() + SHOW_PERIOD

    def _show(self) -> None:
        names = [*self.over, *SHOWN]
        self.table.show(
            [name.replace("_", " ") for name in names], [[one[name] for name in names] for one in self.rows]
        )
        self._draw()

    def _enable(self, *, over: bool = False) -> None:
        going = not over and self._thread is not None and self._thread.is_alive()
        self._run.disabled, self._stop.disabled = going, not going
        for control in (*self._exports, self.save_bar.press):
            control.disabled = self.result is None

    def _draw(self) -> None:
        # Asked for by the sweep's thread and by the page, and Matplotlib serves one at a time.
        with self._drawing:
            try:
                figure = self._heatmap()
            except InputError as reason:
                self.note.value, self.picture.layout.display = str(reason), "none"
                return
            png = io.BytesIO()
            figure.savefig(png, format="png", dpi=DPI)
        others = [name for name, values in self.over.items() if len(values) > 1]
        others = [name for name in others if name not in (self.down.value, self.across.value)]
        best = f" Each cell is the smallest over {' and '.join(others)}." if others else ""
        self.note.value = f"Hatched: not run yet, or not converged.{best}"
        self.picture.value, self.picture.layout.display = png.getvalue(), ""

    def _heatmap(self) -> Any:
        down, across = str(self.down.value), str(self.across.value)
        values = grid(self.rows, self.over, down, across, str(self.value.value))
        # One choice alone makes one row.
        texts = [[str(value) for value in self.over[name]] for name in (down, across)]
        one = down == across
        return heatmap(
            values,
            [""] if one else texts[0],
            texts[1],
            row_title="" if one else down,
            column_title=across,
            label=next(text for text, name in VALUES.items() if name == self.value.value),
        )

    def _export(self, kind: str) -> None:
        try:
            self.saved.say(f"written to {self.export(kind)}", "good")
        except InputError as error:
            self.saved.say(str(error), "bad")


def grid(rows: Sequence[Row], over: Mapping[str, Sequence[Any]], down: str, across: str, value: str) -> np.ndarray:
    """The smallest value of the converged runs for each pair of choices, NaN where there is none.

    Shape (values of `down`, values of `across`), or one row where both are the same. value: a field of the rows, or
    `seconds` for setup and iterations together.
    """
    found = np.full((1 if down == across else len(over[down]), len(over[across])), math.nan)
    for row, (place, at) in itertools.product(rows, np.ndindex(*found.shape)):
        here = row[across] == over[across][at] and (down == across or row[down] == over[down][place])
        if here and row["converged"]:
            spent = row["setup_seconds"] + row["iteration_seconds"] if value == "seconds" else row[value]
            found[place, at] = np.fmin(found[place, at], spent)
    return found
