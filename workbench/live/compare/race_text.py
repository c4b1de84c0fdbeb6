"""Texts of a race: its table with a row for each entry, the fastest at each tolerance, and its progress."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from workbench.live.compare.race_form import differences
from workbench.live.compare.race_verdict import amount_text, remarks, times_text
from workbench.live.compare.sweep_text import each_of
from workbench.live.ui.run_handle import RunHandle
from workbench.live.ui.run_list import ListedRun
from workbench.live.ui.run_table import has_failed, state_words
from workbench.live.ui.sort_table import SortTable, sample, time_bar
from workbench.plots.html_table import html_table
from workbench.plots.scenes.style import curve_style
from workbench.run import Configuration, Race, RaceEntry, Reason, State
from workbench.run.jobs.race_record import RaceRecord
from workbench.run.jobs.ranking import Finish, Ranking, Sample, Samples, rank
from workbench.run.jobs.repeats import Repeats
from workbench.run.setup.setup_phases import COMPILATION
from workbench.words.numbers import amount, compiling, counted, duration, number, queued, relative, tick, waited

COLUMNS = (
    "Entry",
    "Setup + iterating",
    "Together",
    "Setup",
    "Iterating",
    "Iterations",
    "Traffic",
    "‖r‖\u202f/\u202f‖b‖",
    "To tolerance",
    "State",
)
LOW = ["Together", "Setup", "Iterating"]
LOWER = ["Traffic", "‖r‖\u202f/\u202f‖b‖"]
"""Columns that a narrow table lacks; that by which rows are in order stays."""
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Tolerances in the table of the fastest entries."""
VERBS = (
    {"name": "pause", "title": "Pause", "tip": "pause this entry, or resume it", "inline": True},
    {"name": "stop", "title": "Stop", "tip": "end this entry; what it has computed stays", "inline": True},
    {"name": "remove", "title": "Remove", "tip": "end this entry and take it out of the race", "inline": True},
)


def doing(entry: RaceEntry, race: Race) -> str:
    """The state of an entry that has not ended: not started, waiting, compiling, setup, running or paused.

    The thread of a race sets one entry up after another, and those that are set up wait for it.
    """
    match entry.state:
        case State.PAUSED:
            return "paused"
        case State.IDLE:
            return "waiting" if race.alive else "not started"
        case State.SETUP:
            return _compiling(entry) if entry.phases.present == COMPILATION else "setup"
    begun = entry.made is not None and entry.made.history.count > 0
    return "running" if begun else "waiting"


def _compiling(entry: RaceEntry) -> str:
    """The kernels that the setup has asked for so far; their number is known of those that are compiled elsewhere."""
    kernels = entry.phases.kernels
    if not kernels.asked:
        return "compiling"
    return f"compiling ({kernels.done} of {counted(kernels.asked, 'kernel')})"


def row(
    entry: RaceEntry,
    run: ListedRun | None,
    finish: Finish | None,
    measure: str,
    longest: float,
    remark: tuple[str, str] = ("", ""),
    waiting: str = "",
    times: tuple[float, float] = (0.0, 0.0),
) -> list[Any]:
    """The cells of one entry. run: its run in the list, None before it has begun. longest: seconds of the slowest, for
    the bar of setup and iterations. remark: a word after the state, with its reason. waiting: the state of an entry
    that has not ended. times: seconds of setup and iterations."""
    name = entry_label(entry, run)
    made = entry.made
    count = made.history.count if made is not None else 0
    words, tip = (waiting, "") if waiting else state_words(RunHandle(entry), entry.summary)
    word, reason = remark
    state = {"key": words, "text": f"{words}, {word}" if word else words, "tip": reason or tip}
    if made is None or run is None or not count:
        return [name, _missing(), *[None] * 7, state]
    (setup, iterating), spent = times, entry.iteration_bytes
    traffic = None if spent is None else (count - 1) * spent
    residual = made.relative(float(made.history["residual"][count - 1]))
    compiled = compiling(made.compile_seconds)
    colour = sample(curve_style(run.style))["colour"]
    return [
        name,
        time_bar(setup, iterating, longest, colour, compiled),
        *({"key": value, "text": duration(value)} for value in (setup + iterating, setup, iterating)),
        count - 1,
        {"key": traffic, "text": "–" if traffic is None else amount(traffic),
         "tip": "not available" if traffic is None else "bytes that the iterations read and wrote, by count"},
        {"key": residual if math.isfinite(residual) else None, "text": relative(residual)},
        {"key": finish.amount, "text": amount_text(finish, measure), "tip": times_text(finish)} if finish else None,
        state,
    ]  # fmt: skip


def entry_label(entry: RaceEntry, run: ListedRun | None) -> str:
    """An entry in table and legend: its number in the race, and its name, which the user may have given."""
    return f"{entry.number}: {run.given or entry.name if run else entry.name}"


def fastest(entries: Sequence[RaceEntry], measure: str, samples: Samples, *, with_setup: bool) -> str:
    """HTML: the first entry at each tolerance that was reached, with those that are too close to it to call, and the
    factor by which the next is behind; empty where there is nothing to compare."""
    rows = []
    for tolerance in TOLERANCES if len(entries) > 1 else ():
        found = rank(entries, tolerance, measure, with_setup=with_setup, samples=samples)
        if not found.finished:
            break
        first, rest = found.finished[0], found.finished[len(found.winners) :]
        names = "; ".join(finish.entry.label for finish in found.winners) + (" so far" if found.open else "")
        factor = number(rest[0].amount / first.amount) if rest and first.amount > 0 else "–"
        following = rest[0].entry.label if rest else "–"
        rows.append([tick(tolerance, powers=True), names, amount_text(first, measure), following, factor])
    unit = (
        "time with setup"
        if measure == "seconds" and with_setup
        else "time without setup"
        if measure == "seconds"
        else measure
    )
    ahead = "Fastest" if measure == "seconds" else f"Fewest {measure}"
    heads = ("Tolerance", ahead, unit[0].upper() + unit[1:], "Next", "Factor")
    return html_table(heads, rows, numbers=(2, 4)) if rows else ""


def belonging(base: Configuration, chosen: Configuration, alive: bool) -> str:
    """HTML: the problem of the results where another one is chosen by now, and what Start does; else empty. base: the
    settings that the entries share. alive: they are active."""
    changed = differences(base, chosen)
    if not changed:
        return ""
    of, on = f"of {base.problem.label}", f"on {chosen.problem.label}"
    if "problem" not in changed:
        of, on = f"of another {each_of(changed)} than chosen now", "on what is chosen now"
    said = f"This race is {of}; when it has ended, " if alive else f"These results are {of}. "
    said += f"{'press Start to race' if alive else 'Start races'} the same methods {on}."
    return f'<p class="wb-belongs" role="status">{escape(said)}</p>'


def past(race: RaceRecord | None) -> str:
    """HTML: when and where an opened race ended; empty for none."""
    if race is None:
        return ""
    return f'<p class="wb-belongs" role="status">As it ended {escape(race.where)}. Start runs it here anew.</p>'


def compilation(entries: Sequence[RaceEntry]) -> str:
    """The time of compiling kernels for all entries, as a sentence; empty for next to nothing."""
    clause = compiling(sum(entry.made.compile_seconds for entry in entries if entry.made))
    return f"{clause[0].upper()}{clause[1:]}." if clause else ""


def measured_again(found: Ranking) -> str:
    """How the times were measured, as sentences; empty where every run was made once."""
    counts = [finish.times.count for finish in found.finished if finish.times is not None]
    if not counts:
        return ""
    if max(counts) == 1:
        return "Times and curves are those of a second run, with loaded kernels."
    runs = " to ".join(map(str, dict.fromkeys((min(counts), max(counts)))))
    medians = f"Times to tolerance are medians of {runs} more runs with loaded kernels."
    return f"{medians} Curves, setup and iterating are those of the median run."


def progress(race: Race, repeats: Repeats | None, problem: str, *, moved: bool) -> tuple[str, str]:
    """The progress of a race on a problem in words, and its tone. repeats: its runs that are made again. moved: the
    results are of another problem."""
    entries = race.entries
    about = f"{problem}, {counted(len(entries), 'entry', 'entries')}"
    rested = f"; {clause}" if (clause := waited(race.waited)) else ""
    match race.state:
        case State.QUEUED:
            return f"{about}: {queued(race.ahead)}", "busy"
        case State.RUNNING:
            return f"{about}: {_counted(race)}{rested}", "busy"
        case State.PAUSED:
            return f"{about}: paused; press Resume", "plain"
    if race.lingering:
        return f"{about}: stopped; the current step ends in the background", "plain"
    if repeats is not None and repeats.alive:
        again = "paused" if repeats.state is State.PAUSED else f"timing again, round {repeats.rounds + 1}"
        return f"{about}: all have ended; {again}", "busy"
    if race.state is State.DONE and not moved:
        stopped = sum(entry.outcome.reason is Reason.CANCELLED for entry in entries)
        ended = f"stopped, {stopped} before the end" if stopped else "all have ended"
        return f"{about}: {ended}{rested}", "good"
    return f"{about}: press Start" if entries else f"{about}; choose blocks and press Add entry", "plain"


def _counted(race: Race) -> str:
    """The states of the entries with their numbers: 1 setup, 2 waiting, 1 ended."""
    words = ["ended" if entry.ended else doing(entry, race) for entry in race.entries]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


def _missing() -> dict[str, Any]:
    return {"key": None, "text": ""}


def entry_table(act: Callable[[str, list[Any], str], object]) -> SortTable:
    """An empty table. act: called with a verb and the numbers of the entries that it is meant for."""
    table = SortTable(act, empty="No entry yet. Choose blocks and press Add entry.", low=LOW, lower=LOWER)
    table.verbs = list(VERBS)
    return table


def show_entries(
    table: SortTable,
    found: Ranking,
    entries: Sequence[RaceEntry],
    listed: Mapping[RaceEntry, ListedRun],
    race: Race,
    timed: Mapping[RaceEntry, Sample],
) -> None:
    """A row for each of the entries of a race, in this order. listed: the runs of those that have begun, in the list of
    runs. timed: by entry that was run again the run whose times are shown, see `ranking.timed_runs`."""
    finished = {finish.entry: finish for finish in found.finished}
    pairs = [(entry, listed.get(entry)) for entry in entries]
    times = {entry: _times(entry, timed.get(entry)) for entry in entries}
    longest = max(map(sum, times.values())) or 1.0 if times else 1.0
    said, usual = remarks(found), ("", "")
    rows = [
        row(
            entry,
            run,
            finished.get(entry),
            found.measure,
            longest,
            said.get(entry, usual) if run else usual,
            "" if entry.ended else doing(entry, race),
            times[entry],
        )
        for entry, run in pairs
    ]
    # One entry wins against nothing.
    winners = {finish.entry for finish in found.winners} if len(entries) > 1 else set()
    marks = ["failed" if has_failed(RunHandle(entry)) else "best" if entry in winners else "" for entry, _ in pairs]
    table.show(COLUMNS, rows, marks, [_facts(entry, run) for entry, run in pairs])


def _times(entry: RaceEntry, timed: Sample | None) -> tuple[float, float]:
    """Seconds of setup and iterations: of the run that stands for it, or of the only run so far."""
    if timed is not None:
        return timed.setup, float(timed.seconds[-1])
    return (entry.made.setup_seconds, entry.made.iteration_seconds) if entry.made is not None else (0.0, 0.0)


def _facts(entry: RaceEntry, run: ListedRun | None) -> dict[str, Any]:
    return {
        "id": entry.number,
        "style": sample(curve_style(run.style)) if run else None,
        "styled": f"style {run.style + 1}" if run else "none before the start",
        "title": entry_label(entry, run),
        "acts": ["remove", *([] if entry.ended else ["pause", "stop"] if run else ["pause"])],
        "words": {"pause": "Resume" if entry.held else "Pause"},
    }
