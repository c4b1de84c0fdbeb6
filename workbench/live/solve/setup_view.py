"""The setup of a run, phase by phase, with its choices: a line that unfolds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from workbench.live.ui.words import shown
from workbench.plots.html_table import html_table
from workbench.words.names import name_of
from workbench.words.numbers import amount, compiling, seconds

HEADINGS = ("phase of the setup", "time, s", "share", "memory")
COUNTED = 1000
"""Bytes: fewer are within the accuracy of the count."""


def setup_line(name: str, summary: Mapping[str, Any], notes: Sequence[str]) -> str:
    """HTML that unfolds: a table of the phases of the setup, and all notes. The result says how long all of it took."""
    took, phases = summary["setup_seconds"], summary.get("setup_phases") or []
    solver = summary.get("coarse_solver")
    chosen = f"; coarse solver {escape(name_of('coarse', solver))}" if solver else ""
    head = f"Phases of the setup of {escape(name)}{chosen}"
    table = (
        html_table(HEADINGS, [_row(phase, took) for phase in phases], numbers=(1, 2, 3), classes="wb-kernels")
        if phases
        else ""
    )
    said = filter(None, (compiling(summary.get("compile_seconds")), *notes))
    listed = "".join(f"<li>{escape(shown(note))}</li>" for note in said)
    more = f"<ul>{listed}</ul>" if listed else ""
    return f"<details class='wb-setup'><summary>{head}</summary>{table}{more}</details>"


def _row(phase: Mapping[str, Any], took: float) -> tuple[str, ...]:
    share = phase["seconds"] / took if took > 0 else 0.0
    memory = amount(phase["nbytes"]) if abs(phase["nbytes"]) >= COUNTED else ""
    return phase["name"], seconds(phase["seconds"]), f"{share:.0%}", memory
