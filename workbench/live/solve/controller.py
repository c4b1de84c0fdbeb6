"""The controller of a view's runs: start, pause, stop, queue, failure and bar; and base classes of such views."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import ipywidgets as widgets

from workbench.errors import error_message
from workbench.live.solve.run_bar import RunBar
from workbench.live.transport.publisher import POLL_SOON, PollAgain, Publisher
from workbench.live.ui.view import View
from workbench.run import State
from workbench.run.cancellation import STOPPED_EARLY

SAY_PERIOD = 2.0
"""Seconds between two sentences on an active run: screen readers read each of them."""
WORKING = (State.SETUP, State.RUNNING)
STOPPING = "stopping"
"""The state of a job whose cancellation has been requested."""
Words = tuple[str, str]
"""A sentence and its tone: plain, busy, good or bad."""


class Job(Protocol):
    """The interface that the controller needs of a `Session`, a `Race` or a `ThreadJob`. A job that can be paused has
    `pause` and `resume` too."""

    @property
    def state(self) -> State: ...
    @property
    def alive(self) -> bool: ...
    @property
    def ending(self) -> bool: ...
    @property
    def lingering(self) -> bool: ...
    @property
    def steady(self) -> bool: ...
    def stop(self) -> None: ...


class Controller:
    """Jobs of one view, in the order in which they were begun, and the `bar` with their buttons.

    The buttons act on the `present` job: the one that works, else one that is paused, else the first in the queue, else
    the last that has ended. begin: starts a job from what the view shows; it may raise. sentence: says how the present
    job is. why_not: why nothing can be started now, empty where it can; it then stands in the bar. refresh: brings the
    rest of the view up to date. single: the view has one job at a time, so that none can be begun while one is alive.
    shown_elsewhere: whether the view shows the sentence on a job that has ended elsewhere, so that the bar need not.
    correct: makes the changes that `correction` has words for; they end what `why_not` says. step: makes one iteration.
    starting: the words of the first button. toggles: that one pauses the job that is active, too. name: how the
    sentence names a job of a queue.
    """

    def __init__(
        self,
        publisher: Publisher,
        begin: Callable[[], object],
        sentence: Callable[[Any, State], Words],
        *,
        refresh: Callable[[], object] = lambda: None,
        why_not: Callable[[], str] = str,
        shown_elsewhere: Callable[[Any], bool] = lambda _job: False,
        correction: Callable[[], str] = str,
        correct: Callable[[], object] | None = None,
        step: Callable[[], object] | None = None,
        name: Callable[[Any], str] = lambda _job: "",
        single: bool = True,
        pauses: bool = True,
        toggles: bool = False,
        starting: Callable[[], str] = lambda: "Run",
        about: str = "",
        period: float = SAY_PERIOD,
    ) -> None:
        self.publisher = publisher
        self.jobs: tuple[Any, ...] = ()
        self.complaint = ""
        """A sentence on the last press or value typed, which stands in the bar until the next press."""
        self.notice: Callable[[], str] = str
        """Changes since the present job ended, shown in place of its result."""
        self._sentence, self._refresh, self._why_not, self._name = sentence, refresh, why_not, name
        self._shown_elsewhere, self._correction = shown_elsewhere, correction
        self._of_job = True
        """Set while the sentence is on the present job alone."""
        self._single, self._toggles, self._period = single, toggles, period
        self._said: tuple[str, str, float] = ("", "", 0.0)
        self.bar = RunBar(
            self.attempt(begin),
            self.toggle if pauses and not toggles else None,
            self.attempt(step) if step else None,
            self.stop,
            None if single else self.stop_all,
            self.attempt(correct) if correct else None,
            starting=starting(),
            about=about,
            renew=self._show_buttons,
        )
        self._starting = starting

    def serve(self) -> None:
        """Keep the view up to date from now on; to be called when it has all its parts."""
        self.publisher.add(self.publish, first=True)

    @property
    def present(self) -> Any:
        """The job that the buttons act on; None before the first."""
        alive = [job for job in self.jobs if job.alive]
        for states in (WORKING, (State.PAUSED,)):
            for job in alive:
                if job.state in states:
                    return job
        return alive[0] if alive else _last_ended(self.jobs)

    @property
    def state(self) -> State:
        """The state of the present job."""
        return self.present.state if self.present else State.IDLE

    @property
    def alive(self) -> int:
        """The number of jobs that have been started and have not ended."""
        return sum(job.alive for job in self.jobs)

    def add(self, job: Job) -> None:
        """Control one more job. Of those that have ended only the last is kept."""
        last = _last_ended(self.jobs)
        kept = [other for other in self.jobs if other.alive or other.lingering or other is last]
        self.jobs = (*(kept if not self._single else ()), job)
        self.complaint = ""

    def pause(self) -> None:
        """Pause all jobs."""
        # The working one last: if it were paused first, the next in the queue would begin.
        for job in sorted(self.jobs, key=lambda job: job.state in WORKING):
            job.pause()
        self.publisher.wake()

    def resume(self) -> None:
        """Resume all paused jobs, one after another."""
        for job in self.jobs:
            job.resume()
        self.publisher.wake()

    def toggle(self) -> None:
        """Pause, or resume the paused jobs."""
        (self.resume if self.state is State.PAUSED else self.pause)()

    def stop(self) -> None:
        """End the present job; its results so far stay, and the next in the queue begins."""
        if self.present:
            self.present.stop()
        self.publisher.wake()

    def stop_all(self) -> None:
        """End the present job, and take the others out of the queue."""
        for job in self.jobs:
            job.stop()
        self.publisher.wake()

    def attempt(self, act: Callable[[], object], doing: str = "this") -> Callable[[], None]:
        """The action of a button; its error becomes the sentence of the bar."""

        def press() -> None:
            try:
                act()
            # Nothing else would report it to the user.
            except Exception as error:
                self.complain(error_message(error, doing))

        return press

    def complain(self, sentence: str) -> None:
        """Show a sentence on a wrong value; "" removes it."""
        self.complaint = sentence
        self.publisher.wake()

    def publish(self) -> PollAgain:
        """Update the view; returns when to do it again, see `PollAgain`."""
        job, alive = self.present, self.alive
        # Jobs are counted before anything is shown: one that ends from here on is shown the next time.
        again = alive > 0 or any(other.lingering for other in self.jobs)
        # The bar first: it answers a press.
        self._say(job)
        self._show_buttons()
        self._refresh()
        self.bar.shown_elsewhere = self._of_job and self._shown_elsewhere(job)
        if any(other.ending for other in self.jobs):
            # The answer to Stop comes as soon as the state has changed.
            return POLL_SOON
        if alive == 1 and job.steady:
            return self._period
        return again

    def _show_buttons(self) -> None:
        # A button that pauses what is active needs no form.
        wrong = "" if self._toggles and self.alive else self._why_not()
        self.bar.run.description = self._starting()
        self.bar.show(self.state, self.alive, wrong or self._busy, wrong=bool(wrong), correction=self._correction())

    @property
    def _busy(self) -> str:
        """Why another job cannot begin where one at a time does; empty where it can."""
        if not self._single:
            return ""
        if self.alive:
            return "" if self._toggles else "it is active; press Stop first"
        return "the stopped run still ends in the background" if any(job.lingering for job in self.jobs) else ""

    def _say(self, job: Job | None) -> None:
        state = self.state
        word = STOPPING if job is not None and job.ending else state.value
        complaint, notice = self._why_not() or self.complaint, self.notice() if not self.alive else ""
        others = self._others(job)
        self._of_job = not (complaint or notice or others)
        if complaint or notice:
            self.bar.say(complaint or notice, "bad" if complaint else "busy", word)
            return
        about, now = f"{id(job)} {word}", time.monotonic()
        before, reported, when = self._said
        if state is State.RUNNING and (before, reported) == (about, others) and now - when < self._period:
            return
        self._said = (about, others, now)
        text, tone = self._sentence(job, state)
        self.bar.say("; ".join(filter(None, [text, others])), tone, word)

    def _others(self, present: Job | None) -> str:
        """The jobs that are queued, paused, or finishing in the background; empty for none."""
        others = [job for job in self.jobs if job is not present]
        queued = [job for job in others if job.run is None and job.state in (State.QUEUED, State.PAUSED)]
        groups = (
            ("queued", queued),
            ("paused", [job for job in others if job.state is State.PAUSED and job not in queued]),
            ("stopped, ending in the background", [job for job in others if job.lingering]),
        )
        return "; ".join(f"{self._names(found)} {what}" for what, found in groups if found)

    def _names(self, jobs: Sequence[Any]) -> str:
        names = [self._name(job) for job in jobs]
        if len(names) == 1:
            return f"run {names[0]}"
        return f"runs {', '.join(names[:-1])} and {names[-1]}"


def _last_ended(jobs: Sequence[Any]) -> Any:
    """The last job that has ended; one that was taken out of the queue counts only where there is no other."""
    ended = [(getattr(job, "error", "") != STOPPED_EARLY, place) for place, job in enumerate(jobs) if not job.alive]
    return jobs[max(ended)[1]] if ended else None


class ControlledView(View):
    """Stop of the jobs of a view, and the display of its box."""

    controller: Controller
    box: widgets.Box

    def stop(self) -> None:
        """End the present job; its results so far stay. A job that cannot be interrupted ends in the background."""
        self.controller.stop()


class PausableView(ControlledView):
    """A view whose jobs can be paused too."""

    def pause(self) -> None:
        """Pause all jobs."""
        self.controller.pause()

    def resume(self) -> None:
        """Resume all paused jobs, one after another."""
        self.controller.resume()
