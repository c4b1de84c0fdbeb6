"""What the setup of a run took, phase by phase, and what was chosen in it: a line that unfolds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from workbench.live.kit.finished_runs import seconds
from workbench.run.setup_phases import in_words

UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def setup_line(name: str, summary: Mapping[str, Any], notes: Sequence[str]) -> str:
    """HTML: the time of the setup and the coarse solver, and, unfolded, a table of the phases and all notes."""
    took, phases = summary["setup_seconds"], summary.get("setup_phases") or []
    solver = summary.get("coarse_solver")
    chosen = f"; coarse solver {escape(solver)}" if solver else ""
    head = f"Setup of {escape(name)}: {seconds(took)} s ({escape(in_words(phases[:], took))}){chosen}"
    rows = "".join(_row(phase, took) for phase in phases)
    table = (
        "<table class='wb-table'><thead><tr><th>phase of the setup</th><th>time, s</th><th>share</th>"
        f"<th>memory</th></tr></thead><tbody>{rows}</tbody></table>"
    )
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    said = f"<ul>{listed}</ul>" if listed else ""
    return f"<details class='wb-setup'><summary>{head}</summary>{table if phases else ''}{said}</details>"


def _row(phase: Mapping[str, Any], took: float) -> str:
    share = phase["seconds"] / took if took > 0 else 0.0
    cells = (seconds(phase["seconds"]), f"{share:.0%}", memory(phase["nbytes"]))
    numbers = "".join(f"<td class='wb-number'>{cell}</td>" for cell in cells)
    return f"<tr><td>{escape(phase['name'])}</td>{numbers}</tr>"


def memory(nbytes: int) -> str:
    """Bytes in a unit that fits; empty for less than a kilobyte, which is within the accuracy of the count."""
    for size, unit in UNITS:
        if abs(nbytes) >= size:
            return f"{nbytes / size:.3g} {unit}"
    return ""
