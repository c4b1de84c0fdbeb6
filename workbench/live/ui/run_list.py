"""All runs of a page: where each was started, its name and its style in every view, and which are chosen."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import threading
from collections.abc import Callable, Iterable, Sequence

from workbench.errors import InputError
from workbench.live.ui.listeners import Listeners
from workbench.live.ui.run_handle import ACTIVE, AnyRun, RunHandle
from workbench.records import Record
from workbench.run import RaceEntry, Result, Session
from workbench.run.cancellation import STOPPED_EARLY
from workbench.words.distinct import distinct_names
from workbench.words.names import Parts, method_name

KEPT = 100
"""Runs of one origin that are kept after their end, without their solutions. Pinned runs are kept in addition."""
LONGEST_NAME = 200
"""Characters of a name."""
MANY = 64
"""Styles that differ; runs of sweeps and papers use those after them, and leave the first ones to other runs."""
FIRST_OF_MANY = 1001
"""The first number of runs of sweeps and papers, so that the numbers of all others follow one another."""
SOLVE, RACE, SWEEP, OWN, INSPECT, FILE = "Solve", "Race", "Sweep", "Your method", "Inspect", "File"
PAPERS = "Papers"
"""Origins of runs."""
IN_NUMBERS = (SWEEP, PAPERS)
"""Origins whose runs come by the dozen."""


@dataclasses.dataclass(eq=False)
class ListedRun:
    """One run of the list. number: of the run on its page, from 1. given: the name that the user gave it, or "". style:
    index of its colour, dash and mark.

    hidden: it is in the list, but on no plot. pinned: it is listed first and never dropped.
    """

    number: int
    source: AnyRun
    origin: str
    given: str
    style: int
    hidden: bool = False
    pinned: bool = False
    _record: Record | None = None

    @functools.cached_property
    def parts(self) -> Parts:
        """The parts of its name, see `workbench.words.names.run_parts`, and that kernels are timed."""
        handle = RunHandle(self.source)
        return {**handle.parts, "timings": "with timings" if handle.traced else ""}

    @property
    def name(self) -> str:
        """The name that it was given, or its method."""
        return self.given or method_name(self.parts)

    @property
    def label(self) -> str:
        """Number and name, for a run that is shown alone."""
        return f"{self.number}: {self.name}"

    @property
    def handle(self) -> RunHandle:
        """The run, as views take it: the result of a race entry that has ended, else the source itself."""
        result = self.source.result if isinstance(self.source, RaceEntry) else None
        return RunHandle(result or self.source, self.label)

    @property
    def active(self) -> bool:
        """True while its session or race entry has not ended."""
        return isinstance(self.source, ACTIVE) and not self.source.ended

    @property
    def record(self) -> Record | None:
        """The run as plain data without its solution; None before it has a result, and for one that failed."""
        if self._record is None:
            if isinstance(self.source, Record):
                return self.source
            result = self.source.result if isinstance(self.source, ACTIVE) else self.source
            self._record = result.record() if isinstance(result, Result) else None
        return self._record

    @property
    def error(self) -> str:
        """The sentence of a run that failed."""
        return self.source.error if isinstance(self.source, ACTIVE) else ""

    @property
    def norm(self) -> str:
        """The norm by which the run stops; empty where a file does not say."""
        if isinstance(self.source, ACTIVE):
            return str(self.source.configuration.stopping.norm)
        return str(self.handle.provenance.get("configuration", {}).get("stopping", {}).get("norm", ""))

    def settle(self) -> None:
        """Replace a run that has ended by its record, which frees its vectors."""
        if not self.active and (record := self.record) is not None:
            self.source = record


def names(runs: Sequence[ListedRun], *without: str) -> list[str]:
    """A name for each of several runs: the given one, or what distinguishes it from the others.

    without: parts that are shown next to the name, see `distinct_names`.
    """
    found = distinct_names([run.parts for run in runs], *without)
    return [run.given or name for run, name in zip(runs, found, strict=True)]


def labels(runs: Sequence[ListedRun]) -> list[str]:
    """Number and name of each of several runs, for one legend or menu."""
    return [f"{run.number}: {name}" for run, name in zip(runs, names(runs), strict=True)]


def numbered(numbers: Sequence[int]) -> str:
    """Rising numbers of runs, consecutive ones as a range: runs 1 to 3, 7."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    texts = [f"{span[0]} to {span[-1]}" if len(span) > 2 else ", ".join(map(str, span)) for span in spans]
    return f"run{'s' * (len(numbers) != 1)} {', '.join(texts)}"


class RunList:
    """The runs of a page, oldest first, and the `chosen` ones. All methods may be called from any thread.

    Views read `runs`, and are notified of every change by `on_change`. A run that was stopped before its start leaves
    the list.

    Examples:
        >>> from workbench.live import RunList
        >>> from workbench.run import Run, configure, run_through
        >>> runs = RunList()
        >>> run = runs.add(run_through(Run(configure("two-layer", n=16))), "Solve")
        >>> runs.find(run.number) is run
        True
    """

    def __init__(self) -> None:
        self.runs: tuple[ListedRun, ...] = ()
        self.dropped = 0
        """Runs that have been dropped since there were more than `KEPT`."""
        self.acts: dict[str, Callable[[list[ListedRun]], object]] = {}
        """The acts on chosen runs that the page offers in every table: "inside", "timings", "race"."""
        self._chosen: frozenset[int] = frozenset()
        self._last = {False: 0, True: FIRST_OF_MANY - 1}
        """The highest numbers that were given, of single runs and of those that come by the dozen."""
        self._lock = threading.RLock()
        self._listeners = Listeners("the list of runs")

    @property
    def chosen(self) -> list[ListedRun]:
        """The chosen runs, oldest first."""
        return [run for run in self.runs if run.number in self._chosen]

    def of(self, *origins: str) -> list[ListedRun]:
        """The runs of some origins, oldest first."""
        return [run for run in self.runs if run.origin in origins]

    def find(self, number: int) -> ListedRun:
        """The run of a number. Raises InputError for one that is not in the list."""
        found = next((run for run in self.runs if run.number == number), None)
        if found is None:
            raise InputError(f"run {number} is not in the list of runs; it was deleted or dropped")
        return found

    def on_change(self, act: Callable[[], object]) -> None:
        """Call `act` after each change, on the thread that makes it; it should return at once."""
        self._listeners.add(act)

    def forget(self, act: Callable[[], object]) -> None:
        """Call `act` no more."""
        self._listeners.forget(act)

    def next_number(self, origin: str = "") -> int:
        """A number for `add`, for a run that must know its number when it is made."""
        with self._lock:
            many, taken = origin in IN_NUMBERS, {run.number for run in self.runs}
            self._last[many] = next(n for n in itertools.count(self._last[many] + 1) if n not in taken)
            return self._last[many]

    def add(
        self,
        source: AnyRun,
        origin: str,
        name: str = "",
        *,
        style: int | None = None,
        hidden: bool = False,
        pinned: bool = False,
        number: int = 0,
    ) -> ListedRun:
        """Add a run, started or not. name: by default one that distinguishes it. style: by default that of its file,
        where no other run has it, or the first free one. number: in a file, which it keeps where that is free."""
        with self._lock:
            free = number > 0 and all(other.number != number for other in self.runs)
            if free:
                self._last[number >= FIRST_OF_MANY] = max(self._last[number >= FIRST_OF_MANY], number)
            run = ListedRun(number if free else self.next_number(origin), source, origin, name, 0, hidden, pinned)
        self.enter(run, style)
        return run

    def enter(self, run: ListedRun, style: int | None = None, *, again: int | None = None) -> None:
        """Add a run that was made by the caller, in the first free style or in this one.

        again: the style of the run that this one repeats. A reader who knows it by its colour finds the new one in that
        colour, and a run of the same origin that has it in a free style; a run of another origin keeps it.
        """
        with self._lock:
            taken = {other.style for other in self.runs}
            first = MANY if run.origin in IN_NUMBERS else 0
            kept = run.source.style if isinstance(run.source, Record) else None
            free = next(index for index in (kept, *range(first, first + len(taken) + 1)) if index not in (None, *taken))
            run.style = free if style is None else style
            if again is not None:
                others = [other for other in self.runs if other.style == again]
                if all(other.origin == run.origin for other in others):
                    for other in others:
                        other.style = run.style
                    run.style = again
            self.runs = (*self.runs, run)
            self._drop_oldest(run.origin)
        if isinstance(run.source, Session):
            run.source.when_over(lambda: self._over(run))
        self.notify()

    def remove(self, *runs: ListedRun) -> None:
        """Take runs out of the list. An active run only leaves the list; the view that started it stops it."""
        with self._lock:
            self.runs = tuple(run for run in self.runs if run not in runs)
            self._chosen -= {run.number for run in runs}
        self.notify()

    def choose(self, numbers: Iterable[int]) -> None:
        """Let these be the chosen runs; numbers that are not in the list are left out."""
        found = frozenset(numbers) & {run.number for run in self.runs}
        if found != self._chosen:
            self._chosen = found
            self.notify()

    def rename(self, run: ListedRun, name: str) -> None:
        """Name a run. Raises InputError for an empty and for a long name."""
        name = " ".join(name.split())
        if not 1 <= len(name) <= LONGEST_NAME:
            raise InputError(f"a name has 1 to {LONGEST_NAME} characters, got {len(name)}; the run keeps its name")
        run.given = name
        self.notify()

    def restyle(self, run: ListedRun) -> None:
        """Give a run the next style that no other run has."""
        with self._lock:
            taken = {other.style for other in self.runs if other is not run}
            later = itertools.chain(range(run.style + 1, MANY), itertools.count())
            run.style = next(index for index in later if index not in taken)
        self.notify()

    def hide(self, runs: Iterable[ListedRun], hidden: bool) -> None:
        """Take runs off all plots, or put them back."""
        for run in runs:
            run.hidden = hidden
        self.notify()

    def pin(self, runs: Iterable[ListedRun], pinned: bool) -> None:
        """Pin runs, or release them."""
        for run in runs:
            run.pinned = pinned
        self.notify()

    def notify(self) -> None:
        """Notify all views that a run has changed."""
        self._listeners.notify()

    def _over(self, run: ListedRun) -> None:
        if run.error == STOPPED_EARLY:
            self.remove(run)
            return
        with self._lock:
            self._drop_oldest(run.origin)
        self.notify()

    def _drop_oldest(self, origin: str) -> None:
        ended = [run for run in self.runs if run.origin == origin and not run.active and not run.pinned]
        for gone in ended[: max(0, len(ended) - KEPT)]:
            self.runs = tuple(run for run in self.runs if run is not gone)
            self._chosen -= {gone.number}
            self.dropped += 1
