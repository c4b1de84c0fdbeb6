"""Generate the cost tables of docs/family.md: `.venv/bin/python scripts/family_table.py`."""

from __future__ import annotations

from pathlib import Path

from workbench.analysis.solver_costs import HEADINGS, solver_costs, table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "family.md"
BEGIN, END = "<!-- {} by scripts/family_table.py -->\n", "<!-- end -->"
PRECONDITIONERS = ("jacobi", "neumann:2")


def markdown(preconditioner: str) -> str:
    """One table in Markdown."""
    rows = [HEADINGS, ("---",) * len(HEADINGS), *table(solver_costs("slabs-3d", 8, preconditioner))]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def page() -> str:
    """The whole page with new tables."""
    text = PAGE.read_text(encoding="utf-8")
    for preconditioner in PRECONDITIONERS:
        begin = BEGIN.format(preconditioner)
        start = text.index(begin) + len(begin)
        text = text[:start] + markdown(preconditioner) + text[text.index(END, start) :]
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
