"""Runs that have ended, and the table that compares them."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence

from workbench.figures import CurveStyle, curve_style
from workbench.figures.style import COLOURS
from workbench.live.kit.html_table import Html, html_table
from workbench.live.kit.number_text import relative, seconds
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
    Html("true residual<br>‖b\u2009−\u2009Ax‖\u2009/\u2009‖b‖"),
    Html("drift<br>‖Z<sup>T</sup>r‖\u2009/\u2009‖b‖"),
    "ended",
)
NUMBERS = range(3, 9)
"""Columns with numbers."""
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
    latest_first = sorted(runs, key=lambda run: -run.number)
    rows = [_row(run) if isinstance(run, Ended) else _failed_row(run) for run in latest_first]
    kept = sum(isinstance(run, Ended) for run in runs)
    said = [f"The last {kept} runs are kept; {dropped:,} older ones are not."] if dropped else []
    if any(isinstance(run, Ended) and (run.record.summary.get("runs_at_once") or 1) > 1 for run in runs):
        said.append("* Other runs shared this machine; times are not comparable.")
    return html_table(HEADINGS, rows, numbers=NUMBERS, caption=" ".join(said))


def _row(run: Ended) -> list[str]:
    summary = run.record.summary
    took = [seconds(summary["setup_seconds"]), seconds(summary["iteration_seconds"])]
    # A run saved by an earlier version has no count.
    if shared := sharing(summary.get("runs_at_once") or 1):
        took = [Html(f'<span title="{shared}">{value} *</span>') for value in took]
    sentence = summary["reason"]
    because = SHORT.get(run.reason, run.reason.sentence.partition(";")[0])
    return [
        Html(swatch(curve_style(run.style))),
        f"{run.number}: {run.configuration.label}",
        run.configuration.problem.label,
        f"{summary['N']:,}",
        f"{summary['iterations']:,}",
        *took,
        relative(summary["true_relative_residual"]),
        _drift(summary.get("drift")),
        Html(f'<span title="{html.escape(sentence, quote=True)}">{html.escape(because)}</span>'),
    ]


def _failed_row(run: Failed) -> list[str]:
    """The sentence in place of the numbers."""
    why = Html(f'<span class="wb-why">{html.escape(run.sentence)}</span>')
    return ["", f"{run.number}: {run.configuration.label}", run.configuration.problem.label, why]


def _drift(value: float | None) -> str:
    """Deflated runs should keep it at zero; other runs have none."""
    return "" if value is None else relative(value)


def swatch(style: CurveStyle) -> str:
    """A short piece of the curve, as SVG."""
    colour = f"var(--wb-s{COLOURS.index(style.colour) + 1}, {style.colour})"
    dash = f' stroke-dasharray="{" ".join(f"{length:g}" for length in style.dash)}"' if style.dash else ""
    return (
        '<svg width="36" height="8" aria-hidden="true">'
        f'<line x1="1" y1="4" x2="35" y2="4" stroke="{colour}" stroke-width="2"{dash}/></svg>'
    )
