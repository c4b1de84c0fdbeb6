"""Make the notebooks of the lessons, and those with solutions, from their sources: `python scripts/lessons.py`.

A source is a script of cells that begin with `# %%`. Cells with the tag `exercise` are left out of the solutions, those
with the tag `solution` out of the lesson; all others are in both.
"""

from __future__ import annotations

import sys
from pathlib import Path

import jupytext
import nbformat

FOLDER = Path(__file__).parents[1] / "notebooks" / "lessons"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def made(source: Path, *, without: str, title: str) -> str:
    """A notebook as text. without: the tag of the cells that are left out."""
    cells = [
        cell for cell in jupytext.read(source, fmt="py:percent").cells if without not in cell.metadata.get("tags", [])
    ]
    for place, cell in enumerate(cells):
        cell.id, cell.metadata = f"cell-{place:02}", nbformat.NotebookNode()
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, "title": title}
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells, metadata=metadata)) + "\n"


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
