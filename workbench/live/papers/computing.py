"""The points of an item at the values that its parameters are turned to: the latest only, each computed once."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from workbench.errors import InputError, error_message
from workbench.live.transport.worker import LatestOnly
from workbench.papers.items import Curve, Item, Solved, Step, Values, joined
from workbench.papers.timing import repeated
from workbench.papers.two_level import FIRST_STEPS
from workbench.recording import Record
from workbench.run import MACHINE, Configuration, Result, Session
from workbench.run.run_queue import QueueSlot
from workbench.run.thread_job import ThreadJob

LOOK = 0.02
"""Seconds between two tests whether another value was turned to."""
SETTLED = 1.0
"""Seconds without a turn after which runs are worth a place in the list."""
KEPT = 4000
"""Results that are kept, a few hundred bytes each, of residual curves some kilobytes."""

UNLISTED = 200
"""Runs that wait for a place in the list, at most."""


class OvertakenError(Exception):
    """Another value was turned to, or the computation was stopped."""


class Results:
    """What was computed, by what was computed: the last `KEPT` of them, for all views of a kernel."""

    def __init__(self) -> None:
        self._found: dict[object, Any] = {}
        self._lock = threading.Lock()

    def get(self, step: Step) -> Any:
        """None where it is not known."""
        return self._found.get((step.work, step.timed))

    def put(self, step: Step, found: Any) -> None:
        with self._lock:
            self._found[step.work, step.timed] = found
            while len(self._found) > KEPT:
                del self._found[next(iter(self._found))]


RESULTS = Results()


@dataclasses.dataclass(frozen=True, eq=False)
class Computed:
    """The curves at some values. before: those that were complete last, at other values. left: steps that are not done.

    words: what is computed now. failed: a sentence for each step without a result. whole: all is done.
    """

    values: dict[str, Any]
    curves: Sequence[Curve] = ()
    before: Sequence[Curve] = ()
    left: int = 0
    steps: int = 0
    words: str = ""
    failed: tuple[str, ...] = ()
    stopped: bool = False
    whole: bool = False

    @property
    def busy(self) -> bool:
        return bool(self.words)


class Computing:
    """Computes in a thread of its own what an item shows. Solves take turns with all other runs of the machine.

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

    def stop(self) -> None:
        """End what is computed; its points stay."""
        self._stopping.set()

    def close(self) -> None:
        """Compute no more."""
        self._stopping.set()
        self._worker.close()

    def wait(self, timeout: float) -> bool:
        """Wait until all is computed; False when that takes longer than so many seconds."""
        return self._worker.wait(timeout)

    def _compute(self, values: dict[str, Any]) -> None:
        latest = self.latest
        before = latest.curves if latest.whole else latest.before or latest.curves
        self._show(Computed(values, before=before, words="the model"))
        steps: list[Step] = []
        try:
            modelled, steps = self.item.modelled(values), list(self.item.steps(values))
            self._work_off(Computed(values, before=before, steps=len(steps)), modelled, steps)
            # Whoever turns on is still looking for a value: no runs of that in the list.
            if self._rests():
                self._list(steps)
        except OvertakenError:
            stopped = self._stopping.is_set()
            self._show(dataclasses.replace(self.latest, words="", stopped=stopped))
            if stopped:
                self._list(steps)
        except Exception as error:
            self._show(Computed(values, failed=(error_message(error),)))

    def _work_off(self, shown: Computed, modelled: list[Curve], steps: list[Step]) -> None:
        """Compute what is not known, and show all after each step. Raises OvertakenError."""
        known = {place: found for place, step in enumerate(steps) if (found := RESULTS.get(step)) is not None}

        def so_far(**state: Any) -> Computed:
            failed: list[str] = []
            parts = [part for place in sorted(known) for part in _read(steps[place], known[place], failed)]
            curves, left = joined([*modelled, *parts]), len(steps) - len(known)
            return dataclasses.replace(shown, curves=curves, left=left, failed=tuple(failed), **state)

        for place, step in enumerate(steps):
            if place not in known:
                self._show(so_far(words=step.words))
                known[place] = self._done(step)
                if not isinstance(known[place], InputError):
                    RESULTS.put(step, known[place])
        self._show(so_far(before=(), whole=True))

    def _done(self, step: Step) -> Any:
        """The result of a step, or the sentence of its failure. Raises OvertakenError."""
        try:
            if not isinstance(step.work, Configuration):
                return self._called(step.work)
            if step.timed:
                self._solved(dataclasses.replace(step.work, stopping=FIRST_STEPS))
                results = repeated(lambda work=step.work: self._solved(work))
            else:
                results = [self._solved(step.work)]
        except InputError as error:
            return error
        self._unlisted[step.work] = results[0].record()
        while len(self._unlisted) > UNLISTED:
            del self._unlisted[next(iter(self._unlisted))]
        return Solved.of(results)

    def _list(self, steps: list[Step]) -> None:
        """Runs that are shown go into the list, also those that were made before their values settled."""
        shown = [self._unlisted.pop(step.work, None) for step in steps if isinstance(step.work, Configuration)]
        self._listed([record for record in shown if record is not None])

    def _solved(self, configuration: Configuration) -> Result:
        session = Session(configuration)
        session.start()
        self._follow(session)
        return session.wait()

    def _called(self, work: Callable[[], Any]) -> Any:
        """What a function returns that uses the machine as a run does. It cannot be interrupted: what it returns after
        it was overtaken is lost."""
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
        """Wait for the end of a job, or end it because it is no more of interest."""
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


def _read(step: Step, found: Any, failed: list[str]) -> list[Curve]:
    """The points of a step; where it has none, why."""
    if isinstance(found, InputError):
        failed.append(f"{step.words}: {found}")
        return []
    if isinstance(found, Solved) and not found.converged:
        failed.append(f"{step.words}: no convergence in {found.iterations} iterations")
        return []
    return list(step.read(found))
