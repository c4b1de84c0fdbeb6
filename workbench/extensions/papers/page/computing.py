"""The points of an item at the values that its parameters are turned to: the latest only, each computed once."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.errors import InputError, error_message
from workbench.extensions.papers.comparison import Row
from workbench.extensions.papers.items import Case, Curve, Item, Solved, Values, Work
from workbench.extensions.papers.results import RESULTS
from workbench.live.transport.worker import LatestOnly
from workbench.records import Record
from workbench.run import MACHINE, Configuration, Result, Session
from workbench.run.jobs.run_queue import QueueSlot
from workbench.run.jobs.thread_job import ThreadJob
from workbench.words.numbers import counted

LOOK = 0.02
"""Seconds between two checks for another value."""
SETTLED = 1.0
"""Seconds without a turn after which runs go into the list."""
UNLISTED = 200
"""Runs that wait for a place in the list, at most."""


class OvertakenError(Exception):
    """Another value was turned to, or the computation was stopped."""


@dataclasses.dataclass(frozen=True, eq=False)
class Computed:
    """The rows and curves at some values. before: curves that were complete last, at other values. left: works that are
    not done.

    made: day and machine, of results that come with the package. words: the present work in words. failed: a sentence
    for each work without a result. whole: all is done.
    """

    values: dict[str, Any]
    rows: Sequence[Row] = ()
    curves: Sequence[Curve] = ()
    before: Sequence[Curve] = ()
    left: int = 0
    works: int = 0
    made: str = ""
    words: str = ""
    failed: tuple[str, ...] = ()
    stopped: bool = False
    whole: bool = False

    @property
    def busy(self) -> bool:
        return bool(self.words)


class Computing:
    """Computes the points of an item in a thread of its own. Solves take turns with all other runs of the machine.

    changed: called from that thread whenever there is more to show. listed: is given the records of the runs made, once
    the values have settled.
    """

    def __init__(self, item: Item, changed: Callable[[], object], listed: Callable[[list[Record]], object]) -> None:
        self.item = item
        self.latest = Computed(item.paper_values)
        self._changed, self._listed = changed, listed
        self._worker = LatestOnly("workbench-paper")
        self._stopping = threading.Event()
        self._turned = 0.0
        self._unlisted: dict[Configuration, Record] = {}

    def turn(self, values: Values) -> None:
        """Compute at these values in place of those before; returns at once."""
        self._stopping.clear()
        self._turned = time.monotonic()
        self._worker.ask(lambda: self._compute(dict(values)))

    def show(self, computed: Computed) -> None:
        """Show known results in place of what is being computed."""
        self._worker.ask(lambda: self._show(computed))

    def stop(self) -> None:
        """End the computation; its points stay."""
        self._stopping.set()

    def close(self) -> None:
        """Compute no more."""
        self._stopping.set()
        self._worker.close()

    def wait(self, timeout: float) -> bool:
        """Wait until all is computed; False when that takes longer than `timeout` seconds."""
        return self._worker.wait(timeout)

    def _compute(self, values: dict[str, Any]) -> None:
        latest = self.latest
        before = latest.curves if latest.whole else latest.before or latest.curves
        cases: list[Case] = []
        try:
            cases = list(self.item.cases(values))
            self._show(Computed(values, rows=[case.row for case in cases], before=before, words="the model"))
            cases = [case.with_model() for case in cases]
            self._work_off(Computed(values, before=before, works=len(_placed(cases))), cases)
            # Whoever turns on is still looking for a value: no runs of that in the list.
            if self._rests():
                self._list(cases)
        except OvertakenError:
            stopped = self._stopping.is_set()
            self._show(dataclasses.replace(self.latest, words="", stopped=stopped))
            if stopped:
                self._list(cases)
        except Exception as error:
            self._show(Computed(values, failed=(error_message(error),)))

    def _work_off(self, shown: Computed, cases: list[Case]) -> None:
        """Compute the works without a known result, and show all after each. Raises OvertakenError."""
        works = _placed(cases)
        known = {at: found for at, work in works.items() if (found := RESULTS.get(work)) is not None}

        def so_far(**state: Any) -> Computed:
            failed = [said for at in sorted(known) if (said := _failed(works[at], known[at]))]
            there = {at: found for at, found in sorted(known.items()) if not _failed(works[at], found)}
            rows = self.item.rows(cases, there)
            curves = [*self.item.curves(rows), *(each for at in there for each in works[at].curves(there[at]))]
            left = len(works) - len(known)
            return dataclasses.replace(shown, rows=rows, curves=curves, left=left, failed=tuple(failed), **state)

        for at, work in works.items():
            if at not in known:
                self._show(so_far(words=work.words))
                known[at] = self._done(work)
                if not isinstance(known[at], InputError):
                    RESULTS.put(work, known[at])
        self._show(so_far(before=(), whole=True))

    def _done(self, work: Work) -> Any:
        """The result of a work, or the sentence of its failure. Raises OvertakenError."""
        records: list[Record] = []

        def solve(configuration: Configuration) -> Result:
            result = self._solved(configuration)
            if configuration == work.what and not records:
                records.append(result.record())
            return result

        try:
            if not isinstance(work.what, Configuration):
                return self._called(work.what)
            found = work.done(solve)
        except InputError as error:
            return error
        if records:
            self._unlisted[work.what] = records[0]
        while len(self._unlisted) > UNLISTED:
            del self._unlisted[next(iter(self._unlisted))]
        return found

    def _list(self, cases: list[Case]) -> None:
        """Put the runs that are shown into the list, also those that were made before their values settled."""
        solves = [work.what for work in _placed(cases).values() if isinstance(work.what, Configuration)]
        shown = [self._unlisted.pop(each, None) for each in solves]
        self._listed([record for record in shown if record is not None])

    def _solved(self, configuration: Configuration) -> Result:
        session = Session(configuration)
        session.start()
        self._follow(session)
        return session.wait()

    def _called(self, work: Callable[[], Any]) -> Any:
        """The result of a function that uses the machine as a run does. The function cannot be interrupted; a result
        that comes after it was overtaken is lost."""
        found: list[Any] = []

        def call() -> None:
            job.slot.enqueue()
            job.slot.acquire(unless=lambda: job.stopping)
            found.append(work())

        job = ThreadJob(call, "workbench-paper-step", QueueSlot(MACHINE))
        job.start()
        self._follow(job)
        if not found:
            raise InputError(job.error or "it returned nothing")
        return found[0]

    def _follow(self, job: ThreadJob) -> None:
        """Wait for the end of a job, or end it once it is of no more interest."""
        while job.working:
            job.join(LOOK)
            if self._stopping.is_set() or self._worker.overtaken():
                job.stop()
                raise OvertakenError
        if self._stopping.is_set() or self._worker.overtaken():
            raise OvertakenError

    def _rests(self) -> bool:
        left = self._turned + SETTLED - time.monotonic()
        return left <= 0 or not self._worker.overtaken(left)

    def _show(self, computed: Computed) -> None:
        self.latest = computed
        self._changed()


def _placed(cases: Sequence[Case]) -> Mapping[tuple[int, int], Work]:
    """All works by the places of the case and of the work in it."""
    return {(at, place): work for at, case in enumerate(cases) for place, work in enumerate(case.works)}


def _failed(work: Work, found: object) -> str:
    """Why a work has no points; "" where it has."""
    if isinstance(found, InputError):
        return f"{work.words}: {found}"
    if isinstance(found, Solved) and not found.converged:
        return f"{work.words}: no convergence in {counted(int(found.iterations), 'iteration')}"
    return ""
