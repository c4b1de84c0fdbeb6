"""The table of a race: a row for each entry, with its numbers so far and the acts on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.live.compare.race_text import COLUMNS, LOW, LOWER, entry_label, row
from workbench.live.ui.run_list import ListedRun
from workbench.live.ui.sort_table import SortTable, sample
from workbench.plots.scenes.style import curve_style
from workbench.run import RaceEntry
from workbench.run.jobs.ranking import Ranking

VERBS = (
    {"name": "pause", "title": "Pause", "tip": "hold this entry, or resume it", "inline": True},
    {"name": "stop", "title": "Stop", "tip": "end this entry; what it has computed stays", "inline": True},
    {"name": "remove", "title": "Remove", "tip": "end this entry and take it out of the race", "inline": True},
)


def entry_table(act: Callable[[str, list[Any], str], object]) -> SortTable:
    """An empty table. act: called with a verb and the numbers of the entries that it is meant for."""
    table = SortTable(act, empty="No entry yet. Choose blocks and press Add entry.", low=LOW, lower=LOWER)
    table.verbs = list(VERBS)
    return table


def show_entries(
    table: SortTable, found: Ranking, entries: Sequence[RaceEntry], listed: Mapping[RaceEntry, ListedRun]
) -> None:
    """A row for each of the entries, in this order. listed: the runs of those that have begun, in the list of runs."""
    finished = {finish.entry: finish for finish in found.finished}
    pairs = [(entry, listed.get(entry)) for entry in entries]
    times = [entry.run.setup_seconds + entry.run.iteration_seconds for entry, _ in pairs if entry.run]
    longest = max(times, default=1.0)
    rows = [row(entry, run, finished.get(entry), found.measure, longest) for entry, run in pairs]
    # One entry wins against nothing.
    winners = {finish.entry for finish in found.winners} if len(entries) > 1 else set()
    marks = ["failed" if entry.error else "best" if entry in winners else "" for entry, _ in pairs]
    table.show(COLUMNS, rows, marks, [_facts(entry, run) for entry, run in pairs])


def _facts(entry: RaceEntry, run: ListedRun | None) -> dict[str, Any]:
    return {
        "id": entry.number,
        "style": sample(curve_style(run.style)) if run else None,
        "styled": f"style {run.style + 1}" if run else "none before the start",
        "title": entry_label(entry, run),
        "acts": ["remove", *([] if entry.ended else ["pause", "stop"] if run else ["pause"])],
        "words": {"pause": "Resume" if entry.held else "Pause"},
    }
