"""Lessons of a teacher: the notebooks of a folder, and mistakes in them that are seen without running them."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import InputError, printable_path, quoted
from workbench.files import read_bytes
from workbench.files.data_files import path_of

LARGEST = 32 << 20
"""Bytes of a notebook."""
MOST = 50
"""Notebooks of a folder."""
LONGEST = 120
"""Characters of a title and of a question on the start page."""


MAYBE_IPYTHON = re.compile(r"^\s*[%!?]|=\s*[%!]|\?\s*$", re.MULTILINE)
"""Magics, commands of the system, and questions for help."""


@dataclass(frozen=True)
class OwnLesson:
    """A notebook of a teacher. name: as in its address; title: its first heading; question: its first words in bold.

    code_cells: the numbers of its cells with code, counted from 1 with those of text. mistake: the first one, in a
    sentence with file and cell; empty for none that is seen without running it.
    """

    name: str
    path: Path
    title: str
    question: str
    code_cells: tuple[int, ...]
    mistake: str = ""


def own_lessons(folder: str | Path) -> list[OwnLesson]:
    """The notebooks of a folder, by file name. Raises InputError where there is no such folder, or none in it."""
    root = path_of(folder)
    if not root.is_dir():
        raise InputError(f"there is no folder {printable_path(root)}; name one with notebooks, as in --lessons FOLDER")
    paths = sorted(path for path in root.glob("*.ipynb") if not path.name.startswith("."))
    if not paths:
        raise InputError(f"there is no notebook (.ipynb) in {printable_path(root)}; save one there")
    if len(paths) > MOST:
        raise InputError(f"{printable_path(root)} has {len(paths)} notebooks, and {MOST} are served at most")
    found: dict[str, OwnLesson] = {}
    for path in paths:
        lesson = own_lesson(path)
        if lesson.name in found:
            raise InputError(f"{found[lesson.name].path.name} and {path.name} have one address; rename one")
        found[lesson.name] = lesson
    return list(found.values())


def own_lesson(path: Path) -> OwnLesson:
    """A notebook as a lesson, with its mistake."""
    name = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "lesson"
    file = printable_path(Path(path.name))
    try:
        cells = sources(path)
    except InputError as error:
        return OwnLesson(name, path, path.stem, "", (), str(error))
    text = "\n".join(source for kind, source in cells if kind == "markdown")
    heading = re.search(r"^# +(.+)$", text, re.MULTILINE)
    bold = re.search(r"\*\*(.+?)\*\*", text)
    code = [number for number, (kind, _) in enumerate(cells, 1) if kind == "code"]
    mistakes = (f"{file}, cell {number}: {said}" for number in code for said in _mistakes(cells[number - 1][1]))
    mistake = next(mistakes, "")
    if not heading:
        mistake = mistake or f"{file} has no heading; begin a cell of text with a line such as # My lesson"
    title = heading[1] if heading else path.stem
    question = bold[1][:LONGEST] if bold else ""
    return OwnLesson(name, path, title.strip()[:LONGEST], question, tuple(code), mistake)


def sources(path: Path) -> list[tuple[str, str]]:
    """Kinds and sources of the cells. Raises InputError, with the name of the file, for what is no notebook."""
    file = printable_path(Path(path.name))
    try:
        notebook = json.loads(read_bytes(path, LARGEST, "notebook"))
        if notebook["nbformat"] != 4:
            raise InputError(f"{file} has the format {quoted(notebook['nbformat'])}; save it again with JupyterLab")
        return [(str(cell["cell_type"]), "".join(cell["source"])) for cell in notebook["cells"]]
    except InputError:
        raise
    except (ValueError, LookupError, TypeError, RecursionError):
        raise InputError(f"{file} is no notebook of Jupyter; save it again with JupyterLab") from None


def _mistakes(source: str) -> Iterator[str]:
    """The sentence of a syntax error; none for code that may be IPython's, which the trial of the notebook reads."""
    try:
        ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if MAYBE_IPYTHON.search(source):
            return
        if isinstance(error, SyntaxError) and error.lineno is not None:
            yield f"line {error.lineno} is no Python ({error.msg})"
        else:
            yield f"the code is no Python ({error})"
