"""The advisor on the page: pairs of levels ranked while they are probed, and choices ruled out with the reason."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.advise.advice import Advice, Estimate, Probed, Ranked, RuledOut, Stage, configuration_of, ranked
from workbench.advise.advisor import advising
from workbench.advise.level_pairs import LevelPair
from workbench.advise.sequence_search import KEPT, STEPS
from workbench.errors import InputError
from workbench.jit import compile_time as compiling
from workbench.live.compare.suggest_text import (
    BEST,
    COLUMNS,
    LEGEND,
    LOW,
    LOWER,
    OF_STEPS,
    Progress,
    full_bar,
    marks,
    row,
    ruled_out,
    scene,
    verdict,
)
from workbench.live.compare.sweep_text import remaining
from workbench.live.plots.chart import ChartView
from workbench.live.solve.controller import ControlledView, Controller
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import column, markup
from workbench.live.ui.controls import row as line
from workbench.live.ui.sort_table import SortTable
from workbench.run import MACHINE, Configuration, State, Stopping, configure
from workbench.run.jobs.run_queue import QueueSlot
from workbench.run.jobs.thread_job import ThreadJob
from workbench.sequences.systems import SystemSequence
from workbench.settings import SEARCH_SECONDS
from workbench.words.numbers import compiling as compiling_text
from workbench.words.numbers import count, counted, duration

PERIOD = 0.5
"""Seconds between two updates of the ranking."""
MOST_ROWS = 20
VERBS = ({"name": "take", "title": "Use", "tip": "put this pair into the form of Solve", "inline": True},)
WORKING = "pairs are tried on coarser grids, then the best ones at full size"
TWENTY_SOLVES, NO_LIMIT = "20 times the fastest solve, at least 2", "no limit"
"""The time of a search where none is given: of a matrix without a grid, and of a problem on one."""
OF_SEQUENCE = f"pairs solve few steps from zero, then the best ones {STEPS} in which cells change"


class Suggest(ControlledView):
    """A search for the best pair of levels, as `analysis.advise` makes it. Display it and press Find. `estimates` is
    the ranking so far, `advice` the result.

    configuration: whose problem, seed, device and tolerance are used. take: called with the configuration of a pair.
    race: called with those of the three best, to be raced at once. Probing uses the machine in the order of the run
    queue.

    Examples:
        >>> from workbench.live import Suggest
        >>> from workbench.run import configure
        >>> view = Suggest(configure("two-layer", n=16))
        >>> view.close()
    """

    def __init__(
        self,
        configuration: Configuration | None = None,
        take: Callable[[Configuration], object] | None = None,
        race: Callable[[Sequence[Configuration]], object] | None = None,
    ) -> None:
        self.base = configuration or configure("two-layer", n=64)
        self.publisher = Publisher()
        self.advice: Advice | None = None
        self.on_take, self.on_race = take, race
        self._job: ThreadJob | None = None
        self._clear()
        self.controller = Controller(
            self.publisher,
            self.find,
            lambda _job, state: self._words(state),
            refresh=self._refresh,
            pauses=False,
            starting=lambda: "Find the fastest",
            about="rank preconditioners with and without deflation for this problem",
            period=PERIOD,
        )
        self.status = self.controller.bar
        self.table = SortTable(self._act, empty="Pairs are ranked here while they are tried.", low=LOW, lower=LOWER)
        self.table.verbs = list(VERBS) if take is not None else []
        self.seconds = widgets.Text(
            description="seconds",
            tooltip=SEARCH_SECONDS.about,
            continuous_update=False,
            layout={"width": "290px", "max_width": "100%"},
        )
        self.best = widgets.Button(
            description="Race the best three",
            tooltip="race the three best pairs that are measured",
            layout={"width": "150px"},
        )
        self.best.on_click(lambda _button: self.controller.attempt(self.race_best)())
        self.chart, self._shown = ChartView(self.publisher), ([], -1, ())
        self.note = markup()
        asked = line("wb-buttons", *([self.best] if race is not None else []), self.seconds)
        halves = line("wb-halves", column("", asked, self.table, self.note), self.chart)
        self.box = column("wb-explorer wb-suggest", self.status, halves)
        self._refresh()
        self.controller.serve()

    def find(self) -> ThreadJob:
        """Probe in the background; returns at once. Raises InputError while it is active, and for seconds that are no
        number above 0."""
        if self._job is not None and self._job.working:
            raise InputError("a search is active; press Stop first")
        text = "" if isinstance(self.base.problem, SystemSequence) else self.seconds.value.strip()
        seconds = SEARCH_SECONDS.check(text or None)
        self._clear()
        self._base = self.base
        self._seconds = seconds
        self._job = job = ThreadJob(
            lambda: self._work(job), "workbench-suggest", QueueSlot(MACHINE), on_end=lambda _job: self.publisher.wake()
        )
        self.controller.add(job)
        job.start()
        self.publisher.wake()
        return job

    def rebase(self, configuration: Configuration) -> None:
        """Search for this configuration's problem from the next press on."""
        if configuration != self.base:
            self.base = configuration
            self.publisher.wake()

    @property
    def estimates(self) -> list[Estimate]:
        """The ranking so far."""
        if self.advice is not None:
            return list(self.advice.estimates)
        return ranked(row for row in list(self._found.values()) if math.isfinite(row.seconds))

    @property
    def _measured(self) -> list[Estimate]:
        return [each for each in self.estimates if each.measured]

    def configuration_of(self, estimate: Estimate) -> Configuration:
        """A pair as a configuration, with the tolerance and seed of the search."""
        rule = Stopping(rtol=self._base.stopping.rtol or Stopping.rtol)
        return configuration_of(self._base.problem, estimate.pair, rule, self._base.seed)

    def take(self, place: int) -> Configuration:
        """Hand on the pair of this rank, from 1. Raises InputError where there is none."""
        estimates = self.estimates
        if not 1 <= place <= len(estimates):
            raise InputError(f"there is no pair of rank {place}; {len(estimates)} are ranked")
        chosen = self.configuration_of(estimates[place - 1])
        if self.on_take is not None:
            self.on_take(chosen)
        return chosen

    def race_best(self) -> list[Configuration]:
        """Hand on the best three pairs. Raises InputError before three are measured on the whole problem."""
        best = [self.configuration_of(each) for each in self._measured[:BEST]]
        if len(best) < BEST:
            raise InputError(f"{len(best)} pairs are measured, a race takes {BEST}; find the fastest first")
        if self.on_race is not None:
            self.on_race(best)
        return best

    def close(self) -> None:
        """End the search and take everything off the page."""
        self.stop()
        self.publisher.close()
        super().close()

    def _clear(self) -> None:
        self._base = self.base
        self._found: dict[LevelPair, Estimate] = {}
        self._ruled: dict[str, str] = {}
        self._progress = Progress()
        self._begun = time.monotonic()
        self.compile_seconds = 0.0
        """Seconds that the search compiled, which are in no time of a pair."""
        self.advice = None

    def _work(self, job: ThreadJob) -> None:
        if not job.slot.held:
            job.slot.enqueue()
            job.slot.acquire(unless=lambda: job.stopping)
        base = self._base
        self._begun, compiled = time.monotonic(), compiling.spent()
        events = advising(
            base.problem,
            rtol=base.stopping.rtol or Stopping.rtol,
            seed=base.seed,
            devices=(base.device,),
            seconds=self._seconds,
            stopped=lambda: job.stopping,
        )
        for event in events:
            match event:
                case Stage():
                    self._progress.enter(event)
                case Probed():
                    self._found[event.estimate.pair] = event.estimate
                    self._progress.probed += 1
                case RuledOut():
                    self._found.pop(event.pair, None)
                    self._ruled[event.pair.label] = event.reason
                    self._progress.probed += 1
                case Ranked():
                    self.advice = event.advice
            self.compile_seconds = compiling.spent() - compiled
            if not job.steady:
                self.publisher.wake()

    def _words(self, state: State) -> tuple[str, str]:
        job, name = self._job, self._base.problem.label
        if job is None:
            working = OF_SEQUENCE if isinstance(self.base.problem, SystemSequence) else WORKING
            return f"{self.base.problem.label}: press Find the fastest; {working}", "plain"
        if state is State.FAILED:
            return f"{name}: {job.error}", "bad"
        progress = self._progress
        if job.alive and (stage := progress.stage) is None:
            return f"{name}: the candidates are chosen", "busy"
        if job.alive and stage is not None:
            done, work = progress.done, progress.work
            left = f"; {remaining(time.monotonic() - self._begun, *work)}" if 0 < work[0] < work[1] else ""
            grid = "full size" if stage.full else stage.label
            if progress.again is not None:
                pairs = progress.again.candidates
                return f"{name}: {progress.again.doing}, {counted(pairs, 'pair')}", "busy"
            if isinstance(self._base.problem, SystemSequence):
                grid = f"{STEPS} more steps, the fastest {KEPT} of them" if done == progress.of else "few steps"
            return f"{name}: {count(done)} of {count(progress.of)} pairs tried, now on {grid}{left}", "busy"
        if self.advice is None:
            ranked, measured = len(self.estimates), len(self._measured)
            return f"{name}: stopped by the user; {ranked} ranked so far, {measured} of them measured", "plain"
        compiled = f"; {clause}" if (clause := compiling_text(self.compile_seconds)) else ""
        probed = duration(self.advice.probe_seconds - self.compile_seconds)
        changed = "; the problem changed since" if self._base.problem != self.base.problem else ""
        return f"{name}: {verdict(self.advice)}; searched for {probed}{compiled}{changed}", "good"

    def _refresh(self) -> None:
        estimates = self.estimates
        # A race would be on the first system alone; methods of a sequence race in Flow.
        of_sequence = isinstance(self.base.problem, SystemSequence)
        self.best.layout.display = self.seconds.layout.display = "none" if of_sequence else None
        self.seconds.placeholder = TWENTY_SOLVES if not self.base.problem.has_grid else NO_LIMIT
        done, of = self._progress.work
        active = self._job is not None and self._job.alive
        self.status.progress = {"word": "tried", "iterations": done, "left": of - done} if active else {}
        notes = self.advice.notes if self.advice is not None else ()
        if self._shown == (estimates, len(self._ruled), notes):
            return
        self._shown = estimates, len(self._ruled), notes
        shown = estimates[:MOST_ROWS]
        longest = full_bar(shown)
        rows = [row(place, each, longest) for place, each in enumerate(shown, 1)]
        facts = [{"id": place, "title": each.pair.label, "acts": ["take"]} for place, each in enumerate(shown, 1)]
        self.table.show(COLUMNS, rows, marks(shown), facts)
        self.chart.show(scene(estimates))
        more = len(estimates) - len(shown)
        rest = f" And {counted(more, 'slower pair')}." if more > 0 else ""
        steps = f" {OF_STEPS}" if any(each.steps for each in shown) else ""
        legend = [f'<p class="wb-empty">{html.escape(LEGEND + steps + rest)}</p>'] if shown else []
        said = "".join([*legend, *(f"<p>{html.escape(note)}</p>" for note in notes)])
        self.note.value = said + ruled_out(self._ruled)
        # Once the page has the rows that would be raced.
        self.best.disabled = sum(each.measured for each in estimates) < BEST

    def _act(self, verb: str, places: list[Any], _value: str) -> None:
        if verb == "take":
            self.controller.attempt(lambda: self.take(int(places[0])))()
