"""The page of a teacher's own notebook: exercises that a cell declares, and mistakes said in one sentence."""

from __future__ import annotations

import contextlib
import html
import io
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import HTML, display

from workbench.errors import InputError, one_line
from workbench.extensions.lessons.folder import own_lesson, sources
from workbench.extensions.lessons.own import Right, check_text, declared
from workbench.extensions.lessons.page.exercise import ExerciseView
from workbench.extensions.lessons.page.in_class import follow_class
from workbench.live.transport.cells import cell_of
from workbench.live.ui.frontend import in_voila
from workbench.words.numbers import counted

SECONDS = 120
"""Seconds after which the trial of a notebook ends, whatever a cell does."""


class Notebook:
    """The notebook of this kernel. lesson: its name on a server, empty elsewhere. cell: the number of the one that
    runs, where a server or its trial counts them. numbers: of the exercises, by cell and question, so that a cell that
    runs again keeps its own."""

    def __init__(self) -> None:
        self.lesson, self.cell = "", 0
        self.numbers: dict[tuple[str, str], int] = {}

    def number(self, question: str) -> int:
        """The number of an exercise of the cell that runs."""
        cell = str(self.cell) if self.cell else cell_of(get_ipython())
        return self.numbers.setdefault((cell, question), len(self.numbers) + 1)


NOTEBOOK = Notebook()


def ask(
    question: str,
    right: Right,
    *,
    choices: Iterable[str] = (),
    tolerance: float | None = None,
    unit: str = "",
    several: bool = False,
    hint: str = "",
    solution: str = "",
) -> ExerciseView:
    """An exercise, declared in a cell whose last line this is. Exercises are numbered in the order of the cells.

    right: a number, one of `choices`, a set of numbers, or a function of the answer that returns True, False, or a text
    that says why the answer is wrong. tolerance: the difference up to which a number is right, in its unit. several:
    the function takes a list of numbers. hint: what the first wrong answer gets. solution: in Markdown, shown when the
    teacher of a class opens it; without a class after the right answer, or the third wrong one.

    Raises InputError for what does not fit together.

    Examples:
        >>> from workbench.live import ask
        >>> exercise = ask("How many steps does CG take for two unknowns?", 2, hint="Count the eigenvalues.")
        >>> exercise.close()
    """
    exercise = declared(question, right, choices=choices, tolerance=tolerance, unit=unit, several=several, hint=hint)
    check_text("solution", solution)
    number = NOTEBOOK.number(question)
    name = f"{NOTEBOOK.lesson}:{number}"
    view = ExerciseView(exercise, number, None, name if NOTEBOOK.lesson and in_voila() else "", name)
    follow_class(view, lambda: solution)
    return view


def begin(lesson: str, folder: str, file: str, code_cells: Sequence[int]) -> None:
    """Begin a notebook that a server shows: its folder is the working folder, and a mistake is one sentence with file
    and cell. code_cells: the numbers of the cells with code, which follow."""
    NOTEBOOK.lesson = lesson
    os.chdir(folder)
    shell = get_ipython()
    if shell is not None:
        say_mistakes(shell, file, iter(code_cells))


def say_mistakes(shell: InteractiveShell, file: str, code_cells: Iterator[int]) -> None:
    """Let the shell show an error as one sentence. code_cells: as they will run."""

    def count(_info: object) -> None:
        NOTEBOOK.cell = next(code_cells, NOTEBOOK.cell)

    def say(_shell: object, _kind: object, error: BaseException, _traceback: object, tb_offset: object = None) -> None:
        display(HTML(f'<p class="wb-mistake">{html.escape(mistake(file, NOTEBOOK.cell, error))}</p>'))

    shell.events.register("pre_run_cell", count)
    shell.set_custom_exc((Exception,), say)


def mistake(file: str, cell: int, error: BaseException) -> str:
    """The sentence of an error in a cell."""
    said = str(error) if isinstance(error, InputError) else one_line(f"{type(error).__name__}: {error}")
    return f"{file}, cell {cell}: {said}"


def trial(path: Path) -> tuple[bool, str]:
    """Run all cells of a notebook in its folder; True if all of them ran, and a sentence: how many exercises
    there are, or file and cell of the first mistake."""
    lesson = own_lesson(path)
    if lesson.mistake:
        return False, lesson.mistake
    cells = sources(path)
    os.chdir(path.parent)
    shell = InteractiveShell.instance()
    for number in lesson.code_cells:
        NOTEBOOK.cell = number
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            result = shell.run_cell(cells[number - 1][1])
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            return False, mistake(path.name, number, error)
    count = len(NOTEBOOK.numbers)
    return True, f"{path.name}: {counted(count, 'exercise')}"


def main() -> NoReturn:
    """Try the notebook of the command line, in a process of its own. The exit status is 0 where every cell ran."""
    if sys.platform != "win32":
        signal.alarm(SECONDS)
    # What cells print, or programs that they start, is no sentence.
    said = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    right, sentence = trial(Path(sys.argv[1]).resolve())
    print(sentence, file=said, flush=True)
    # Threads of views are still at work.
    os._exit(0 if right else 1)
