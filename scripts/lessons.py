"""Make the notebooks of the lessons, and those with solutions, from their sources: `python scripts/lessons.py`.

A source is a script of cells that begin with `# %%`; text is commented out below `# %% [markdown]`. Cells with the tag
`exercise` are left out of the solutions, those with the tag `solution` out of the lesson; all others are in both.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

SYMBOL = re.compile(r"\[\[([a-z0-9]+)\|(.+?)\]\]", re.DOTALL)
"""A symbol of the text that a picture marks, [[key|text]]: `workbench/extensions/lessons/page/pointing.py`."""
FOLDER = Path(__file__).parents[1] / "notebooks" / "lessons"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def cells_of(source: str) -> Iterator[tuple[str, nbformat.NotebookNode]]:
    """The cells of a script, each with its tag, or an empty text."""
    for head, body in re.findall(r"^# %%(.*)\n((?:(?!# %%).*\n?)*)", source, re.MULTILINE):
        found = re.search(r'tags=\["(\w+)"\]', head)
        text = body.strip("\n")
        if "[markdown]" in head:
            plain = re.sub(r"^# ?", "", text, flags=re.MULTILINE)
            cell = new_markdown_cell(SYMBOL.sub(r'<span class="wb-symbol wb-symbol-\1">\2</span>', plain))
        else:
            cell = new_code_cell(text)
        yield found[1] if found else "", cell


def made(source: Path, *, without: str, title: str) -> str:
    """A notebook as text. without: the tag of the cells that are left out."""
    cells = [cell for tag, cell in cells_of(source.read_text(encoding="utf-8")) if tag != without]
    for place, cell in enumerate(cells):
        cell.id = f"cell-{place:02}"
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, "title": title}
    return nbformat.writes(new_notebook(cells=cells, metadata=metadata)) + "\n"


def notebooks() -> dict[Path, str]:
    """All notebooks of lessons, by path."""
    found: dict[Path, str] = {}
    for source in sorted(FOLDER.glob("source/*.py")):
        heading = next(line for line in source.read_text(encoding="utf-8").splitlines() if line.startswith("# # "))
        title, name = heading.removeprefix("# # "), f"{source.stem}.ipynb"
        found[FOLDER / name] = made(source, without="solution", title=title)
        found[FOLDER / "solutions" / name] = made(source, without="exercise", title=f"{title}: solutions")
    return found


def main() -> int:
    """Write them."""
    for path, text in notebooks().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
