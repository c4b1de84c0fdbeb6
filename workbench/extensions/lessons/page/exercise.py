"""An exercise of a lesson on the page: the question, a field for the answer, and the verdict."""

from __future__ import annotations

import contextlib
import html

import ipywidgets as widgets
import traitlets

from workbench.errors import InputError, error_message
from workbench.extensions.lessons import Exercise, lesson
from workbench.extensions.lessons.exercise import Choice, Number, Order
from workbench.extensions.lessons.page.kept_answer import KeptAnswer
from workbench.extensions.lessons.page.line_order import LineOrder
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, row
from workbench.live.ui.frontend import in_voila
from workbench.live.ui.server_connection import server_connection
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View


class ExerciseView(View):
    """Display it. answer: fills the field and is checked at once. kept_as: the name under which a browser keeps what a
    reader answers, which comes back when the page is loaded again; empty for none."""

    def __init__(self, exercise: Exercise, number: int, answer: object = None, kept_as: str = "") -> None:
        self.exercise = exercise
        self.verdict = StatusLine()
        self._worker = LatestOnly("workbench-exercise")
        self.field = _field(exercise)
        title = f"<p><b>Exercise {number}.</b> {html.escape(exercise.question)}</p>"
        self.check_button = button("Check", "say whether the answer is right, and why not", self.check)
        line: list[widgets.Widget] = [self.field, self.check_button]
        if isinstance(exercise.answer, Number) and exercise.answer.unit:
            line.insert(1, widgets.Label(exercise.answer.unit))
        self.kept = KeptAnswer(kept_as, self._restore) if kept_as else None
        below = [self.kept] if self.kept is not None else []
        self.box = widgets.VBox([widgets.HTML(title), row("wb-buttons", *line), self.verdict, *below])
        self.field.observe(lambda change: self._keep(checked=False), "value")
        self.box.add_class("wb").add_class("wb-exercise")
        if answer is not None:
            read = exercise.answer.read(answer)
            self.field.value = f"{read:g}" if isinstance(read, int | float) else read
            self.check()

    def check(self) -> None:
        """Judge the answer in the field; the verdict follows in a thread, since it is computed."""
        answer = self.field.value
        if answer is None or answer == "":
            self.verdict.say("Give an answer first.", "bad")
            return
        self._keep(checked=True)
        self.verdict.say("computing …", "busy")
        self._worker.ask(lambda: self._judge(answer))

    def close(self) -> None:
        """End the computation and take it off the page."""
        self._worker.close()
        super().close()

    def _keep(self, *, checked: bool) -> None:
        if self.kept is not None:
            self.kept.keep(self.field.value, checked=checked)

    def _restore(self, answer: str, checked: bool) -> None:
        """Show an answer that the browser kept, and judge it again. One that does not fit the field is left out."""
        with contextlib.suppress(traitlets.TraitError):
            self.field.value = answer
            if checked:
                self.check()

    def _judge(self, answer: object) -> None:
        try:
            verdict = self.exercise.check(answer)
        except Exception as error:  # The status line is the only place that the reader sees.
            self.verdict.say(error_message(error), "bad")
        else:
            self.verdict.say(str(verdict), "good" if verdict.right else "bad")


class Lesson:
    """The exercises of a lesson: `lesson = Lesson("without-pain")`, then `lesson.check(1)` shows the first.

    Raises InputError, which lists all, for an unknown lesson.

    Examples:
        >>> from workbench.live import Lesson
        >>> exercise = Lesson("without-pain").check(1, answer=9)
        >>> exercise.close()
    """

    def __init__(self, name: str) -> None:
        self.lesson = lesson(name)
        # Its runs take turns with those of the other pages of the server.
        server_connection()

    def check(self, number: int, answer: object = None) -> ExerciseView:
        """The exercise of this number, with an answer that is checked at once where one is given.

        Raises InputError for a number that the lesson does not have, or an answer of another kind.
        """
        exercises = self.lesson.exercises
        if number not in range(1, len(exercises) + 1):
            raise InputError(f"lesson {self.lesson.name} has the exercises 1 to {len(exercises)}, and not {number}")
        kept_as = f"{self.lesson.name}:{number}" if in_voila() else ""
        return ExerciseView(exercises[number - 1], number, answer, kept_as)


def _field(exercise: Exercise) -> widgets.Dropdown | widgets.Text | LineOrder | widgets.Textarea:
    kind = exercise.answer
    if isinstance(kind, Choice):
        return widgets.Dropdown(options=[("choose …", ""), *((each, each) for each in kind.options)])
    if isinstance(kind, Number):
        return widgets.Text(placeholder="a number", layout={"width": "120px"})
    if isinstance(kind, Order):
        return LineOrder(value=kind.start)
    return widgets.Textarea(kind.start, rows=max(4, kind.start.count("\n") + 2), layout={"width": "100%"})
