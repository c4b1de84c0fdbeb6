"""The outcome of the last run of the explorer: its result, what it may be followed by, and the phases of its setup."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ipywidgets as widgets

from workbench.live.solve.explorer_text import BACKGROUND, STOPPED, ending, needs_plain_cg, result_html, setup_line
from workbench.live.ui.controls import button, row
from workbench.live.ui.run_list import ListedRun, numbered
from workbench.run import Session, State

PLAIN = "the problem and the levels of this run with plain CG, which rounding harms less"


class Outcome:
    """Display `box`, and below the plots `others` and `setup`. run_plain: the action of the button that a run broken
    down by rounding has."""

    def __init__(self, run_plain: Callable[[], None]) -> None:
        self.result, self.setup, self.others = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.plain = button("Run plain CG", PLAIN, run_plain, width="120px")
        self.box = row("wb-outcome", self.result, self.plain)
        self.show(None)

    def show(self, last: ListedRun | None) -> None:
        """Show the outcome of a run that has ended; None for none."""
        record = last.record if last else None
        self.result.value = _result_of(last) if last else ""
        self.setup.value = setup_line(f"run {last.number}", record) if last and record else ""
        self.plain.layout.display = "" if record and needs_plain_cg(record.summary) else "none"

    def tell_absent(self, numbers: Sequence[int]) -> None:
        """Name the runs that the plot leaves out, since they are on another problem."""
        said = f"Not drawn: {numbered(numbers)}, on another problem. Tick a row to draw it." if numbers else ""
        self.others.value = f'<p class="wb-note">{said}</p>' if said else ""


def _result_of(run: ListedRun) -> str:
    if (record := run.record) is None:
        failed = run.handle.state is State.FAILED
        lingers = isinstance(run.source, Session) and run.source.lingering
        words = f"{run.error or STOPPED}{BACKGROUND * lingers}"
        return result_html(run.number, None, words, "bad" if failed else "plain", ())
    words = ending(record.summary)
    tone = "good" if record.summary["converged"] else "plain"
    return result_html(run.number, record.summary, words, tone, record.provenance["notes"])
