"""Solutions of the seven lessons, read from the sources of their notebooks when a page shows one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from workbench.extensions.lessons import Lesson
from workbench.files.data_files import notebooks_folder

CELL = re.compile(r"^# %%(.*)\n((?:(?!# %%).*\n?)*)", re.MULTILINE)
SOLUTION = 'tags=["solution"]'


def solution(lesson: Lesson, number: int) -> str:
    """The answer of an exercise and the reason for it, in Markdown; empty where the sources are not installed."""
    source = notebooks_folder() / "lessons" / "source" / f"{lesson.stem}.py"
    if not source.is_file():
        return ""
    return dict(_solutions(source.read_text(encoding="utf-8"))).get(number, "")


def _solutions(source: str) -> Iterator[tuple[int, str]]:
    """Numbers of exercises, and answer and reason: a cell of code with the answer, and behind it one of text."""
    cells = CELL.findall(source)
    for (head, body), (next_head, text) in zip(cells, [*cells[1:], ("", "")], strict=True):
        if SOLUTION not in head or "[markdown]" in head:
            continue
        reason = text if "[markdown]" in next_head and SOLUTION in next_head else ""
        said = "\n".join(re.findall(r"^# ?(.*)$", f"{reason}\n{body}", re.MULTILINE)).strip()
        for number, answer in _answers(body):
            shown = f"\n\n{_indented(answer)}" if "\n" in str(answer) else f"`{answer}`"
            yield number, f"{shown}\n\n{said}".rstrip()


def _answers(code: str) -> Iterator[tuple[int, object]]:
    """Number and answer of `lesson.check(1, 9)`."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lesson.check" and len(node.args) == 2:
            number, answer = map(ast.literal_eval, node.args)
            yield number, answer


def _indented(text: object) -> str:
    return "\n".join(f"    {line}" for line in str(text).strip().split("\n"))
