"""Generate the cost tables of docs/family.md: `.venv/bin/python scripts/family_table.py`."""

from __future__ import annotations

from pathlib import Path

from workbench.costs import block_costs
from workbench.costs.solver_costs import HEADINGS, solver_costs, table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "family.md"
BEGIN, END = "<!-- {} by scripts/family_table.py -->\n", "<!-- end -->"
PRECONDITIONERS = ("jacobi", "neumann:2")


def markdown(preconditioner: str) -> str:
    """One table in Markdown, of the problem that `workbench family` takes by default."""
    rows = [HEADINGS, ("---",) * len(HEADINGS), *table(solver_costs(preconditioner=preconditioner))]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def blocks() -> str:
    """The table of the methods for many right-hand sides."""
    headings = block_costs.HEADINGS
    rows = [headings, ("---",) * len(headings), *(cost.row for cost in block_costs.block_costs())]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def page() -> str:
    """The whole page with new tables."""
    text = PAGE.read_text(encoding="utf-8")
    tables = {preconditioner: markdown(preconditioner) for preconditioner in PRECONDITIONERS} | {"blocks": blocks()}
    for name, made in tables.items():
        begin = BEGIN.format(name)
        start = text.index(begin) + len(begin)
        text = text[:start] + made + text[text.index(END, start) :]
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
