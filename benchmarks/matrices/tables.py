"""The tables of the matrices' benchmark: for the terminal, and as Markdown for docs/benchmarks.md."""

from __future__ import annotations

import re
from typing import Any

SECONDS = (("setup_s", 9), ("iterate_s", 10), ("together_s", 9), ("cpu_s", 8))
"""Columns of the terminal's table, and their widths."""
GROUPS = ("PyAMG SA", "PyAMG RS", "SciPy CG", "SciPy splu", "PETSc gamg", "PETSc hypre", "AmgX")
"""Columns of the Markdown table: of contestants whose names begin so, the fastest."""


def plain(found: dict[str, Any]) -> str:
    """A row for each contestant on each matrix."""
    lines = [f"{'matrix':26}{'contestant':46}{'iterations':>10}{'setup':>9}{'iterating':>10}{'together':>9}{'cpu':>8}"]
    for name, one in found.items():
        for who, row in one["solves"].items():
            if "together_s" not in row:
                lines.append(f"{name:26}{who:46}{row.get('failed', '')}")
                continue
            seconds = "".join(f"{row[key]:{width}.3f}" if key in row else " " * width for key, width in SECONDS)
            lines.append(f"{name:26}{who:46}{row['iterations']:10.0f}{seconds}")
    return "\n".join(lines)


def markdown(found: dict[str, Any], default: str, best: str) -> str:
    """A row for each matrix: ours by default with its setup's share, our best pair, and the fastest of each peer, as
    iterations / seconds; peers that take part nowhere have no column."""
    there = [group for group in GROUPS if any(_fastest(one["solves"], group) for one in found.values())]
    head = ["matrix", "N", "load", "ours, by default", "setup", "our best pair", *there]
    lines = [_row(head), "|" + "---|" * len(head)]
    for name, one in found.items():
        rows = one["solves"]
        share = one["ratios"].get("setup share")
        pair = next((found[1] for who in rows if (found := re.fullmatch(rf"{best} \((.*)\)", who))), "")
        cells = [f"{name}", f"{one['N']:,}", f"{one['load'][0]:.0f}", f"**{_cell(_fastest(rows, default))}**"]
        cells += [f"{share:.0%}" if share is not None else "–", f"{pair}, {_cell(_fastest(rows, best))}"]
        lines.append(_row([*cells, *(_cell(_fastest(rows, group)) for group in there)]))
    return "\n".join(lines)


def summary(summed_up: dict[str, Any], large: int) -> str:
    """A row for each ratio: the geometric mean above `large` unknowns, the least one, and its matrix."""
    lines = [
        _row(["over ours by default", f"geometric mean from {large:,} unknowns", "least", "at"]),
        "|---|---|---|---|",
    ]
    for who, one in summed_up.items():
        mean = one.get("geometric mean")
        lines.append(_row([who, f"{mean:.2f}" if mean else "–", f"{one['least']:.2f}", one["at"]]))
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _fastest(rows: dict[str, Any], begins: str) -> dict[str, Any] | None:
    """The fastest row of contestants whose names begin so; None where none solved the system."""
    solved = [row for who, row in rows.items() if who.startswith(begins) and "together_s" in row]
    return min(solved, key=lambda row: row["together_s"], default=None)


def _cell(row: dict[str, Any] | None) -> str:
    return f"{row['iterations']:.0f} / {row['together_s']:.2f}" if row else "–"
