"""The table of all runs of a page: sorted, renamed, recoloured, hidden, pinned, deleted, and acted on."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live.transport.publisher import PollAgain, Publisher
from workbench.live.ui import run_list
from workbench.live.ui.controls import column
from workbench.live.ui.run_handle import ACTIVE, RunHandle
from workbench.live.ui.run_list import ListedRun, RunList, names
from workbench.live.ui.sort_table import SortTable, sample
from workbench.live.ui.status import StatusLine
from workbench.plots.scenes.style import curve_style
from workbench.run import Reason, Run, State
from workbench.run.cancellation import STOPPED
from workbench.run.machine_use import sharing
from workbench.words.names import PROBLEM
from workbench.words.numbers import compiling, duration, relative, waited

PERIOD = 1.0
"""Seconds between two updates of the numbers of active runs."""
COLUMNS = (
    "Run", "Problem", "Name", "Method", "From", "N", "Setup", "Iterating", "Together", "Iterations", "True residual",
    "State",
)  # fmt: skip
LOW = ["From", "Method", "N", "Iterating"]
LOWER = ["Setup", "True residual"]
EMPTY = "No run yet. Runs of Solve, Race, Sweep and Your method are listed here."
FILTER = "Filter by problem, method, view or state"
SENT = ("inside", "timings", "race")
"""Verbs that a page adds, see `RunList.acts`."""
VERBS = (
    {"name": "inside", "title": "Look inside", "key": "Enter", "off": "the run has no iteration yet",
     "tip": "show fields, spectrum, timeline and roofline; the timeline has all chosen runs with kernel timings"},
    {"name": "timings", "title": "Run again with timings", "tip": "solve the same once more and record every kernel",
     "off": "the run does not contain all of its configuration"},
    {"name": "race", "title": "Add to race", "tip": "add the method of this run to the race",
     "off": "the run does not contain all of its configuration"},
    {"name": "rename", "title": "Rename", "tip": "change the name in every view", "one": True, "key": "F2"},
    {"name": "hide", "title": "Hide", "tip": "take the run off all plots; it stays in the list"},
    {"name": "pin", "title": "Pin", "tip": "list the run first, keep it, and show it in every convergence plot"},
    {"name": "delete", "title": "Delete", "tip": "remove the run from the list; it is not saved", "key": "Delete",
     "off": "the run is active; press Stop first"},
)  # fmt: skip
MARK_NAMES = {
    "o": "circle", "s": "square", "^": "triangle", "D": "diamond", "v": "inverted triangle", "x": "cross", "+": "plus",
    "*": "star",
}  # fmt: skip
CONVERGED = "converged"
STAR = " *"
STARRED = "* Other runs used the machine at the same time."
"""The legend of the star behind a time."""
OF_MANY = f"Runs of {' and '.join(run_list.IN_NUMBERS)} are counted from {run_list.FIRST_OF_MANY}."
WORDS = {
    State.QUEUED: "queued",
    State.SETUP: "setting up",
    State.RUNNING: "running",
    State.PAUSED: "paused",
    State.IDLE: "not started",
}


class RunTable:
    """Display `box`: a table of the list, and a line that says what went wrong. whole: rows are grouped by problem and
    can be filtered."""

    def __init__(self, runs: RunList, publisher: Publisher, *, whole: bool = False) -> None:
        self.runs, self.publisher = runs, publisher
        more = {"filtered": FILTER, "grouped": "Problem"} if whole else {}
        self.table = SortTable(self._act, empty=EMPTY, low=LOW, lower=LOWER, named="Name", **more)
        self.message = StatusLine()
        self.message.layout.display = "none"
        self.legend = widgets.HTML(layout={"display": "none"})
        self.box = column("wb-runlist", self.table, self.legend, self.message)
        self._changed, self._active = True, False
        self._next = 0.0
        self._dropped = 0
        """The number of removed runs that the message has reported."""
        self._known: dict[tuple[ListedRun, str], list[Any]] = {}
        """Cells of runs that have ended, by run and name."""
        self.table.observe(lambda change: runs.choose(int(n) for n in change["new"] if isinstance(n, int)), "chosen")
        runs.on_change(self._wake)
        publisher.add(self.publish)

    def close(self) -> None:
        """Follow the list no more."""
        self.runs.forget(self._wake)
        self.publisher.remove(self.publish)

    def publish(self) -> PollAgain:
        """Bring the table up to date; returns when to do it again, see `PollAgain`."""
        now = time.monotonic()
        if not self._changed and now < self._next:
            # A run that has ended since is still shown as active.
            return self._active and self._next - now
        # The list is read afterwards: changes from here on are shown the next time.
        self._changed, self._next = False, now + PERIOD
        self._active = any(run.active for run in self.runs.runs)
        self._show()
        return self._active and PERIOD

    def _show(self) -> None:
        listed = self.runs.runs[::-1]
        offered = [verb for verb in VERBS if verb["name"] not in SENT or verb["name"] in self.runs.acts]
        marks = ["failed" if has_failed(run.handle) else "" for run in listed]
        columns, rows = self._cells(listed)
        starred = any(isinstance(cell, dict) and cell["text"].endswith(STAR) for cells in rows for cell in cells)
        many = any(run.number >= run_list.FIRST_OF_MANY for run in listed)
        said = " ".join([STARRED] * starred + [OF_MANY] * many)
        self.legend.value = f'<p class="wb-empty">{said}</p>' if said else ""
        self.legend.layout.display = None if said else "none"
        with self.table.hold_sync():
            self.table.verbs = offered
            self.table.show(columns, rows, marks, [_facts(run) for run in listed])
            self.table.chosen = [run.number for run in self.runs.chosen]
        dropped = self.runs.dropped
        if dropped != self._dropped:
            self._dropped = dropped
            self._say(
                f"The last {run_list.KEPT} runs of each view are kept; {dropped} older ones were removed.", "plain"
            )

    def _cells(self, listed: Sequence[ListedRun]) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows. The method has a column of its own only where a name says something else."""
        # Before the cells are made: a run that ends meanwhile has others then.
        ended = {run for run in listed if not run.active}
        named = zip(listed, names(listed, *PROBLEM), strict=True)
        made = {(run, name): self._known.get((run, name)) or _cells(run, name) for run, name in named}
        self._known = {key: cells for key, cells in made.items() if key[0] in ended}
        rows, at = list(made.values()), COLUMNS.index("Method")
        if all(cells[at] == cells[at - 1]["text"] for cells in rows):
            return [name for name in COLUMNS if name != "Method"], [cells[:at] + cells[at + 1 :] for cells in rows]
        return list(COLUMNS), rows

    def _wake(self) -> None:
        self._changed = True
        self.publisher.wake()

    def _act(self, verb: str, numbers: list[Any], value: str) -> None:
        try:
            self._do(verb, [self.runs.find(number) for number in numbers], value)
            self._say("", "plain")
        except InputError as error:
            self._say(str(error), "bad")

    def _do(self, verb: str, chosen: list[ListedRun], value: str) -> None:
        if verb == "rename":
            self.runs.rename(chosen[0], value)
        elif verb == "restyle":
            self.runs.restyle(chosen[0])
        elif verb == "hide":
            self.runs.hide(chosen, not all(run.hidden for run in chosen))
        elif verb == "pin":
            self.runs.pin(chosen, not all(run.pinned for run in chosen))
        elif verb == "delete":
            active = next((run for run in chosen if run.active), None)
            if active is not None:
                raise InputError(f"run {active.number} is active; press Stop in {active.origin} first")
            self.runs.remove(*chosen)
        elif verb in self.runs.acts:
            self.runs.acts[verb](chosen)

    def _say(self, sentence: str, tone: str) -> None:
        self.message.say(sentence, tone)
        self.message.layout.display = None if sentence else "none"


def _cells(run: ListedRun, name: str) -> list[Any]:
    handle = run.handle
    summary = handle.summary or {}
    setup, iterating = _times(handle, summary)
    both = None if setup is None or iterating is None else setup + iterating
    history = handle.history
    iterations = summary.get("iterations", max(history.count - 1, 0) if history is not None else None)
    true = summary.get("true_relative_residual")
    residual = {"key": None, "text": "–"} if true is None else {"key": true, "text": relative(true)}
    words, tip = state_words(handle, summary)
    shared = sharing(summary.get("runs_at_once") or (handle.run.runs_at_once if handle.run else 1))
    times = [_time(value, shared) for value in (setup, iterating, both)]
    for place, clause in enumerate((compiling(summary.get("compile_seconds")), "", waited(handle.waited))):
        if clause:
            times[place]["tip"] = "; ".join(filter(None, (clause, shared)))
    named = {"key": name, "text": name, "tip": handle.code}
    return [
        run.number, handle.problem, named, handle.method, run.origin, handle.unknowns, *times, iterations, residual,
        {"key": words, "text": words, "tip": tip},
    ]  # fmt: skip


def _times(handle: RunHandle, summary: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Seconds of setup and iterations so far."""
    if summary:
        return summary.get("setup_seconds"), summary.get("iteration_seconds")
    return (handle.run.setup_seconds, handle.run.iteration_seconds) if handle.run else (None, None)


def _time(value: float | None, shared: str) -> dict[str, Any]:
    """A time as a cell; a star marks runs during which others ran."""
    text = duration(value)
    return {"key": value, "text": f"{text}{STAR}", "tip": shared} if shared else {"key": value, "text": text}


def has_failed(handle: RunHandle) -> bool:
    """True if an error has ended a run, not its user."""
    return handle.state is State.FAILED and handle.error not in ("", *STOPPED)


def state_words(handle: RunHandle, summary: Mapping[str, Any]) -> tuple[str, str]:
    """The state of a run in few words, and the whole sentence."""
    if not summary:
        ended = "failed" if has_failed(handle) else "stopped by the user"
        return WORDS.get(handle.state, ended), handle.error
    return ended_words(summary), str(summary["reason"])


def ended_words(summary: Mapping[str, Any]) -> str:
    """How a run that has a result ended, in few words."""
    reason = str(summary["reason"])
    if not summary.get("converged"):
        return reason.partition(";")[0].partition(" (")[0].partition(", neither")[0]
    return "converged for the part of b in the range of A" if Reason.CONSISTENT.begins(reason) else CONVERGED


def _facts(run: ListedRun) -> dict[str, Any]:
    style = curve_style(run.style)
    acts = ["rename", "hide", "pin"]
    acts += [] if run.active else ["delete"]
    handle = run.handle
    # A race entry is stepped by the thread of its race, which serves no other view before its end.
    acts += ["inside"] if handle.history is not None and (not run.active or run.origin != run_list.RACE) else []
    acts += ["timings", "race"] if _is_whole(handle) else []
    dash = "dashed" if style.dash else "solid"
    return {
        "id": run.number,
        "title": f"run {run.number}, {run.name}",
        "name": run.name,
        "style": sample(style),
        "styled": f"{dash}, {MARK_NAMES.get(style.marker, style.marker)}, style {run.style + 1}",
        "acts": acts,
        "words": {"hide": "Show" if run.hidden else "Hide", "pin": "Unpin" if run.pinned else "Pin"},
        "hidden": run.hidden,
        "pinned": run.pinned,
    }


def _is_whole(handle: RunHandle) -> bool:
    """True if the run can be made again, as far as is known without trying."""
    return isinstance(handle.source, (*ACTIVE, Run)) or "configuration" in handle.provenance
