"""Runs that have ended, and the table that compares them."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Sequence

from workbench.figures import CurveStyle, curve_style
from workbench.recording import Record
from workbench.run import Configuration, Reason
from workbench.run.machine_use import sharing

HEADINGS = (
    "",
    "run",
    "problem",
    "N",
    "iterations",
    "setup [s]",
    "iterating [s]",
    "true residual<br>‖b\u2009−\u2009Ax‖\u2009/\u2009‖b‖",
    "drift<br>‖Z<sup>T</sup>r‖\u2009/\u2009‖b‖",
    "ended",
)
SHORT = {
    Reason.CONVERGED: "converged",
    Reason.CONSISTENT: "converged for b minus its mean",
    Reason.CANCELLED: "stopped by the user",
}


@dataclasses.dataclass(frozen=True, eq=False)
class Ended:
    """A run that has ended: its number in this explorer, what was asked for, what came out, and how it is drawn."""

    number: int
    configuration: Configuration
    record: Record
    reason: Reason
    style: int

    @property
    def label(self) -> str:
        """What the legends say."""
        return run_label(self.number, self.configuration)


@dataclasses.dataclass(frozen=True, eq=False)
class Failed:
    """A run that has nothing to show: its number, what was asked for, and the sentence why."""

    number: int
    configuration: Configuration
    sentence: str


def run_label(number: int, configuration: Configuration) -> str:
    """A run in legends: its number, problem and blocks."""
    return f"{number}: {configuration.problem.label}, {configuration.label}"


def table(runs: Sequence[Ended | Failed], dropped: int = 0) -> str:
    """The runs as an HTML table, the latest on top. dropped: how many older ones are not kept any more."""
    if not runs:
        return '<div class="wb-empty">Runs that have ended are listed here.</div>'
    head = "".join(f'<th scope="col"{_number(name)}>{name}</th>' for name in HEADINGS)
    latest_first = sorted(runs, key=lambda run: -run.number)
    rows = "".join(_row(run) if isinstance(run, Ended) else _failed_row(run) for run in latest_first)
    kept = sum(isinstance(run, Ended) for run in runs)
    said = [f"The last {kept} runs are kept; {dropped:,} older ones are not."] if dropped else []
    if any(isinstance(run, Ended) and (run.record.summary.get("runs_at_once") or 1) > 1 for run in runs):
        said.append("* Other runs shared this machine; times are not comparable.")
    left = f"<caption>{' '.join(said)}</caption>" if said else ""
    return f'<table class="wb-table">{left}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def relative(value: float) -> str:
    """A relative residual in words."""
    return f"{value:.2e}" if math.isfinite(value) else "not finite"


def seconds(value: float) -> str:
    """A duration with three digits at least."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _row(run: Ended) -> str:
    summary = run.record.summary
    took = [seconds(summary["setup_seconds"]), seconds(summary["iteration_seconds"])]
    # A run saved by an earlier version has no count.
    if shared := sharing(summary.get("runs_at_once") or 1):
        took = [f'<span title="{shared}">{value} *</span>' for value in took]
    sentence = summary["reason"]
    because = SHORT.get(run.reason, run.reason.sentence.partition(";")[0])
    cells = [
        swatch(curve_style(run.style)),
        html.escape(f"{run.number}: {run.configuration.label}"),
        html.escape(run.configuration.problem.label),
        f"{summary['N']:,}",
        f"{summary['iterations']:,}",
        *took,
        relative(summary["true_relative_residual"]),
        _drift(summary.get("drift")),
        f'<span title="{html.escape(sentence, quote=True)}">{html.escape(because)}</span>',
    ]
    return f"<tr>{''.join(f'<td{_number(name)}>{cell}</td>' for name, cell in zip(HEADINGS, cells, strict=True))}</tr>"


def _failed_row(run: Failed) -> str:
    """The sentence in place of the numbers."""
    name = html.escape(f"{run.number}: {run.configuration.label}")
    problem, why = html.escape(run.configuration.problem.label), html.escape(run.sentence)
    return f'<tr><td></td><td>{name}</td><td>{problem}</td><td colspan="7"><span class="wb-why">{why}</span></td></tr>'


def _drift(value: float | None) -> str:
    """Deflated runs should keep it at zero; other runs have none."""
    return "" if value is None else relative(value)


def _number(heading: str) -> str:
    return "" if heading in ("", "run", "problem", "ended") else ' class="wb-number"'


def swatch(style: CurveStyle) -> str:
    """A short piece of the curve, as SVG."""
    colour = "currentColor" if style.colour == "#000000" else style.colour
    dash = f' stroke-dasharray="{" ".join(f"{length:g}" for length in style.dash)}"' if style.dash else ""
    return (
        '<svg width="36" height="8" aria-hidden="true">'
        f'<line x1="1" y1="4" x2="35" y2="4" stroke="{colour}" stroke-width="2"{dash}/></svg>'
    )
