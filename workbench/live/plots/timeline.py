"""The timeline, live: what ran when on which lane, while the run continues or from a recording; of several runs too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import traitlets

from workbench.errors import InputError
from workbench.live.plots.timeline_messages import Shown, Watched, modelled
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
"""Events in one message, 1.3 megabytes; what is left goes with the next."""
STROKES = 2
"""Paints per message while a run is active, five a second: each redraws all that is in sight."""
HINT = "Trace a run to see where its time goes: Session(configuration, trace=True)."
BOTH = "This run used the cores and an accelerator: choose a machine for each."
LATER = "What it would take on the machine that was chosen is computed when the run is paused or over."
Shows = RunSource | Trace


class TimelineView(StreamView):
    """Kernels on lanes over time: of a session as it runs, of a record, a result or a trace that has been loaded.

    `TimelineView(session)` follows the last iterations until you pan. The wheel or + and - zoom, dragging or the arrow
    keys pan, Home shows all, Shift with the arrow keys goes from event to event. height: of the lanes, in pixels.
    hint: said while there is nothing to see. machine: the name of a profile; while the run is at rest, what it would
    take there stands below what was measured, from the same start on. accelerator: that of the accelerator, for a run
    that uses the cores too; `machine` is then that of the cores.

    Of several runs, `TimelineView([run, other])`, each is a set of lanes, whose time counts from its first kernel; sums
    are those of the set under the pointer. run, runs: the run that the page has chosen to compare with, "" for none,
    and those that it offers, as pairs of a key and a name; who offers them shows the one that is chosen. pointed: the
    place of the set of lanes that the pointer was on last.

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
        hint: str = HINT,
        publisher: Publisher | None = None,
        **traits: Any,
    ) -> None:
        self.hint = fitting(hint)
        self._shown = Shown()
        self._drawn: Shown | None = None
        self._rewound = True
        self._pace = message_rate_limit()
        self._worker_of_models = LatestOnly("workbench-model")
        self._wanted: tuple[Shown, str, str, int] | None = None
        self._made: tuple[object, Trace | None, str] = (None, None, "")
        super().__init__(publisher, **traits)
        self._offer()
        self.observe(lambda _change: self.publisher.wake(), ["machine", "accelerator"])
        if source is not None:
            self.show(source)

    @property
    def trace(self) -> Trace | None:
        """The trace on the timeline; of several runs that of the first."""
        return self._shown.trace

    def scenes(self, iterations: tuple[int, int] | None = None) -> dict[str, Scene]:
        """Some iterations as they are saved, first and last, by the name `timeline`; by default the two in the middle.

        Raises InputError when nothing was noted in them.
        """
        shown = self._shown
        found = [(trace, name) for trace, name in zip_longest(shown.traces, shown.titles) if trace and trace.count]
        if not found:
            return {}
        traces, titles = zip(*found, strict=True)
        title = shown.runs[0].title if len(shown.runs) == 1 else ""
        return {"timeline": timeline_scene(traces, iterations, title=title, titles=titles)}

    def show(self, source: Shows | Sequence[Shows], title: str | Sequence[str] = "") -> None:
        """Show another run instead, or several. A session may be started or not, and is followed.

        title: of each run where there are several; by default what distinguishes it. Raises InputError for no run.
        """
        sources = list(source) if isinstance(source, Sequence) else [source]
        if not sources:
            raise InputError("a timeline shows at least one run, got none")
        titles = list(title) if not isinstance(title, str) else [title] if len(sources) == 1 else _titles(sources)
        self._shown = Shown([_watched(one, name) for one, name in zip(sources, titles, strict=True)])
        for one in sources:
            if isinstance(one, Session):
                one.when_over(self.publisher.wake)
        self.pointed = 0
        self.publisher.wake()

    def close(self) -> None:
        self._shown = self._drawn = Shown()
        self._wanted, self._made = None, (None, None, "")
        super().close()

    def clear(self) -> None:
        """Take away the run, if it has ended."""
        if not any(run.session and run.session.alive for run in self._shown.runs):
            self._shown = Shown()
        self.publisher.wake()

    def publish(self) -> PollAgain:
        shown = self._shown
        goes_on = shown.look()
        changed = self.link.free and self._model(shown)
        if self.link.restart() or shown is not self._drawn or changed:
            self._drawn = shown
            shown.forget()
            self._rewound = True
        if self.link.free and self._is_due(shown):
            self._send_news(shown)
        if shown.steady:
            return self._pace.wait or PERIOD
        return goes_on or (self.link.free and shown.behind)

    def _offer(self, trace: Trace | None = None) -> None:
        """Offer the machines that a trace can be modelled on; all of them as long as there is none."""
        lanes = {kernel.lane for kernel in trace.kernels} if trace else ()
        found = machines_for(lanes, [] if trace and trace.label == MODELLED else list(profiles().values()))
        self.machines, self.accelerators = ([[one.name, one.title] for one in group] for group in found)

    def _model(self, shown: Shown) -> bool:
        """Compare the events of the chosen machine with those of a run at rest; True when they have changed."""
        wanted, shown.words, made = None, "", None
        if shown.trace is not None and shown.trace.count:
            self._offer(shown.trace)
            accelerator = self.accelerator if self.accelerators else ""
            if self.accelerators and bool(self.machine) != bool(accelerator):
                shown.words = BOTH
            elif self.machine and shown.live:
                shown.words = LATER
            elif self.machine:
                wanted = shown, self.machine, accelerator, shown.trace.count
        if wanted is not None and wanted != self._wanted:
            self._worker_of_models.ask(lambda: self._make_model(wanted))
            made = shown.made
        elif wanted is not None:
            made = shown.made
            if self._made[0] == wanted:
                _, made, shown.words = self._made
        self._wanted = wanted
        return shown.compare(made)

    def _make_model(self, wanted: tuple[Shown, str, str, int]) -> None:
        """Model a trace on a machine, or note the sentence that says why it cannot be; runs in the worker."""
        shown, machine, accelerator, _ = wanted
        assert shown.trace is not None
        try:
            cores, gpu = profile(machine), profile(accelerator) if accelerator else None
            if gpu and (cores.kind, gpu.kind) != ("cpu", "gpu"):
                raise InputError(f"{cores.title} and {gpu.title} are not a CPU and a GPU; choose one of each")
            named = shown.runs[0].title if len(shown.runs) > 1 else ""
            self._made = wanted, *modelled(shown.trace, cores, gpu, named)
        except InputError as error:
            self._made = wanted, None, f"{error}."
        self.publisher.wake()

    def _is_due(self, shown: Shown) -> bool:
        return not (shown.live and shown.reported == shown.status(self.hint)) or self._pace.due

    def _send_news(self, shown: Shown) -> None:
        news = shown.news(self.hint, MOST_EVENTS)
        if news is None:
            return
        message, buffer = news
        pace = {"paints": STROKES, "milliseconds": 1000 * PERIOD / STROKES}
        self.link.send({"reset": self._rewound, **message, "pace": pace}, buffer)
        self._rewound = False
        self._pace.done()


def _watched(source: Shows, title: str) -> Watched:
    if isinstance(source, Session):
        return Watched(title or source.configuration.label, session=source)
    return Watched(title, trace=source if isinstance(source, Trace) else source.trace, state=State.DONE.value)


def _titles(sources: Sequence[Shows]) -> list[str]:
    """Titles that distinguish runs; of traces, which do not name their run, label and machine, numbered where these are
    equal."""
    runs = [source for source in sources if not isinstance(source, Trace)]
    names = iter(distinct_names([RunHandle(run).parts for run in runs]))
    found = [about(source) if isinstance(source, Trace) else next(names) for source in sources]
    return found if len({*found}) == len(found) else [f"{place}: {name}" for place, name in enumerate(found, 1)]
