"""Texts on the rows of a sweep: the best run, failed runs, the time left."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.live.ui.run_table import CONVERGED, ended_words
from workbench.live.ui.sort_table import cell
from workbench.run.jobs.sweeping import Row
from workbench.settings import METHOD
from workbench.words import numbers
from workbench.words.names import choice_name, choice_text, sentence_case
from workbench.words.numbers import compiling, count, duration

BEST, SEED = "best", "seed"
VALUES = {
    "iterations": "iterations",
    "setup + iteration seconds": "seconds",
    "iteration seconds": "iteration_seconds",
    "setup seconds": "setup_seconds",
}
"""The values that compare runs: the words for each, and its name in `spent`."""
WHAT = {name: text.removesuffix(" seconds") for text, name in VALUES.items()}
COLUMNS = {
    "N": ("N", ""),
    "iterations": ("iterations", ""),
    "setup_seconds": ("setup", "s"),
    "iteration_seconds": ("iterating", "s"),
    "seconds": ("setup + iterating", "s"),
    "true_relative_residual": ("true relative residual", ""),
}
"""Columns of the table next to the choices: the heading and, where it has one, the unit."""
LOWER = ["N", "true relative residual"]
WORKER = "worker"
"""The last column of a sweep on workers."""
STATE = "state"
"""The last column, where not every run has converged."""
UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))


def spent(row: Row, value: str) -> float:
    """The value of a run: a field of its row, or `seconds` for setup and iterations together. NaN unless it
    converged."""
    if not row["converged"]:
        return math.nan
    return row["setup_seconds"] + row["iteration_seconds"] if value == "seconds" else row[value]


@dataclasses.dataclass(frozen=True, eq=False)
class Runs:
    """Rows of a sweep over these choices, compared by a value, as `spent` takes it; what: that value in words; owner:
    the problem by name."""

    rows: Sequence[Row]
    over: Mapping[str, Sequence[Any]]
    value: str
    what: str
    owner: str = ""

    def name(self, choice: str) -> str:
        """A choice in words."""
        return choice_name(choice, self.owner)

    def text(self, choice: str, value: object) -> str:
        """A value of a choice in words."""
        return choice_text(choice, value)

    def chosen_text(self, choice: str, value: object) -> str:
        """A value of a choice, which names a block by itself and a number with the choice."""
        text = self.text(choice, value)
        return text if choice in METHOD else f"{self.name(choice)} {text}"

    @property
    def varied(self) -> list[str]:
        """Choices with more than one value."""
        return [name for name, values in self.over.items() if len(values) > 1]

    @property
    def numeric(self) -> list[str]:
        """Choices that vary and whose values are numbers."""
        return [name for name in self.varied if all(_is_number(value) for value in self.over[name])]

    @property
    def timed(self) -> bool:
        return self.what.endswith("seconds")

    @property
    def title(self) -> str:
        """The value without its unit."""
        return f"{self.what.removesuffix(' seconds')} time" if self.timed else self.what

    def best(self, **chosen: object) -> tuple[float, int]:
        """The smallest value of the converged runs with these choices, the lower median over the seeds where these
        vary, and the place of that run; NaN, -1 for none."""
        found = self._by_seed(chosen)
        return found[(len(found) - 1) // 2] if found else (math.nan, -1)

    def spread(self, **chosen: object) -> tuple[float, float]:
        """The least and the largest value over the seeds with these choices; NaN for none."""
        found = self._by_seed(chosen)
        return (found[0][0], found[-1][0]) if found else (math.nan, math.nan)

    def repeated(self, *shown: str) -> bool:
        """True if runs differ in their seeds, which is none of the choices that a plot shows."""
        return SEED in self.varied and SEED not in shown

    def _by_seed(self, chosen: Mapping[str, object]) -> list[tuple[float, int]]:
        """The smallest value of the converged runs with these choices and its place, for each seed, ascending."""
        best: dict[object, tuple[float, int]] = {}
        for place, row in enumerate(self.rows):
            took = spent(row, self.value)
            if not math.isnan(took) and all(row[name] == value for name, value in chosen.items()):
                seed = row[SEED] if self.repeated(*chosen) else None
                best[seed] = min(best.get(seed, (math.inf, -1)), (took, place))
        return sorted(best.values())

    def words(self, place: int, **chosen: object) -> list[str]:
        """A run in words: its number, its choices and its value. chosen: of the point that it stands for."""
        row = self.rows[place]
        named = [self.chosen_text(name, row[name]) for name in self.varied]
        took = spent(row, self.value)
        said = ["not converged" if math.isnan(took) else f"{self.title} {self.say(took)}"]
        if chosen and self.repeated(*chosen):
            low, high = self.spread(**chosen)
            said.append(f"{len(self.over[SEED])} seeds: {self.say(low)} to {self.say(high)}")
        return [f"run {place + 1}", *named, *said]

    def say(self, took: float) -> str:
        return duration(took) if self.timed else count(round(took))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def columns(
    rows: Sequence[Row], over: Mapping[str, Sequence[Any]], owner: str = ""
) -> tuple[list[str], list[list[Any]]]:
    """Headings and cells of the table; all times are in the unit that suits the longest. owner: the problem by name."""
    whole = [{**row, "seconds": _total(row)} for row in rows]
    unit, factor = unit_of([row["seconds"] for row in whole])
    heads = [choice_name(name, owner) for name in over]
    heads += [f"{head} [{unit}]" if timed else head for head, timed in COLUMNS.values()]
    scales = {name: factor for name, (_, timed) in COLUMNS.items() if timed}
    states = [ended_words(row) for row in rows]
    cells = [
        [*(_cell(name, row[name]) for name in over), *(_scaled(row[name], scales.get(name)) for name in COLUMNS)]
        for row in whole
    ]
    place = heads.index(f"setup [{unit}]")
    for row, shown in zip(rows, cells, strict=True):
        if compiled := compiling(row.get("compile_seconds")):
            shown[place] = {**cell(shown[place]), "tip": compiled}
    if set(states) - {CONVERGED}:
        heads.append(STATE)
        for row, words, shown in zip(rows, states, cells, strict=True):
            shown.append({"key": words, "text": words, "tip": row["reason"]})
    if any(row.get("worker") for row in rows):
        heads.append(WORKER)
        for row, shown in zip(rows, cells, strict=True):
            shown.append(_worker(row))
    return heads, cells


def low(heads: Sequence[str]) -> list[str]:
    """The columns that a table next to its plot leaves out: the parts of a time, whose sum stays."""
    return [head for head in heads if head.startswith(("setup [", "iterating ["))]


def _worker(row: Row) -> dict[str, str]:
    """The worker that made a run, and whether others were lost in it."""
    address, repeats = str(row.get("worker", "")), row.get("repeats", 0)
    again = f", repeated {'once' if repeats == 1 else f'{repeats} times'}" if repeats else ""
    tip = "the worker that had this run before was lost, so it was begun again" if repeats else address
    return {"key": address, "text": address.partition("://")[2] + again, "tip": tip}


def unit_of(seconds: Sequence[float | None]) -> tuple[str, float]:
    """The unit that suits the longest of some times in s, and how many of it are a second."""
    most = max((value for value in seconds if value is not None and math.isfinite(value)), default=1.0)
    return next((entry for entry in UNITS if most * entry[1] >= 1), UNITS[-1])


def _total(row: Row) -> float | None:
    parts = row["setup_seconds"], row["iteration_seconds"]
    return None if None in parts else sum(parts)


def _cell(name: str, value: object) -> float | dict[str, str]:
    """A value of a choice: a number is sorted as one."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return {"key": str(value), "text": choice_text(name, value), "tip": str(getattr(value, "text", value))}


def _scaled(value: Any, factor: float | None) -> Any:
    return value if factor is None or value is None else value * factor


def marks(rows: Sequence[Row], over: Mapping[str, Sequence[Any]], value: str) -> list[str]:
    """For each row "best" where no other of the same system took less and one took more, "failed" where it gave
    nothing, else nothing."""
    best: dict[tuple[Any, ...], tuple[float, float]] = {}
    for row in rows:
        took = spent(row, value)
        if not math.isnan(took):
            least, most = best.get(_system(row, over), (took, took))
            best[_system(row, over)] = min(least, took), max(most, took)
    return [_mark(row, best.get(_system(row, over)), value) for row in rows]


def answer(
    rows: Sequence[Row], over: Mapping[str, Sequence[Any]], value: str, say: Callable[[float], str], owner: str = ""
) -> str:
    """The method with the smallest value for each system, and the time of compiling; empty where no method is better.

    say: a value in words. owner: the problem by name.
    """
    methods = [name for name in over if name in METHOD and len(over[name]) > 1]
    best = [row for row, mark in zip(rows, marks(rows, over, value), strict=True) if mark == BEST]
    if not (methods and best):
        return ""
    names = [sentence_case(", ".join(choice_text(name, row[name]) for name in methods)) for row in best]
    least = "the fewest iterations" if value == "iterations" else f"the least time ({WHAT[value]})"
    systems = [name for name, values in over.items() if name not in METHOD and len(values) > 1]
    each = f" for each choice of {each_of(systems, owner)}" if systems else ""
    if len(set(names)) == 1:
        took = sorted({spent(row, value) for row in best})
        found = f"{names[0]} takes {least}{each}: {' to '.join(map(say, dict.fromkeys((took[0], took[-1]))))}."
    else:
        counts = collections.Counter(names).most_common()
        of = "; ".join(f"{name} for {times} of {len(best)}" for name, times in counts)
        found = f"{sentence_case(least)}{each}: {of}."
    compiled = compiling(sum(row.get("compile_seconds") or 0.0 for row in rows))
    return " ".join(filter(None, (found, compiled and f"{sentence_case(compiled)}.")))


def absences(rows: Sequence[Row], over: Mapping[str, Sequence[Any]], down: str, across: str) -> list[list[str]]:
    """For each pair of choices why there is no value: not converged, failed, or nothing where none was run yet."""
    names = {"down": over[down] if down != across else [None], "across": over[across]}
    found = [["" for _ in names["across"]] for _ in names["down"]]
    for row in rows:
        place = 0 if down == across else names["down"].index(row[down])
        at = names["across"].index(row[across])
        if not row["converged"] and found[place][at] != "not converged":
            found[place][at] = "failed" if row["iterations"] is None else "not converged"
    return found


def shortfall(rows: Sequence[Row]) -> str:
    """A clause on the numbers of runs that failed and that did not converge; empty where there are none."""
    failed = sum(row["iterations"] is None for row in rows)
    short = sum(not row["converged"] for row in rows) - failed
    return (f", {failed} failed" if failed else "") + (f", {short} did not converge" if short else "")


def remaining(elapsed: float, done: float, of: float) -> str:
    """The time left at the mean rate so far; elapsed in s, done and of in any unit.

    Larger problems at the end take longer.
    """
    left = elapsed / done * (of - done)
    if left < 90:
        return f"about {max(1, round(left))} s left at the rate so far"
    return f"about {left / 60:.0f} min left at the rate so far" if left < 5400 else f"about {left / 3600:.1f} h left"


def counted(over: Mapping[str, Sequence[Any]], owner: str = "") -> str:
    """The number of runs as a product, in words. owner: the problem by name."""
    runs = math.prod(len(values) for values in over.values())
    factors = " × ".join(f"{len(values)} ({choice_name(name, owner)})" for name, values in over.items())
    return f"{numbers.counted(runs, 'run')} = {factors}"


def each_of(names: Sequence[str], owner: str = "") -> str:
    """Choices in a list for people."""
    words = [choice_name(name, owner) for name in names]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def left_out(gone: Sequence[str], owner: str) -> str:
    """The rest of a sentence about a new problem, which does not have these choices. owner: the one before, by name."""
    if not gone:
        return ""
    said = ("is", "varies", "it") if len(gone) == 1 else ("are", "vary", "them")
    return "; {} {} none of its parameters and {} no more, until a problem has {} again".format(
        each_of(gone, owner), *said
    )


def _system(row: Row, over: Mapping[str, Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(row[name] for name in over if name not in METHOD)


def _mark(row: Row, range_: tuple[float, float] | None, value: str) -> str:
    if row["iterations"] is None:
        return "failed"
    took = spent(row, value)
    return BEST if range_ and took == range_[0] < range_[1] else ""
