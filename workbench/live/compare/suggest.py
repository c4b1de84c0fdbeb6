"""The advisor on the page: pairs of levels ranked while they are probed, what was ruled out and why."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.analysis.advice import Advice, Estimate, Probed, Ranked, RuledOut, Stage, configuration_of
from workbench.analysis.advisor import advising
from workbench.analysis.candidates import LevelPair
from workbench.errors import InputError
from workbench.live.solve.controlled_view import ControlledView
from workbench.live.solve.controller import Controller
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.html_table import html_table
from workbench.live.ui.sort_table import SortTable
from workbench.naming import sentence_case
from workbench.number_text import duration, number
from workbench.run import MACHINE, Configuration, State, Stopping, configure
from workbench.run.run_queue import QueueSlot
from workbench.run.thread_job import ThreadJob

PERIOD = 0.5
"""Seconds between two updates of the ranking."""
BEST = 3
"""Pairs that are raced."""
MOST_ROWS = 20
COLUMNS = ("Rank", "First level", "Second level", "Coarse solver", "Estimate", "Setup", "Iterations", "Basis")
LOW = ["Coarse solver", "Setup"]
VERBS = ({"name": "take", "title": "Take", "tip": "put this pair into the form of Solve", "inline": True},)
WORKING = "pairs are solved on coarser grids, then the best ones on the whole problem"


class Suggest(ControlledView):
    """Display it and press Find. `estimates` is the ranking so far, `advice` the result.

    configuration: whose problem, seed, device and tolerance are used. take: called with the configuration of a pair.
    race: called with those of the three best. Probing uses the machine in the order of the run queue.
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
        self._take, self._race = take, race
        self._job: ThreadJob | None = None
        self._clear()
        self.controller = Controller(
            self.publisher,
            self.find,
            lambda _job, state: self._words(state),
            refresh=self._refresh,
            holds=False,
            starting=lambda: "Find the fastest",
            about=f"rank preconditioners with and without deflation for this problem: {WORKING}",
            period=PERIOD,
        )
        self.status = self.controller.bar
        self.table = SortTable(self._act, empty="Pairs are ranked here while they are probed.", low=LOW)
        self.table.verbs = list(VERBS) if take is not None else []
        self.best = widgets.Button(
            description="Race the best three", tooltip="add the three best pairs to the race", layout={"width": "150px"}
        )
        self.best.on_click(lambda _button: self.controller.attempt(self.race_best)())
        self.note = widgets.HTML()
        buttons = [widgets.HBox([self.best]).add_class("wb-buttons")] if race is not None else []
        parts = [self.status, *buttons, self.table, self.note]
        self.box = widgets.VBox(parts).add_class("wb-explorer").add_class("wb-suggest")
        self._refresh()
        self.controller.serve()

    def find(self) -> ThreadJob:
        """Probe in the background; returns at once. Raises InputError while it is active."""
        if self._job is not None and self._job.working:
            raise InputError("pairs are being probed; press Stop first")
        self._clear()
        self._base = self.base
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
        """The ranking so far: measured pairs first, then predictions."""
        if self.advice is not None:
            return list(self.advice.estimates)
        known = [row for row in list(self._found.values()) if math.isfinite(row.seconds)]
        return sorted(known, key=lambda row: (not row.measured, row.seconds))

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
        if self._take is not None:
            self._take(chosen)
        return chosen

    def race_best(self) -> list[Configuration]:
        """Hand on the best three pairs. Raises InputError while none is ranked."""
        best = [self.configuration_of(row) for row in self.estimates[:BEST]]
        if not best:
            raise InputError("no pair is ranked yet; press Find the fastest")
        if self._race is not None:
            self._race(best)
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
        self._stage: Stage | None = None
        self._probed = 0
        self.advice = None

    def _work(self, job: ThreadJob) -> None:
        if not job.slot.held:
            job.slot.enqueue()
            job.slot.acquire(unless=lambda: job.stopping)
        base = self._base
        events = advising(
            base.problem,
            rtol=base.stopping.rtol or Stopping.rtol,
            seed=base.seed,
            devices=(base.device,),
            stopped=lambda: job.stopping,
        )
        for event in events:
            match event:
                case Stage():
                    self._stage, self._probed = event, 0
                case Probed():
                    self._found[event.estimate.pair] = event.estimate
                    self._probed += 1
                case RuledOut():
                    self._found.pop(event.pair, None)
                    self._ruled[event.pair.label] = event.reason
                    self._probed += 1
                case Ranked():
                    self.advice = event.advice
            if not job.steady:
                self.publisher.wake()

    def _words(self, state: State) -> tuple[str, str]:
        job, name = self._job, self._base.problem.label
        if job is None:
            return f"{self.base.problem.label}: press Find the fastest; {WORKING}", "plain"
        if state is State.FAILED:
            return f"{name}: {job.error}", "bad"
        if job.alive and self._stage is None:
            return f"{name}: the candidates are chosen", "busy"
        if job.alive and self._stage is not None:
            grid = "" if not self._stage.full else " (the whole problem)"
            done = min(self._probed, self._stage.candidates)
            return f"{name}: {done} of {self._stage.candidates} pairs probed on {self._stage.label}{grid}", "busy"
        if self.advice is None:
            return f"{name}: stopped by the user; {len(self.estimates)} pairs ranked by predictions so far", "plain"
        best = self.advice.estimates[0]
        took = duration(self.advice.probe_seconds)
        basis = "measured" if best.measured else "prediction"
        changed = "; the problem changed since" if self._base != self.base else ""
        return (
            f"{name}: fastest is {best.pair.label}, {duration(best.seconds)} ({basis}); probed for {took}{changed}",
            "good",
        )

    def _refresh(self) -> None:
        estimates = self.estimates
        shown = estimates[:MOST_ROWS]
        rows = [_row(place, row) for place, row in enumerate(shown, 1)]
        marks = ["best" if place == 0 else "" for place in range(len(shown))]
        facts = [{"id": place, "title": row.pair.label, "acts": ["take"]} for place, row in enumerate(shown, 1)]
        self.table.show(COLUMNS, rows, marks, facts)
        self.best.disabled = not estimates
        more = len(estimates) - len(shown)
        rest = f'<p class="wb-empty">and {more} slower pairs</p>' if more > 0 else ""
        self.note.value = rest + ruled_out(self._ruled)

    def _act(self, verb: str, places: list[Any], _value: str) -> None:
        if verb == "take":
            self.controller.attempt(lambda: self.take(int(places[0])))()


def _row(place: int, row: Estimate) -> list[Any]:
    grids = " and ".join(map(str, row.probe_ns or ((row.grid_n,) if row.grid_n else ())))
    iterations = round(row.iterations) if math.isfinite(row.iterations) else None
    basis = "measured" if row.measured else f"predicted from n = {grids}" if grids else "predicted"
    pair = row.pair
    parts = pair.parts
    first = ", ".join(filter(None, (sentence_case(parts["preconditioner"]), parts.get("precision"))))
    times = [{"key": value, "text": duration(value)} for value in (row.seconds, row.setup_seconds)]
    coarse = sentence_case(parts["coarse"]) or "–"
    tip = {"tip": pair.code}
    count = {"key": iterations, "text": number(row.iterations) if iterations is None else f"{iterations}"}
    named = [{"key": text, "text": text, **tip} for text in (first, sentence_case(parts["deflation"]))]
    return [place, *named, coarse, *times, count, basis]


def ruled_out(ruled: dict[str, str]) -> str:
    """HTML: what was ruled out and why, folded."""
    if not ruled:
        return ""
    rows = sorted(ruled.items())
    head = f"{len(rows)} {'pair was' if len(rows) == 1 else 'pairs were'} ruled out"
    return f"<details><summary>{html.escape(head)}</summary>{html_table(('Pair', 'Why'), rows)}</details>"
