"""Texts of a race: its table with a row for each entry, the winner in a sentence, the fastest at each tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from workbench.live.compare.race_form import differences
from workbench.live.compare.sweep_text import each_of
from workbench.live.ui.run_handle import RunHandle
from workbench.live.ui.run_list import ListedRun
from workbench.live.ui.run_table import state_words
from workbench.live.ui.sort_table import SortTable, sample, time_bar
from workbench.plots.html_table import html_table
from workbench.plots.scenes.style import curve_style
from workbench.run import Configuration, Race, RaceEntry, State
from workbench.run.jobs.delay import held_up
from workbench.run.jobs.ranking import Finish, Ranking, rank
from workbench.words.numbers import amount, compiling, count, duration, number, queued, relative, rounded, tick

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
LOW = ["Setup", "Iterating", "Traffic"]
LOWER = ["‖r‖\u202f/\u202f‖b‖", "To tolerance"]
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Tolerances in the table of the fastest entries."""
NOTABLE = 0.1
"""Share of the time of an entry; one that waited for longer is named."""
VERBS = (
    {"name": "pause", "title": "Pause", "tip": "pause this entry, or resume it", "inline": True},
    {"name": "stop", "title": "Stop", "tip": "end this entry; what it has computed stays", "inline": True},
    {"name": "remove", "title": "Remove", "tip": "end this entry and take it out of the race", "inline": True},
)


def row(entry: RaceEntry, run: ListedRun | None, finish: Finish | None, measure: str, longest: float) -> list[Any]:
    """The cells of one entry. run: its run in the list, None before it has begun. longest: seconds of the slowest, for
    the bar of setup and iterations."""
    name = entry_label(entry, run)
    made = entry.run
    count = made.history.count if made is not None else 0
    words, tip = state_words(RunHandle(entry), entry.result.summary if entry.result else {})
    state = {"key": words, "text": words, "tip": tip}
    if made is None or run is None or not count:
        return [name, _missing(), *[None] * 7, state]
    setup, iterating, spent = made.setup_seconds, made.iteration_seconds, entry.iteration_bytes
    traffic = None if spent is None else (count - 1) * spent
    residual = made.relative(float(made.history["residual"][count - 1]))
    compiled = compiling(made.setup.phases.compile_seconds)
    colour = sample(curve_style(run.style))["colour"]
    return [
        name,
        time_bar(setup, iterating, longest, colour, compiled),
        *({"key": value, "text": duration(value)} for value in (setup + iterating, setup, iterating)),
        count - 1,
        {"key": traffic, "text": "–" if traffic is None else amount(traffic),
         "tip": "not available" if traffic is None else "bytes that the iterations read and wrote, by count"},
        {"key": residual if math.isfinite(residual) else None, "text": relative(residual)},
        {"key": finish.amount, "text": _amount(finish, measure)} if finish else None,
        state,
    ]  # fmt: skip


def entry_label(entry: RaceEntry, run: ListedRun | None) -> str:
    """An entry in the table; in the list of runs it has a number, and perhaps a name given by the user."""
    return f"{run.number}: {run.given or entry.name}" if run else entry.name


def fastest(entries: Sequence[RaceEntry], measure: str, *, with_setup: bool) -> str:
    """HTML: the first entry at each tolerance that was reached, and the factor by which the next is behind; empty where
    there is nothing to compare."""
    rows = []
    for tolerance in TOLERANCES if len(entries) > 1 else ():
        found = rank(entries, tolerance, measure, with_setup=with_setup)
        if not found.finished:
            break
        first, rest = found.finished[0], found.finished[len(found.winners) :]
        names = ", ".join(finish.entry.label for finish in found.winners) + (" so far" if found.open else "")
        factor = number(rest[0].amount / first.amount) if rest and first.amount > 0 else "–"
        following = rest[0].entry.label if rest else "–"
        rows.append([tick(tolerance, powers=True), names, _amount(first, measure), following, factor])
    unit = (
        "time with setup"
        if measure == "seconds" and with_setup
        else "time without setup"
        if measure == "seconds"
        else measure
    )
    heads = ("Tolerance", "Fastest", unit[0].upper() + unit[1:], "Next", "Factor")
    return html_table(heads, rows, numbers=(2, 4)) if rows else ""


def sentence(found: Ranking, aim: float, *, alone: bool = False) -> str:
    """The winner at the tolerance and by how much it leads, or why there is none. aim: where the entries stop. alone:
    there is one entry, which wins against nothing."""
    at = f"At a relative residual of {rounded(found.tolerance)}"
    if not found.finished:
        return " ".join([_why_no_winner(found, at, aim, alone), *_left_out(found)])
    first = found.finished[0]
    parts = [] if found.measure == "iterations" else [f"{count(first.iterations)} iterations"]
    parts += [f"setup {duration(first.setup)}"] if first.setup else []
    counted = f" ({', '.join(parts)})" if parts else ""
    if alone:
        reached = (
            f"Reached a relative residual of {rounded(found.tolerance)} in {_amount(first, found.measure)}{counted}"
        )
        return " ".join([f"{reached}; add a method to compare.", *_left_out(found)])
    by = found.measure
    by += (" with setup" if found.with_setup else " without setup") if by == "seconds" else ""
    names = " and ".join(_name(finish.entry) for finish in found.winners)
    verb = "wins" if len(found.winners) == 1 else "win together"
    so_far = " so far" if found.open else ""
    parts = [f"{at} {names} {verb} by {by}{so_far}: {_amount(first, found.measure)}{counted}"]
    rest = found.finished[len(found.winners) :]
    if rest:
        parts.append(f"next is {_name(rest[0].entry)} with {_amount(rest[0], found.measure)}{_times(rest[0], first)}")
    return " ".join(["; ".join(parts) + ".", *_left_out(found)])


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


def compilation(entries: Sequence[RaceEntry]) -> str:
    """The time of compiling kernels for all entries, as a sentence; empty for next to nothing."""
    clause = compiling(sum(entry.run.setup.phases.compile_seconds for entry in entries if entry.run))
    return f" {clause[0].upper()}{clause[1:]}." if clause else ""


def progress(race: Race, problem: str, *, moved: bool) -> tuple[str, str]:
    """The progress of a race on a problem in words, and its tone. moved: the results are of another problem."""
    entries = race.entries
    about = f"{problem}, {len(entries)} {'entry' if len(entries) == 1 else 'entries'}"
    match race.state:
        case State.QUEUED:
            return f"{about}: {queued(race.ahead)}", "busy"
        case State.RUNNING:
            return f"{about}: running, {sum(entry.ended for entry in entries)} ended", "busy"
        case State.PAUSED:
            return f"{about}: paused; press Resume", "plain"
    if race.lingering:
        return f"{about}: stopped; the current step ends in the background", "plain"
    if race.state is State.DONE and not moved:
        return f"{about}: all have ended", "good"
    return f"{about}: press Start" if entries else f"{about}; choose blocks and press Add entry", "plain"


def finer(tolerance: float, aim: float) -> bool:
    """True if entries that stop at `aim` need not reach a tolerance."""
    return tolerance < aim * (1 - 1e-9)


def _why_no_winner(found: Ranking, at: str, aim: float, alone: bool) -> str:
    if alone:
        if found.open:
            return f"A relative residual of {rounded(found.tolerance)} is not reached yet."
        again = f"; run it again to {rounded(found.tolerance)}" if finer(found.tolerance, aim) else ""
        stops = f": the entry stops at {rounded(aim)}{again}" if again else ""
        return f"A relative residual of {rounded(found.tolerance)} was not reached{stops}."
    if not finer(found.tolerance, aim):
        return f"{at} there is no winner yet." if found.open else f"{at} there is no winner: no entry reached it."
    then = "" if found.open else f"; run them again to {rounded(found.tolerance)}"
    return f"{at} there is no winner, since the entries stop at {rounded(aim)}{then}."


def _disturbed(found: Ranking) -> list[tuple[tuple[RaceEntry], str]]:
    """Entries that waited for the cores for more than a tenth of their time, and when; none unless seconds decide."""
    if found.measure != "seconds":
        return []
    clocks = [(finish.entry, finish.entry.run.history["seconds"]) for finish in found.finished if finish.entry.run]
    disturbed = []
    for entry, clock in clocks:
        lost, late = held_up(clock)
        if lost > NOTABLE * clock[-1]:
            at = count(late[0]) if late.size == 1 else f"{count(late[0])} to {count(late[-1])}"
            when = f"for {duration(lost)} in iteration{'s' * (late.size > 1)} {at}"
            why = f"held up by other work on this machine {when}, so its times are too long"
            disturbed.append(((entry,), why))
    return disturbed


def _name(entry: RaceEntry) -> str:
    return f"entry {entry.number} ({entry.name})"


def _times(later: Finish, first: Finish) -> str:
    return f", {number(later.amount / first.amount)} times as much" if first.amount > 0 else ""


def _left_out(found: Ranking) -> list[str]:
    """Entries that are not ranked, and why."""
    reasons = (
        (found.open, "still running and could win" if found.finished else "still running and could reach it"),
        (found.residual_gap, "not ranked, since its residual gap opened before"),
        *_disturbed(found),
        (found.uncounted, "left out, since the bytes of its iterations differ or are not known"),
        *(((entry,), entry.error) for entry in found.failed),
    )
    reported = [f"{', '.join(_name(entry) for entry in entries)}: {why}." for entries, why in reasons if entries]
    return [text[0].upper() + text[1:] for text in reported]


def _amount(finish: Finish, measure: str) -> str:
    match measure:
        case "iterations":
            return count(finish.iterations) + (" iterations" if finish.iterations != 1 else " iteration")
        case "seconds":
            return duration(finish.amount)
    return amount(finish.amount)


def _missing() -> dict[str, Any]:
    return {"key": None, "text": ""}


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
