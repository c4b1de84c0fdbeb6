"""The live timeline: kernels on their lanes over time, of a run in progress or from a record; of several runs too."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import traitlets

from workbench.errors import InputError
from workbench.live.plots.timeline_messages import TimelineRun, TimelineRuns, modelled
from workbench.live.transport.publisher import PERIOD, PollAgain, Publisher, message_rate_limit
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.assets import script
from workbench.live.ui.frontend import fitting
from workbench.live.ui.run_handle import RunHandle, RunSource
from workbench.live.ui.stream_view import StreamView
from workbench.machines.profile import profile, profiles
from workbench.machines.retime import MODELLED, machines_for
from workbench.plots.scenes.scene import Scene
from workbench.plots.scenes.timeline import about, timeline_scene
from workbench.records import Trace
from workbench.run import Session, State
from workbench.words.distinct import distinct_names

MOST_EVENTS = 1 << 16
"""Events in one message, 1.3 megabytes; the next message has the others."""
PAINTS_PER_MESSAGE = 2
"""Paints per message while a run is active, five a second; each redraws all that is in sight."""
HINT = "Trace a run to see where its time goes: Session(configuration, trace=True)."
BOTH = "This run used the cores and an accelerator: choose a machine for each."
AFTER_THE_RUN = "The times on the chosen machine are computed once the run is paused or over."
Shows = RunSource | Trace


@dataclasses.dataclass(frozen=True)
class ModelRequest:
    """A trace to be modelled: that of the first run, with its number of events, on one machine or on a pair.

    machine, accelerator: names of profiles; accelerator is empty for a run on one device.
    """

    runs: TimelineRuns
    machine: str
    accelerator: str
    events: int


@dataclasses.dataclass(frozen=True)
class ModelAnswer:
    """The modelled trace that was requested, None where it cannot be made, and the sentence next to it."""

    request: ModelRequest
    trace: Trace | None
    words: str


class TimelineView(StreamView):
    """Kernels on lanes over time: of a session as it runs, of a record, a result or a trace that has been loaded.

    `TimelineView(session)` follows the last iterations until you pan. The wheel or + and - zoom, dragging or the arrow
    keys pan, Home shows all, Shift with the arrow keys goes from event to event. height: of the lanes, in pixels.
    title: as in `show`. hint: shown while there are no events. machine: the name of a profile; while the run is paused
    or over, its modelled times there are drawn below the measured ones, from the same start on. accelerator: the
    profile of the accelerator, for a run that uses the cores too; `machine` is then that of the cores.

    Of several runs, `TimelineView([run, other])`, each is a set of lanes, whose time counts from its first kernel; sums
    are those of the set under the pointer. run: the key of the run that the user has chosen to compare with, "" for
    none; runs: those on offer, pairs of a key and a name, set by the owner of the view, which then calls `show`.
    pointed: the number of the set of lanes that the pointer was on last.

    Examples:
        >>> from workbench.live import TimelineView
        >>> from workbench.run import Run, configure, run_through
        >>> view = TimelineView(run_through(Run(configure("two-layer", n=16), trace=True)))
        >>> view.close()
    """

    _script = script("plots/timeline.js")

    height = traitlets.Int(300).tag(sync=True)
    machine = traitlets.Unicode("").tag(sync=True)
    machines = traitlets.List().tag(sync=True)
    accelerator = traitlets.Unicode("").tag(sync=True)
    accelerators = traitlets.List().tag(sync=True)
    run = traitlets.Unicode("").tag(sync=True)
    runs = traitlets.List().tag(sync=True)
    pointed = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        source: Shows | Sequence[Shows] | None = None,
        *,
        title: str | Sequence[str] = "",
        hint: str = HINT,
        publisher: Publisher | None = None,
        **traits: Any,
    ) -> None:
        self.hint = fitting(hint)
        self._shown = TimelineRuns()
        self._drawn: TimelineRuns | None = None
        self._rewound = True
        """True until the browser gets a message that makes it drop all events."""
        self._rate_limit = message_rate_limit()
        self._model_worker = LatestOnly("workbench-model")
        self._request: ModelRequest | None = None
        self._answer: ModelAnswer | None = None
        super().__init__(publisher, **traits)
        self._offer_machines()
        self.observe(lambda _change: self.publisher.wake(), ["machine", "accelerator"])
        if source is not None:
            self.show(source, title)

    @property
    def traces(self) -> list[Trace | None]:
        """The traces of all runs that are shown, in the order of their lanes."""
        return [run.trace for run in self._shown.runs]

    @property
    def trace(self) -> Trace | None:
        """The trace on the timeline; of several runs that of the first."""
        return self._shown.trace

    def scenes(self, iterations: tuple[int, int] | None = None) -> dict[str, Scene]:
        """The picture to be saved, by the name `timeline`; none without events.

        iterations: the first and the last one, by default the two in the middle. Raises InputError if these have no
        events.
        """
        shown = self._shown
        found = [(trace, name) for trace, name in zip_longest(shown.traces, shown.titles) if trace and trace.count]
        if not found:
            return {}
        traces, titles = zip(*found, strict=True)
        title = shown.runs[0].title if len(shown.runs) == 1 else ""
        return {"timeline": timeline_scene(traces, iterations, title=title, titles=titles)}

    def show(self, source: Shows | Sequence[Shows], title: str | Sequence[str] = "") -> None:
        """Show another run instead, or several; sessions are followed from now on, also before they are started.

        title: of the run, or of each of several; by default the choices that distinguish them. Raises InputError for no
        run.
        """
        sources = list(source) if isinstance(source, Sequence) else [source]
        if not sources:
            raise InputError("a timeline shows at least one run, got none")
        titles = list(title) if not isinstance(title, str) else [title] if len(sources) == 1 else _titles(sources)
        self._shown = TimelineRuns([_run_of(one, name) for one, name in zip(sources, titles, strict=True)])
        for one in sources:
            if isinstance(one, Session):
                one.when_over(self.publisher.wake)
        self.pointed = 0
        self.publisher.wake()

    def close(self) -> None:
        self._shown = self._drawn = TimelineRuns()
        self._request = self._answer = None
        super().close()

    def clear(self) -> None:
        """Remove the runs if all have ended."""
        if not any(run.session and run.session.alive for run in self._shown.runs):
            self._shown = TimelineRuns()
        self.publisher.wake()

    def publish(self) -> PollAgain:
        shown = self._shown
        grows = shown.update()
        changed = self.link.free and self._update_model(shown)
        if self.link.restart() or shown is not self._drawn or changed:
            self._drawn = shown
            shown.send_all_again()
            self._rewound = True
        if self.link.free and self._is_due(shown):
            self._send_news(shown)
        if shown.steady:
            return self._rate_limit.wait or PERIOD
        return grows or (self.link.free and shown.has_unsent)

    def _offer_machines(self, trace: Trace | None = None) -> None:
        """Offer the machines that a trace can be modelled on; all of them without a trace."""
        lanes = {kernel.lane for kernel in trace.kernels} if trace else ()
        found = machines_for(lanes, [] if trace and trace.label == MODELLED else list(profiles().values()))
        self.machines, self.accelerators = ([[one.name, one.title] for one in group] for group in found)

    def _update_model(self, shown: TimelineRuns) -> bool:
        """Show the model of the first run on the chosen machine, or request it; true if another model is shown now.

        The last model stays until the requested one is made.
        """
        request, shown.model_words = self._model_request(shown)
        # Read once: the worker may replace it at any moment.
        answer = self._answer
        if request is None:
            model = None
        elif answer is not None and request == self._request == answer.request:
            model, shown.model_words = answer.trace, answer.words
        else:
            model = shown.model
            if request != self._request:
                self._model_worker.ask(lambda: self._make_model(request))
        self._request = request
        return shown.show_model(model)

    def _model_request(self, shown: TimelineRuns) -> tuple[ModelRequest | None, str]:
        """The model that the chosen machines ask for; None without one, and the sentence that gives the reason."""
        if shown.trace is None or not shown.trace.count:
            return None, ""
        self._offer_machines(shown.trace)
        accelerator = self.accelerator if self.accelerators else ""
        if self.accelerators and bool(self.machine) != bool(accelerator):
            return None, BOTH
        if not self.machine:
            return None, ""
        if shown.live:
            return None, AFTER_THE_RUN
        return ModelRequest(shown, self.machine, accelerator, shown.trace.count), ""

    def _make_model(self, request: ModelRequest) -> None:
        """Model a trace, or keep the message that says why that is impossible; runs in the worker thread."""
        shown = request.runs
        assert shown.trace is not None
        try:
            cores, gpu = profile(request.machine), profile(request.accelerator) if request.accelerator else None
            if gpu and (cores.kind, gpu.kind) != ("cpu", "gpu"):
                raise InputError(f"{cores.title} and {gpu.title} are not a CPU and a GPU; choose one of each")
            title = shown.runs[0].title if len(shown.runs) > 1 else ""
            self._answer = ModelAnswer(request, *modelled(shown.trace, cores, gpu, title))
        except InputError as error:
            self._answer = ModelAnswer(request, None, f"{error}.")
        self.publisher.wake()

    def _is_due(self, shown: TimelineRuns) -> bool:
        """False while a run is active, its state has been reported, and the last message was sent just now."""
        return not (shown.live and shown.reported == shown.status(self.hint)) or self._rate_limit.due

    def _send_news(self, shown: TimelineRuns) -> None:
        news = shown.news(self.hint, MOST_EVENTS)
        if news is None:
            return
        message, buffer = news
        pace = {"paints": PAINTS_PER_MESSAGE, "milliseconds": 1000 * PERIOD / PAINTS_PER_MESSAGE}
        self.link.send({"reset": self._rewound, **message, "pace": pace}, buffer)
        self._rewound = False
        self._rate_limit.done()


def _run_of(source: Shows, title: str) -> TimelineRun:
    if isinstance(source, Session):
        return TimelineRun(title or source.configuration.label, session=source)
    return TimelineRun(title, trace=source if isinstance(source, Trace) else source.trace, state=State.DONE.value)


def _titles(sources: Sequence[Shows]) -> list[str]:
    """Titles that distinguish runs: their choices; for traces, which name no run, label and machine. Equal ones are
    numbered."""
    runs = [source for source in sources if not isinstance(source, Trace)]
    names = iter(distinct_names([RunHandle(run).parts for run in runs]))
    found = [about(source) if isinstance(source, Trace) else next(names) for source in sources]
    return found if len({*found}) == len(found) else [f"{place}: {name}" for place, name in enumerate(found, 1)]
