"""The matrix builder: a file, a sample, a name or a path, and the matrix shown before it is solved with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import ipywidgets as widgets

from workbench.deflation.grown import GrownParts
from workbench.errors import InputError, error_message
from workbench.files.data_files import path_of
from workbench.live.builders.matrix_facts import Facts, MatrixSamples, facts, facts_table
from workbench.live.builders.matrix_form import (
    HINTS,
    NAME,
    PATH,
    SAMPLE,
    UPLOAD,
    MatrixForm,
    UploadField,
    check_upload,
    cost_of,
    store,
)
from workbench.live.builders.matrix_levels import DefaultLevels
from workbench.live.builders.matrix_parts import MatrixParts
from workbench.live.field.field_view import FieldView
from workbench.live.plots.chart import ChartView
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, row
from workbench.live.ui.listeners import Listeners
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.live.ui.words import shown
from workbench.plots.scenes.row_lengths import row_lengths_scene
from workbench.problems import Problem
from workbench.problems.files import MatrixFile
from workbench.problems.right_hand_sides import NOTHING_LEFT
from workbench.problems.stand_in import StandIn
from workbench.problems.suitesparse import SuiteSparse
from workbench.run import Configuration
from workbench.run.choices.compatibility import unmet
from workbench.run.choices.conflicts import Conflict, changed, changes_of, conflicts, reasons_of
from workbench.settings import RUN
from workbench.words.names import sentence_case, with_names

NOTHING = "no matrix has been chosen yet; drop a file, or choose a sample"
HEIGHT = 300
Shown = MatrixFile | SuiteSparse | StandIn


class MatrixBuilder(View):
    """A matrix from a file of the user's, a sample, the SuiteSparse collection, or a path. Display it.

    problem: at first, see `load`. publisher: of a dashboard whose thread it shares. configuration: returns that of the
    page; its conflicts with the matrix are shown, and a button calls `use` with a method that fits. Before "Load" is
    pressed nothing is downloaded, and no file of more than 32 MiB is read. Once a matrix is read, `use` is called with
    the levels of a run that names none, see `DefaultLevels`.

    Examples:
        >>> from workbench.live import MatrixBuilder
        >>> MatrixBuilder().close()
    """

    def __init__(
        self,
        problem: Problem | None = None,
        publisher: Publisher | None = None,
        configuration: Callable[[], Configuration] | None = None,
        use: Callable[[Configuration], object] | None = None,
    ) -> None:
        self._configuration, self._use = configuration, use
        self._listeners = Listeners("the matrix builder")
        self._problem: Problem | None = None
        self._refused = ""
        """Why the matrix chosen cannot be read or solved with; it can be loaded again."""
        self._worker = LatestOnly("workbench-matrix")
        self._choices = 0
        """Number of choices so far: a stored upload is taken only if nothing else was chosen meanwhile."""
        self.facts: Facts | None = None
        self._levels = DefaultLevels(configuration, use)
        self.form = MatrixForm(self._take, self.show_matrix)
        self.status = StatusLine()
        self.correct = button(
            "", "choose these in Solve, which then runs on this matrix", self._correct, style="primary"
        )
        self.table = widgets.HTML()
        self.pattern = FieldView(publisher, height=HEIGHT, choices=False)
        self.histogram = ChartView(publisher, height=HEIGHT)
        self.parts = MatrixParts(publisher, self._use_parts if use is not None else None)
        self.samples = MatrixSamples(self._sample, publisher)
        self.box = self._layout()
        self._forget()
        if problem is not None:
            self.load(problem)

    @property
    def problem(self) -> Problem:
        """The matrix chosen. Raises InputError where there is none, or one that has been refused."""
        if self._refused:
            raise InputError(self._refused)
        if self._problem is None:
            raise InputError(NOTHING)
        return self._problem

    def on_change(self, callback: Callable[[Problem | None], None]) -> None:
        """Call with each matrix that is chosen, read or not, when it is refused or accepted again, and with None once
        there is none; from any thread."""
        self._listeners.add(callback)

    @property
    def wrong(self) -> str:
        """Why what was chosen is no matrix, as its field says; empty where it is one, and where nothing was chosen."""
        return self.form.complaints.get(self.form.source, "")

    @property
    def unfit(self) -> str:
        """Why the method chosen does not fit the matrix, and which one does; empty where it fits."""
        return self.form.conflict

    @property
    def obstacle(self) -> str:
        """Why the matrix cannot be solved with; empty where it can."""
        return self.wrong or self._refused or self.unfit or ("" if self._problem else NOTHING)

    def weigh(self) -> None:
        """Check the method chosen, here or elsewhere, against the matrix, and show the conflicts."""
        before, found, solved = self.form.conflicts, self.facts, self._solved()
        self.form.conflicts = tuple(_unfit(solved, found)) if found and solved else ()
        self.correct.description, self.correct.tooltip = self.form.correction, self.unfit
        self.correct.layout.display = None if self.form.correction else "none"
        if found:
            said = (
                f"{sentence_case(with_names(reasons_of(self.form.conflicts[:1])))}."
                if self.unfit
                else f"{found.scene.title} is read.{self._levels.words(solved)}"
            )
            self.status.say(said, "busy" if self.form.correction else "bad" if self.unfit else "good")
        if found and before != self.form.conflicts:
            self._listeners.notify(self._problem)

    def hide(self, hidden: bool) -> None:
        """Check the method again once this page is in front."""
        if not hidden:
            self.weigh()

    def load(self, problem: Problem) -> None:
        """Show a matrix file, a sample or a matrix of the collection. Raises InputError for any other problem."""
        if not isinstance(problem, (MatrixFile, SuiteSparse, StandIn)):
            raise InputError(f"the matrix builder shows matrix-file, suitesparse and stand-in, got {problem.name}")
        self._choices += 1
        if isinstance(problem, SuiteSparse):
            self.form.turn(NAME, problem.matrix)
        elif isinstance(problem, StandIn):
            self.form.turn(SAMPLE, problem.of)
        else:
            self.form.turn(PATH, problem.path)
        self._choose(problem)

    def show_matrix(self) -> None:
        """Read the matrix chosen, downloading it where it is not there, and show it; returns at once."""
        problem = self._problem
        if problem is not None:
            self._worker.ask(lambda: self._look(problem))

    def wait(self, timeout: float = 60.0) -> bool:
        """Wait until the matrix asked for is shown; False when that takes longer."""
        return self._worker.wait(timeout) and self.parts.wait(timeout)

    def close(self) -> None:
        """Take it off the page."""
        self._worker.close()
        self.samples.close()
        self.parts.close()
        super().close()

    def _layout(self) -> widgets.Box:
        form = widgets.VBox([self.form.box, self.table, self.parts.form.box]).add_class("wb-formside")
        self._canvases = widgets.HBox([self.pattern, self.histogram]).add_class("wb-pictures").add_class("wb-matrix")
        said = row("wb-buttons", self.status, self.correct)
        views = widgets.VBox([said, self.samples.box, self._canvases, self.parts.box]).add_class("wb-views")
        self._body = widgets.HBox([form, views]).add_class("wb-body")
        return widgets.VBox([self._body]).add_class("wb-explorer").add_class("wb-build")

    def _take(self, name: str) -> None:
        """Take the matrix of the chosen source after a change of a field."""
        self._choices += 1
        if name == "source":
            self.form.turn()
        if self.form.source == UPLOAD:
            field = self.form.settings[UPLOAD]
            assert isinstance(field, UploadField)
            if field.value:
                # Storing takes a moment, so it is done by the worker.
                taken = self._choices, field.value, field.size, field.content
                self._worker.ask(lambda: self._store(*taken))
            else:
                self._forget()
        elif self.form.source == SAMPLE:
            self._choose(StandIn(of=self.form.text))
        else:
            self._chosen()

    def _sample(self, of: str) -> None:
        """Take a sample that was chosen by its picture."""
        self.load(StandIn(of=of))

    def _store(self, choice: int, name: str, size: int, content: bytes) -> None:
        try:
            check_upload(name, size)
            problem = MatrixFile(path=str(store(name, content)))
        except InputError as error:
            if choice == self._choices:
                self._forget(str(error))
            return
        if choice != self._choices:
            return
        self.form.say(HINTS[UPLOAD])
        self._set(problem)
        self._look(problem)

    def _chosen(self) -> None:
        """Take the matrix of a name or of a path."""
        text = self.form.text
        if not text:
            self._forget()
            return
        try:
            if self.form.source == NAME:
                self._choose(SuiteSparse(matrix=text))
            else:
                path = path_of(text)
                if not path.is_file():
                    raise InputError(f"no file at {path}; check the path, which is that of the kernel's machine")
                self._choose(MatrixFile(path=str(path)))
        except InputError as error:
            self._forget(str(error).removeprefix("suitesparse: "))

    def _choose(self, problem: Shown) -> None:
        """Take a matrix, and read it at once where that costs little."""
        waits, button_text, about = cost_of(problem)
        self.form.say(about)
        self.form.offer(chosen=True, words=button_text)
        self._set(problem)
        if waits:
            self._clear(problem.label)
            self.status.say(f"{problem.label} is not loaded yet; press {button_text} to see it.")
        else:
            self.show_matrix()

    def _set(self, problem: Problem) -> None:
        changed, self._problem, self._refused = problem != self._problem, problem, ""
        if changed:
            self._listeners.notify(problem)

    def _forget(self, wrong: str = "") -> None:
        """Show no matrix, so that an earlier one is not mistaken for the one asked for. wrong: why there is none, which
        is said at the field."""
        had, self._problem, self._refused = self._problem, None, ""
        self.form.say(HINTS[self.form.source], wrong)
        self.form.offer(chosen=False)
        self._clear("")
        if had is not None or wrong:
            self._listeners.notify(None)

    def _clear(self, title: str) -> None:
        """Show nothing of a matrix, and the samples where none is chosen."""
        self.facts = None
        self.weigh()
        self.status.say("")
        self.table.value = ""
        self.histogram.layout.display = "none"
        self.pattern.say(title, "")
        self.parts.show(None)
        self._offer_samples()

    def _offer_samples(self) -> None:
        """Show the samples until there is a matrix."""
        without = self._problem is None
        self.samples.show(without)
        self._canvases.layout.display = "none" if without else None
        # On a narrow page the field for a file comes first until there is a matrix.
        (self._body.add_class if without else self._body.remove_class)("wb-formfirst")

    def _look(self, problem: Problem) -> None:
        # Something else may have been chosen before its turn came.
        if problem != self._problem:
            return
        self.status.say(f"{problem.label}: loading", "busy")
        self.form.offer(chosen=False)
        try:
            found = facts(problem, lambda operator: self._levels.of(operator, self._solved()))
        # No one else would report it to the user.
        except Exception as error:
            if problem == self._problem:
                self._clear(problem.label)
                said = shown(error_message(error, "reading the matrix"))
                self._refused = said
                self.form.say(self.form.about[self.form.source], said)
                self._listeners.notify(problem)
            return
        finally:
            self.form.offer(chosen=self._problem is not None)
        # Something else may have been chosen meanwhile.
        if problem != self._problem:
            return
        was_refused, self._refused = self._refused, ""
        if was_refused:
            self._listeners.notify(problem)
        self.facts = found
        self.table.value = facts_table(found.rows)
        self._offer_samples()
        self.pattern.show(found.scene)
        self.histogram.show(row_lengths_scene(found.lengths))
        self.histogram.layout.display = None
        self.parts.show(found.matrix, found.places, found.note)
        self._levels.start(self._solved(), found.levels)
        self.weigh()

    def _solved(self) -> Configuration | None:
        """The configuration of the page with the matrix as its problem; None without one, or for a wrong value."""
        if self._configuration is None or self._problem is None:
            return None
        try:
            solved = dataclasses.replace(self._configuration(), problem=self._problem)
        except InputError:
            return None
        # The form of Solve does this too.
        return dataclasses.replace(solved, deflation="none") if unmet(solved.problem, solved.deflation) else solved

    def _use_parts(self, deflation: GrownParts) -> None:
        """Hand on the matrix, with deflation by these parts."""
        if (solved := self._solved()) and self._use is not None:
            self._use(dataclasses.replace(solved, deflation=deflation))
            self.weigh()

    def _correct(self) -> None:
        """Hand on the matrix, with a method that fits it."""
        if (solved := self._solved()) and self._use is not None:
            self._use(changed(solved, changes_of(self.form.conflicts)))
            self.weigh()


def _unfit(solved: Configuration, found: Facts) -> list[Conflict]:
    """The rules that a configuration breaks with a matrix, among them b = 1 where A maps constants to zero."""
    against = conflicts(solved, lambda _solved: found.like)
    if found.flat and solved.rhs == RUN["rhs"].default:
        against.append(Conflict(NOTHING_LEFT.format("b = 1"), {"rhs": "random"}))
    return against
