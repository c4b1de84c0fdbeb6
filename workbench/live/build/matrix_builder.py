"""The matrix builder: a matrix uploaded, named or pointed at, and looked at before it is solved with."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.data_files import path_of
from workbench.errors import InputError, error_message
from workbench.live.build.formula_line import NARROW, hint
from workbench.live.build.matrix_facts import Facts, facts, size_in_words
from workbench.live.build.row_lengths_scene import row_lengths_scene
from workbench.live.build.uploads import MOST_UPLOAD, store, without_folder
from workbench.live.field.field_view import FieldView
from workbench.live.field.preview import MOST_BYTES
from workbench.live.kit.block_fields import WIDE
from workbench.live.kit.controls import button
from workbench.live.kit.status import StatusLine
from workbench.live.plots.chart import ChartView
from workbench.live.transport.closing import close_all
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.problems import Problem
from workbench.problems.catalogue import catalogue, group_and_name, known_entry
from workbench.problems.files import MatrixFile
from workbench.problems.matrix_market import ENDINGS
from workbench.problems.suitesparse import SuiteSparse, cached

SOURCES = ("upload", "by name", "by path")
START = "Upload a matrix, name one, or give a path."
HEIGHT = 300


class MatrixBuilder:
    """A matrix from a file of the reader's, from the SuiteSparse collection, or from a path. Display it.

    problem: what it shows at first, see `load`. publisher: of a dashboard whose thread it shares. Before the button is
    pressed nothing is downloaded, and no file of more than 32 MiB is read.
    """

    def __init__(self, problem: Problem | None = None, publisher: Publisher | None = None) -> None:
        self._callbacks: list[Callable[[Problem], None]] = []
        self._problem: Problem | None = None
        self._quiet = False
        self._worker = LatestOnly("workbench-matrix")
        self.facts: Facts | None = None
        self.source = widgets.ToggleButtons(options=SOURCES, tooltips=_TIPS, style={"button_width": "92px"})
        self.upload = widgets.FileUpload(
            accept=",".join((".mtx", ".gz")), description="Choose a file", icon="", tooltip=_TIPS[0],
            layout={"width": "160px"},
        )  # fmt: skip
        self.name = widgets.Combobox(
            options=list(catalogue()), placeholder="bcsstk15, or group/name", ensure_option=False, **_named("name")
        )
        self.path = widgets.Text(placeholder="some/where.mtx.gz", **_named("path"))
        self.read = button("Read", "read the matrix and show it", self.show_matrix, style="primary", width="160px")
        self.hint = hint().add_class("wb-flat")
        self.status = StatusLine()
        self.table = widgets.HTML()
        self.pattern = FieldView(publisher, height=HEIGHT, choices=False)
        self.histogram = ChartView(publisher, height=HEIGHT)
        self.histogram.layout.display = "none"
        self.read.disabled = True
        self.source.observe(lambda _change: self._turn(), "value")
        self.upload.observe(lambda _change: self._uploaded(), "value")
        self.name.observe(lambda _change: self._chosen(), "value")
        self.path.observe(lambda _change: self._chosen(), "value")
        self.box = self._layout()
        self._turn()
        if problem is not None:
            self.load(problem)

    @property
    def problem(self) -> Problem:
        """The matrix chosen. Raises InputError where there is none."""
        if self._problem is None:
            raise InputError("no matrix has been chosen yet; upload one, name one, or give a path")
        return self._problem

    def on_change(self, callback: Callable[[Problem], None]) -> None:
        """Call with every matrix that is chosen, whether it has been read or not; from any thread."""
        self._callbacks.append(callback)

    def load(self, problem: Problem) -> None:
        """Show a matrix file or a matrix of the collection. Raises InputError for any other problem."""
        if not isinstance(problem, (MatrixFile, SuiteSparse)):
            raise InputError(f"the matrix builder shows matrix-file and suitesparse, got {problem.name}")
        self._quiet = True
        if isinstance(problem, SuiteSparse):
            self.source.value, self.name.value = "by name", problem.matrix
        else:
            self.source.value, self.path.value = "by path", problem.path
        self._quiet = False
        self._turn()
        self._choose(problem)

    def show_matrix(self) -> None:
        """Read the matrix chosen, downloading it where it is not there, and show it; returns at once."""
        problem = self._problem
        if problem is not None:
            self._worker.ask(lambda: self._look(problem))

    def wait(self, timeout: float = 60.0) -> bool:
        """Wait until what was asked for is shown; False when that takes longer."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Take it off the page."""
        self._worker.close()
        close_all(self.box)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _layout(self) -> widgets.Box:
        fields = [self.source, self.upload, self.name, self.path, self.hint, self.read, self.table]
        form = widgets.VBox(fields).add_class("wb-form")
        canvases = widgets.HBox([self.pattern, self.histogram]).add_class("wb-pictures").add_class("wb-matrix")
        views = widgets.VBox([self.status, canvases]).add_class("wb-views")
        body = widgets.HBox([form, views]).add_class("wb-body")
        return widgets.VBox([body]).add_class("wb-explorer").add_class("wb-build")

    def _turn(self) -> None:
        """Show the field of the source chosen, and take what stands there."""
        for source, control in zip(SOURCES, (self.upload, self.name, self.path), strict=True):
            control.layout.display = None if source == self.source.value else "none"
        self.read.layout.display = "none" if self.source.value == "upload" else None
        if self.source.value == "upload":
            self.hint.value = f"{', '.join(ENDINGS)} of at most {MOST_UPLOAD >> 20} MiB; for larger ones give a path."
            self._uploaded()
        else:
            self._chosen()

    def _uploaded(self) -> None:
        """A file has come; storing it takes a moment, so it is done by the worker."""
        files = self.upload.value
        if files:
            self._worker.ask(lambda: self._take(str(files[0]["name"]), bytes(files[0]["content"])))
        else:
            self._forget(START)

    def _take(self, name: str, content: bytes) -> None:
        try:
            problem = MatrixFile(path=str(store(name, content)))
        except InputError as error:
            self._forget(str(error), "bad")
            return
        self._set(problem)
        self._look(problem)

    def _chosen(self) -> None:
        """A name or a path has been given."""
        if self._quiet:
            return
        text = str(self.name.value if self.source.value == "by name" else self.path.value).strip()
        if not text:
            self.hint.value = "A name of the collection; type to search." if self.source.value == "by name" else ""
            self._forget(START)
            return
        try:
            if self.source.value == "by name":
                self._choose(SuiteSparse(matrix=text))
            else:
                path = path_of(text)
                if not path.is_file():
                    raise InputError(f"no file at {path}; check the path, which is that of the kernel's machine")
                self._choose(MatrixFile(path=str(path)))
        except InputError as error:
            self.hint.value = ""
            self._forget(str(error), "bad")

    def _choose(self, problem: MatrixFile | SuiteSparse) -> None:
        """Take a matrix, and read it at once where that costs little."""
        waits, button_text, about = _cost(problem)
        self.read.description, self.hint.value = button_text, escape(about)
        self._set(problem)
        if waits:
            self._clear(problem.label)
            self.status.say(f"{problem.label} is chosen, and not read yet; press {button_text} to see it.")
        else:
            self.show_matrix()

    def _set(self, problem: Problem) -> None:
        self.read.disabled = False
        changed, self._problem = problem != self._problem, problem
        if changed:
            for callback in self._callbacks:
                callback(problem)

    def _forget(self, why: str, tone: str = "plain") -> None:
        """There is no matrix now, nor must an earlier one be taken for what was asked for."""
        self._problem = None
        self.read.disabled = True
        self._clear("")
        self.status.say(why, tone)

    def _clear(self, title: str) -> None:
        """Show nothing of a matrix."""
        self.facts = None
        self.table.value = ""
        self.histogram.layout.display = "none"
        self.pattern.say(title, "")

    def _look(self, problem: Problem) -> None:
        self.status.say(f"{problem.label}: reading", "busy")
        self.read.disabled = True
        try:
            found = facts(problem)
        # No one else would report it to the user.
        except Exception as error:
            if problem == self._problem:
                self._clear(problem.label)
                self.status.say(without_folder(error_message(error, "reading the matrix")), "bad")
            return
        finally:
            self.read.disabled = self._problem is None
        # Something else may have been chosen meanwhile.
        if problem != self._problem:
            return
        self.facts = found
        self.table.value = _table(found.rows)
        self.pattern.show(found.scene)
        self.histogram.show(row_lengths_scene(found.lengths))
        self.histogram.layout.display = None
        size, entries = found.rows["unknowns N"], found.rows["entries (nnz)"]
        self.status.say(f"{problem.label}: {size} unknowns, {entries} entries", "good")


_TIPS = ("from this computer", "of the SuiteSparse collection", "a file where the kernel runs")


def _named(name: str) -> dict[str, Any]:
    return {"description": name, "continuous_update": False, "style": dict(NARROW), "layout": dict(WIDE)}


def _cost(problem: MatrixFile | SuiteSparse) -> tuple[bool, str, str]:
    """Whether reading waits for the button, what is written on that, and a word about the matrix."""
    if isinstance(problem, SuiteSparse):
        group, name = group_and_name(problem.matrix)
        entry = known_entry(problem.matrix)
        about = f"{group}/{name}" + (f": {entry.N:,} unknowns, {entry.nnz:,} entries" if entry else "")
        path = cached(group, name)
        if path is None:
            return True, "Download and read", f"{about}; not on this machine yet"
    else:
        path = Path(problem.path)
        about = path.name
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    said = f"{about}, {size_in_words(size)}"
    return (
        size > MOST_BYTES,
        "Read",
        f"{said}; large, so it is read when you press Read" if size > MOST_BYTES else said,
    )


def _table(rows: dict[str, str]) -> str:
    lines = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows.items()
    )
    return f"<table class='wb-table wb-facts'>{lines}</table>"
