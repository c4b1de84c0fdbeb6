"""Write docs/papers_rows.md, every row of the papers with its state: `.venv/bin/python -m scripts.papers_rows`.

The rows are declared in tests/extensions/papers/rows.csv, the tables and figures in `workbench.extensions.papers`.
"""

from __future__ import annotations

import collections
import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from workbench.extensions.papers import PAPERS, papers

ROOT = Path(__file__).resolve().parent.parent
PAGE, ROWS = ROOT / "docs" / "papers_rows.md", ROOT / "tests" / "extensions" / "papers" / "rows.csv"
STATES = {
    "works": "it is there, and does what the paper describes",
    "partly": "a part of it is there; the remark says which",
    "deviates": "it is there in another way, or comes out otherwise than printed; the remark says why",
    "missing": "it is not there",
    "context": "the paper names it, and nothing follows from it",
}
"""What a row may be."""
GROUNDS = {
    "measured": "counted or measured here, or stated by the paper",
    "plausible": "it fits what is printed, and is not measured",
    "not explained": "at least one number has no reason",
    "by design": "the workbench does it in another way on purpose",
    "not available": "it needs a program or data that are not here",
    "a mention": "the paper only names it",
}
"""The grounds with which the remark of a row that is not whole begins; of several numbers that of the worst."""


class Row(NamedTuple):
    """A row of a paper. part: of the paper. status: one of `STATES`. command: shows it, "" where nothing can."""

    paper: str
    part: str
    row: str
    status: str
    command: str
    remark: str


def rows() -> list[Row]:
    """The declared rows."""
    with ROWS.open(encoding="utf-8", newline="") as file:
        return [Row(**line) for line in csv.DictReader(file)]


def _table(headings: Iterable[str], lines: Iterable[Iterable[str]]) -> list[str]:
    head = [*headings]
    written = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in line] for line in lines)]
    return [f"| {' | '.join(line)} |" for line in written]


def _shown(command: str) -> str:
    """A command of the workbench without its first word, which all have."""
    return f"`{command.removeprefix('workbench ')}`" if command else "-"


def page() -> str:
    """The document."""
    every = rows()
    items = [
        (paper.name, paper.title, ", ".join(f"`{name}`" for name in PAPERS[paper.name])) for paper in papers().values()
    ]
    counts = collections.Counter((row.paper, row.status) for row in every)
    of_papers = dict.fromkeys(row.paper for row in every)
    tallies = [[paper, *(str(counts[paper, state]) for state in STATES)] for paper in of_papers]
    sums = [str(sum(counts[paper, state] for paper in of_papers)) for state in STATES]
    lines = [
        "# Rows of the papers",
        "",
        "Written by `python -m scripts.papers_rows` from the declared tables and figures, and from",
        "[rows.csv](../tests/extensions/papers/rows.csv). How numbers are compared is in [papers.md](papers.md).",
        "",
        "## Tables and figures",
        "",
        *_table(("paper", "title", "items, as `reproduce` takes them"), items),
        "",
        "## States of the rows",
        "",
        "Commands stand without their first word, `workbench`; those that begin with `pytest` are tests.",
        "",
        *_table(("state", "what it says"), STATES.items()),
        "",
        *_table(("paper", *STATES), [*tallies, ["all", *sums]]),
        "",
        "The remark of a row that works in part, deviates or is missing begins with the ground of that, of several",
        "numbers the worst:",
        "",
        *_table(("ground", "what it says"), GROUNDS.items()),
    ]
    for paper in of_papers:
        lines += ["", f"## {paper}"]
        for part in dict.fromkeys(row.part for row in every if row.paper == paper):
            of_part = [row for row in every if (row.paper, row.part) == (paper, part)]
            cells = [(row.row, row.status, _shown(row.command), row.remark) for row in of_part]
            lines += ["", f"### {paper}: {part}", "", *_table(("row", "status", "command", "remark"), cells)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
