"""An exercise of a lesson on the page: the question, a field for the answer, and the verdict."""

from __future__ import annotations

import html
import os
import time
from collections.abc import Callable

import ipywidgets as widgets
import traitlets

from workbench.errors import InputError, error_message, quoted
from workbench.extensions.lessons import Exercise, lesson
from workbench.extensions.lessons.check_turn import check_turn
from workbench.extensions.lessons.exercise import Choice, Number, Order, Text
from workbench.extensions.lessons.page.in_class import follow_class
from workbench.extensions.lessons.page.kept_answer import KeptAnswer
from workbench.extensions.lessons.page.line_order import LineOrder
from workbench.extensions.lessons.progress import Attempt, Progress
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, row
from workbench.live.ui.frontend import in_voila
from workbench.live.ui.server_connection import server_connection
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import WorkingView
from workbench.words.names import typeset
from workbench.words.numbers import queued, waited

COMPUTING = "computing …"
SUBMIT = {"event": "submit"}
"""The message of a field of one line in which Enter was pressed."""


class ExerciseView(WorkingView):
    """Display it. answer: fills the field and is checked at once. kept_as: the name under which a browser keeps what a
    reader answers, which comes back when the page is loaded again; empty for none. name: of the exercise in `progress`,
    such as "without-pain:1".

    The first wrong answer gets a hint, and each later one the numbers; a verdict goes when the answer changes.
    """

    def __init__(
        self, exercise: Exercise, number: int, answer: object = None, kept_as: str = "", name: str = ""
    ) -> None:
        self.exercise = exercise
        self.progress = Progress(name or kept_as or str(number))
        """The tries of this reader so far."""
        self.verdict = StatusLine()
        self.tries = widgets.Label().add_class("wb-tries")
        self._worker = LatestOnly("workbench-exercise")
        self._listeners: list[Callable[[Progress], object]] = []
        self.field = _field(exercise)
        title = f"<p><b>Exercise {number}.</b> {html.escape(exercise.question)}</p>{_on_paper(exercise)}"
        self.check_button = button("Check", "say whether the answer is right, and why not", self.check)
        line: list[widgets.Widget] = [self.field, self.check_button, self.tries]
        if isinstance(exercise.answer, Number) and exercise.answer.unit:
            line.insert(1, widgets.Label(exercise.answer.unit))
        self.kept = KeptAnswer(kept_as, self._restore) if kept_as else None
        below = [self.kept] if self.kept is not None else []
        self.box = widgets.VBox([widgets.HTML(title), row("wb-buttons", *line), self.verdict, *below])
        self.field.observe(lambda _change: self._changed(), "value")
        self.field.on_msg(lambda _widget, content, _buffers: self.check() if content == SUBMIT else None)
        self.box.add_class("wb").add_class("wb-exercise")
        if answer is not None:
            read = exercise.answer.read(answer)
            self.field.value = answer if isinstance(answer, str) else f"{read:.12g}"
            self.check()

    def check(self) -> None:
        """Judge the answer in the field; the verdict follows in a thread, since it is computed."""
        answer = self.field.value
        if answer is None or answer == "":
            self.verdict.say("Give an answer first.", "bad")
            return
        self.verdict.say(COMPUTING, "busy")
        self._worker.ask(lambda: self._judge(answer))

    def on_progress(self, listener: Callable[[Progress], object]) -> None:
        """Call this with `progress` after each change, from the thread that judges. It should return at once."""
        self._listeners = [*self._listeners, listener]

    def _changed(self) -> None:
        """Take the verdict off: it is on another answer."""
        self.verdict.say("")
        self._keep(checked=False)

    def _keep(self, *, checked: bool) -> None:
        if self.kept is not None:
            self.kept.keep(self.field.value, checked=checked, tries=self.progress.tries, solved=self.progress.solved)

    def _restore(self, answer: str, checked: bool, tries: int, solved: bool) -> None:
        """Show an answer that the browser kept, and judge it again, which is no further try. One that does not fit the
        field is left out."""
        before = self.progress
        # The field's change keeps the answer again, with these tries.
        self.progress = Progress(before.exercise, tries, solved, answer if checked else "")
        try:
            self.field.value = answer
        except traitlets.TraitError:
            self.progress = before
            return
        self._set(self.progress)
        if checked:
            self.check()

    def _judge(self, answer: str) -> None:
        try:
            with check_turn(lambda ahead: self._say_place(answer, ahead)) as turn:
                verdict = self.exercise.check(answer)
        except Exception as error:  # The status line is the only place that the reader sees.
            said, tone = error_message(error, "the check"), "bad"
        else:
            if self.field.value == answer:
                attempt = Attempt(self.progress.exercise, answer, verdict.right, time.time())
                self._set(self.progress.after(attempt))
                self._keep(checked=True)
                self.tries.value = ", ".join(filter(None, (self.progress.words, waited(turn.waited))))
            said = verdict.words(hint_first=self.progress.hint_first)
            tone = "good" if verdict.right else "bad"
        # The answer may have changed meanwhile.
        if self.field.value == answer:
            self.verdict.say(said, tone)

    def _say_place(self, answer: str, ahead: int) -> None:
        if self.field.value == answer:
            self.verdict.say(queued(ahead, "check") if ahead else COMPUTING, "busy")

    def _set(self, progress: Progress) -> None:
        self.progress = progress
        self.tries.value = progress.words
        for listener in self._listeners:
            listener(progress)


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
        if isinstance(number, bool) or number not in range(1, len(exercises) + 1):
            known = f"lesson {self.lesson.name} has exercises 1 to {len(exercises)}"
            instead = f"; write check({number}), without quotes" if isinstance(number, str) else ""
            raise InputError(f"{known}, and {quoted(number)} is none of them{instead}")
        name = f"{self.lesson.name}:{number}"
        view = ExerciseView(exercises[number - 1], number, answer, name if in_voila() else "", name)
        if answer is None:
            follow_class(view, lambda: self.lesson.solution(number))
        return view

    def next_steps(self) -> widgets.HTML:
        """Where the lesson leads: on a served page links that open the workbench there, in a new tab, since this page
        has answers and a kernel; in a notebook the calls that do."""
        # Relative, since a proxy may serve the pages below another address. A lesson lies below the workbench.
        base = "../../" if os.environ.get("SCRIPT_NAME", "").endswith("/") else "../"
        steps = [each.link(base) if in_voila() else each.call for each in self.lesson.next_steps]
        listed = "".join(f"<li>{each}</li>" for each in steps)
        return widgets.HTML(f"<ul>{listed}</ul>").add_class("wb").add_class("wb-nextsteps")


def _on_paper(exercise: Exercise) -> str:
    """The options of a choice, or the lines that are given, as HTML: a printed page shows them in place of the field,
    and a screen does not."""
    if isinstance(exercise.answer, Text) and "\n" in exercise.answer.start:
        lines = "\n".join(map(typeset, exercise.answer.start.split("\n")))
        return f'<pre class="wb-onpaper" hidden>{html.escape(lines)}</pre>'
    options = exercise.answer.options if isinstance(exercise.answer, Choice) else ()
    listed = "".join(f"<li>{html.escape(each)}</li>" for each in options)
    return f'<ul class="wb-onpaper" hidden>{listed}</ul>' if listed else ""


def _field(exercise: Exercise) -> widgets.Dropdown | widgets.Text | LineOrder | widgets.Textarea:
    kind = exercise.answer
    if isinstance(kind, Choice):
        return widgets.Dropdown(options=[("choose …", ""), *((each, each) for each in kind.options)])
    if isinstance(kind, Number):
        return widgets.Text(placeholder="a number", layout={"width": "120px"})
    if isinstance(kind, Order):
        return LineOrder(value=kind.start)
    if "\n" not in kind.start:
        example = isinstance(kind, Text) and kind.start
        shown = {"placeholder": f"such as {example}"} if example else {"value": kind.start}
        return widgets.Text(**shown, layout={"width": "100%"})
    return widgets.Textarea(kind.start, rows=kind.start.count("\n") + 2, layout={"width": "100%"})
