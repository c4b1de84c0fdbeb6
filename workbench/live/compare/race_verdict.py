"""The verdict of a race in one line, and a remark on each entry whose time or place needs one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence

from workbench.machines.processor import usable_cores
from workbench.problems import Problem
from workbench.run import RaceEntry
from workbench.run.jobs.ranking import Finish, Ranking, delay
from workbench.words.names import problem_parts, sentence_case, shortened
from workbench.words.numbers import amount, count, counted, duration, number, percent, rounded

LONGEST = 100
"""Characters of a verdict, so that it is one line in a message or a caption."""
SHORTEST = (12, 6)
"""Characters that are left of a name that has to be cut; fewer where that does not suffice."""
NOTABLE = 0.1
"""Share of the time of an entry; one that waited for longer has a remark."""
AHEAD = {"seconds": "ahead of", "iterations": "fewer than", "bytes": "less than"}
TAKEN = {"seconds": "in", "iterations": "in", "bytes": "with"}
"""The word between an entry and its amount, since names may end in a number: Schwarz 2 × 2 in 13 iterations."""


def verdict(
    found: Ranking, problem: Problem, aim: float, *, entries: Sequence[RaceEntry], cores: int | None = None
) -> str:
    """The winner at the tolerance, and how far it is ahead of the next, in at most `LONGEST` characters; or why there
    is no winner.

    aim: where the entries stop. cores: of the machine, by default of this one. One entry wins against nothing, and
    entries that are too close to call do not win.
    """
    if not found.finished:
        return _no_winner(found, aim, alone=len(entries) == 1)
    winners, best = found.winners, found.finished[0]
    words, head = sentence_case(problem.words), f"{_size_text(problem)}, {_machine(entries, cores)}:"
    said = f"{TAKEN[found.measure]} {amount_text(best, found.measure, 2)}"
    so_far = " so far" if found.open else ""
    names = [finish.entry.name for finish in winners]
    if len(entries) == 1:
        return _fitted(lambda on, one: f"{on}{head} {one} {said}; add a method to compare", words, *names)
    if len(names) > 1 and found.measure == "seconds":
        times = " to ".join(dict.fromkeys(amount_text(finish, found.measure, 2) for finish in (best, winners[-1])))
        close = f"are too close to call{so_far}"
        if len(names) > 2:
            return _fitted(lambda on: f"{on}{head} {len(names)} methods {close}, {times}", words)
        whole = f"{words}{head} {' and '.join(names)} {close}, {times}"
        if len(whole) <= LONGEST:
            return whole
        return _fitted(lambda on, one, two: f"{on}{head} {one} and {two} {close}", words, *names)
    first = " and ".join(names) if len(names) < 3 else f"{len(names)} methods"
    behind = found.finished[len(winners) :]
    if not behind or best.amount <= 0:
        return _fitted(lambda on, one: f"{on}{head} {one} {said}{so_far}", words, first)
    ratio = behind[0].amount / best.amount
    ahead = f"{number(ratio, 2 if ratio >= 1.05 else 3)} times {AHEAD[found.measure]}"
    others = {sentence_case(entry.name) for entry in entries}
    return _fitted(
        lambda on, one, two: f"{on}{head} {one} {said}, {ahead} {two}{so_far}",
        words,
        first,
        behind[0].entry.name,
        others=others,
    )


def finer(tolerance: float, aim: float) -> bool:
    """True if entries that stop at `aim` need not reach a tolerance."""
    return tolerance < aim * (1 - 1e-9)


def amount_text(finish: Finish, measure: str, digits: int = 3) -> str:
    """The amount of a finish with its unit; a time that was measured several times with its spread."""
    match measure:
        case "iterations":
            return count(finish.iterations) + (" iterations" if finish.iterations != 1 else " iteration")
        case "seconds":
            text = duration(finish.amount, digits)
            spread = finish.times.spread if finish.times is not None and finish.times.count > 1 else 0.0
            return f"{text} ± {percent(spread)}" if spread and digits > 2 else text
    return amount(finish.amount)


def times_text(finish: Finish) -> str:
    """A sentence on a time that is a median; empty for others."""
    times = finish.times
    if times is None:
        return ""
    return (
        f"Median of {counted(times.count, 'more run')}, whose setups load no kernels: between "
        f"{duration(times.low)} and {duration(times.high)}."
    )


def remarks(found: Ranking) -> Mapping[RaceEntry, tuple[str, str]]:
    """By entry a word for its row, and the reason as a sentence: those whose time other work disturbed, and those that
    are not ranked though they have ended."""
    made = {entry: ("disturbed", f"{why}.") for entry, why in _disturbed(found)}
    gap = "Not ranked: its residual gap opened before it reached the tolerance."
    made |= dict.fromkeys(found.residual_gap, ("not ranked", gap))
    unknown = "Not ranked: the bytes of its iterations differ or are not known."
    made |= dict.fromkeys(found.uncounted, ("not ranked", unknown))
    return made


def _no_winner(found: Ranking, aim: float, *, alone: bool) -> str:
    at = rounded(found.tolerance)
    if not finer(found.tolerance, aim):
        return f"No entry has reached {at} yet." if found.open else f"No entry reached {at}."
    stops = f"{'The entry stops' if alone else 'The entries stop'} at {rounded(aim)}"
    return f"{stops}." if found.open else f"{stops}; run {'it' if alone else 'them'} again to {at}."


def _disturbed(found: Ranking) -> list[tuple[RaceEntry, str]]:
    """Entries that waited for the cores for more than a tenth of their time, and when; none where seconds do not
    decide, and none whose time is a median."""
    if found.measure != "seconds":
        return []
    single = [finish.entry for finish in found.finished if finish.times is None]
    disturbed = []
    for entry, clock in ((entry, entry.made.history["seconds"]) for entry in single if entry.made):
        lost, late = delay(clock)
        if lost > NOTABLE * clock[-1]:
            at = count(late[0]) if late.size == 1 else f"{count(late[0])} to {count(late[-1])}"
            when = f"for {duration(lost)} in iteration{'s' * (late.size > 1)} {at}"
            disturbed.append((entry, f"Other work on this machine delayed it {when}, so its time is overstated"))
    return disturbed


def _size_text(problem: Problem) -> str:
    """The size behind the words of a problem: 256²; empty for one that has no size of its own."""
    size = problem_parts(problem).get("size", "")
    return f" {size}" if size else ""


def _machine(entries: Sequence[RaceEntry], cores: int | None) -> str:
    """The device that all entries share, the number of cores for the CPU; "this machine" for several devices."""
    devices = {entry.configuration.device: entry.configuration.parts["device"] for entry in entries}
    if set(devices) == {"cpu"}:
        cores = cores or usable_cores()
        return counted(cores, "core")
    return next(iter(devices.values())).removeprefix("on ") if len(devices) == 1 else "this machine"


def _fitted(write: Callable[..., str], problem: str, *names: str, others: Collection[str] = ()) -> str:
    """A text whose problem and names are cut where it would be longer than `LONGEST`: the place of bubbles first, then
    the last name, and those before it, and what is left of the problem. Where all names would be cut, or
    be the same, or be that of another entry, they keep more, as the page shows the problem anyway."""
    cut = [problem, *names]
    if len(write(*cut)) > LONGEST:
        cut[0] = problem.partition(" in ")[0]
    for least, place in itertools.product(SHORTEST, reversed(range(len(cut)))):
        over = len(write(*cut)) - LONGEST
        if over > 0:
            cut[place] = shortened(cut[place], max(least, len(cut[place]) - over))
    misread = any(each not in names and sentence_case(each.removesuffix("…")) in others for each in cut[1:])
    all_cut = len(names) > 1 and not set(names) & set(cut[1:])
    if problem and (misread or all_cut or len(set(cut[1:])) < len(set(names))):
        return _fitted(write, "", *names, others=others)
    if len(write(*cut)) > LONGEST:
        # Of the problem its size alone, which may be many words.
        cut[0] = ""
    return shortened(write(*cut).lstrip(" ,"), LONGEST)
