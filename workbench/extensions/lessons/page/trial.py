"""A teacher's notebook, run once before a class: `python -m` its name, and the file. Prints one sentence.

The exit status is 0 where every cell ran; the sentence then says how many exercises there are, else file and cell of
the first mistake.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from IPython.core.interactiveshell import InteractiveShell

from workbench.extensions.lessons.folder import own_lesson, sources
from workbench.extensions.lessons.page.own import NOTEBOOK, mistake

SECONDS = 120
"""Seconds after which the program ends, whatever a cell does."""


def trial(path: Path) -> tuple[bool, str]:
    """Run all cells of a notebook in its folder; True if all of them ran, and the sentence."""
    lesson = own_lesson(path)
    if lesson.mistake:
        return False, lesson.mistake
    cells = sources(path)
    os.chdir(path.parent)
    shell = InteractiveShell.instance()
    for number in lesson.code_cells:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            result = shell.run_cell(cells[number - 1][1])
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            return False, mistake(path.name, number, error)
    count = len(NOTEBOOK.numbers)
    return True, f"{path.name}: {count} {'exercise' if count == 1 else 'exercises'}"


def main() -> NoReturn:
    """Try the notebook of the command line."""
    if sys.platform != "win32":
        signal.alarm(SECONDS)
    right, sentence = trial(Path(sys.argv[1]).resolve())
    print(sentence, flush=True)
    # Threads of views are still at work.
    os._exit(0 if right else 1)


if __name__ == "__main__":
    main()
