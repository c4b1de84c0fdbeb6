"""A teacher's notebook: the walk of docs/teaching.md, mistakes in one sentence, and an exercise in a class."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes

from tests.extensions.lessons import walkthrough
from tests.waiting import LIMIT
from workbench.extensions.lessons import LESSONS, lesson
from workbench.extensions.lessons.page import in_class, own
from workbench.live import Lesson, ask

TRY = "from workbench.extensions.lessons.page.own import main; main()"


def tried(path):
    """What the server prints of a notebook, and the exit status."""
    done = subprocess.run([sys.executable, "-c", TRY, str(path)], capture_output=True, text=True, timeout=LIMIT)
    return done.stdout.strip(), done.returncode


def test_the_walk_through_a_first_lesson_does_what_it_says(tmp_path, monkeypatch, opened):
    """The notebook runs in a process of its own, which imports the workbench: seconds."""
    assert tried(walkthrough.write(tmp_path)) == (walkthrough.SAID, 0)
    views = []
    space = {}
    exec(walkthrough.CODE[0].partition("\n\n")[0], space)
    space["ask"] = lambda *given, **more: views.append(opened(ask(*given, **more)))
    for block in walkthrough.CODE[1:]:
        exec(block, space)
    angle, cheap, values, entry = [view.exercise for view in views]
    for exercise, right, wrong in ((angle, "45.4", "40"), (cheap, "Jacobi", "Cholesky"), (values, "3; 1", "1 2")):
        assert exercise.check(right).right
        assert exercise.check(wrong).words(hint_first=True) == f"Not yet: {exercise.hint}"
    assert [entry.check(answer).right for answer in ("9", "0.1111111", "3")] == [True, True, False]
    assert str(entry.check("-1")) == "Not yet: the matrix is not positive definite."


@pytest.mark.slow
def test_a_mistake_in_a_cell_is_one_sentence_with_file_and_cell(tmp_path):
    cells = [new_markdown_cell("# A"), new_code_cell("x = 1\n!echo noise"), new_code_cell("ask('Why?', x)")]
    path = tmp_path / "a.ipynb"
    path.write_text(writes(new_notebook(cells=cells)), encoding="utf-8")
    assert tried(path) == ("a.ipynb, cell 3: NameError: name 'ask' is not defined", 1)


class Shell:
    """A shell of IPython that keeps what it is given, and calls it as that does."""

    def __init__(self):
        self.events = self
        self.count = self.say = None

    def register(self, _event, count):
        self.count = count

    def set_custom_exc(self, _kinds, say):
        self.say = say


def test_a_page_says_a_mistake_of_its_teacher_as_text(monkeypatch):
    shown, shell = [], Shell()
    monkeypatch.setattr(own, "display", lambda made: shown.append(made.data))
    monkeypatch.setattr(own, "NOTEBOOK", own.Notebook())
    own.say_mistakes(shell, "<a>.ipynb", iter([2, 5]))
    for _ in range(2):
        shell.count(None)
    shell.say(shell, ValueError, ValueError("<b>\nc"), None)
    assert shown == ['<p class="wb-mistake">&lt;a&gt;.ipynb, cell 5: ValueError: &lt;b&gt; c</p>']


def test_exercises_are_numbered_by_their_cells_and_questions(monkeypatch, opened):
    monkeypatch.setattr(own, "NOTEBOOK", own.Notebook())
    shell = Shell()
    own.say_mistakes(shell, "a.ipynb", iter([2, 5, 6]))
    views = []
    for question in ("How many?", "Why?", "How many?"):
        shell.count(None)
        views += [opened(ask(question, 1)) for _again in range(2)]
    assert [view.progress.exercise for view in views] == [":1", ":1", ":2", ":2", ":3", ":3"]


def test_exercises_in_jupyterlab_are_numbered_by_the_cells_that_it_names(monkeypatch, opened):
    monkeypatch.setattr(own, "NOTEBOOK", own.Notebook())
    views = []
    for cell in ("a", "b", "a"):
        shell = SimpleNamespace(get_parent=lambda cell=cell: {"metadata": {"cellId": cell}})
        monkeypatch.setattr(own, "get_ipython", lambda shell=shell: shell)
        views.append(opened(ask("How many?", 1)))
    assert [view.progress.exercise for view in views] == [":1", ":2", ":1"]


def answer(view, text):
    view.field.value = text
    view.check()
    assert view.wait(LIMIT)


def solution_of(view):
    """The solution on the page; empty while it is hidden. It is then in no state that the page gets either."""
    shown = view.box.children[-1]
    text = shown.outputs[0]["data"]["text/markdown"] if shown.outputs else ""
    return text if shown.layout.display != "none" else ""


def test_without_a_class_a_solution_comes_after_the_right_answer_or_three_wrong_ones(opened):
    right, wrong = (opened(ask(question, 2, solution="It is $2$.")) for question in ("a?", "b?"))
    assert [view.box.children[-1].outputs for view in (right, wrong)] == [(), ()]
    answer(right, "2")
    for text in "134":
        assert solution_of(wrong) == ""
        answer(wrong, text)
    assert solution_of(right) == solution_of(wrong) == "**Solution.** It is $2$."
    nothing = opened(ask("c?", 2))
    answer(nothing, "2")
    assert solution_of(nothing) == ""


class Room:
    """The connection to a server of a class."""

    def __init__(self, *solutions):
        self.facts = {"collects": True, "solutions": list(solutions)}
        self.acts, self.sent = {}, []

    def on(self, kind, act):
        self.acts[kind] = act

    def tell(self, kind, **facts):
        self.sent.append((kind, *facts.values()))


def test_in_a_class_the_teacher_sees_each_try_and_opens_the_solution(monkeypatch, opened):
    room = Room()
    monkeypatch.setattr(in_class, "server_connection", lambda: room)
    view = opened(Lesson("without-pain").check(2))
    for text in ("1", "-2.5"):
        answer(view, text)
    assert room.sent == [("attempt", "without-pain", 2, tries, tries == 2) for tries in range(3)]
    assert solution_of(view) == ""
    room.acts["solutions"]({"solutions": ["without-pain:1"]})
    assert solution_of(view) == ""
    room.acts["solutions"]({"solutions": ["without-pain:2"]})
    assert solution_of(view).startswith("**Solution.** `-2.5`")
    room.acts["solutions"]({"solutions": []})
    assert solution_of(view) == ""


def test_a_page_that_comes_later_shows_what_is_open(monkeypatch, opened):
    monkeypatch.setattr(in_class, "server_connection", lambda: Room("without-pain:1"))
    assert "`9`" in solution_of(opened(Lesson("without-pain").check(1)))


@pytest.mark.parametrize("name", LESSONS)
def test_every_exercise_of_ours_has_a_solution(name):
    taught = lesson(name)
    assert all(taught.solution(number) for number in range(1, len(taught.exercises) + 1))
    assert taught.solution(99) == ""
