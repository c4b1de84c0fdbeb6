"""The views on any run of the list: which one, and running it again with kernel timings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.live.inspect.inside import InsideView
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import button, row
from workbench.live.ui.run_list import INSPECT, ListedRun, RunList, labels
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.records.film import Film
from workbench.run import RaceEntry, Session
from workbench.run.results.filming import Camera

HINT = "Press “Run again with timings” to see its kernels."
NOTHING = "No run yet. Its fields, spectrum, timeline and roofline appear here."


class InsidePage(View):
    """Display it. The menu holds the runs of the list that have an iteration, the latest first.

    The run that is shown is the latest chosen one of the list, and stays as long as it is chosen; the other chosen ones
    are below it on the timeline. What is chosen in the menus is chosen in the list. Where nothing is chosen, the
    latest new run is shown when the page is turned to. publisher: of the page. folder: where figures go. begin: what a
    button offers while there is no run, such as to turn to the page that makes one.
    """

    def __init__(
        self,
        runs: RunList,
        publisher: Publisher | None = None,
        folder: str | Path | None = None,
        begin: Callable[[], object] | None = None,
    ) -> None:
        self.runs = runs
        self.shown: ListedRun | None = None
        self.others: list[ListedRun] = []
        """The runs that it is compared with on the timeline."""
        self.changed: Callable[[], object] = lambda: None
        """Called when another run is shown."""
        self._offered: list[ListedRun] = []
        self._renewing = False
        self._hidden = False
        self.choice = widgets.Dropdown(
            description="run", layout={"width": "min(760px, 100%)"}, style={"description_width": "initial"}
        )
        self.again = button("Run again with timings", "solve the same once more and record every kernel", self._try)
        self.again.layout.width = "176px"
        self.status = StatusLine()
        self.offer = row("wb-buttons", self.again, self.status)
        self.inside = InsideView(publisher=publisher, folder=folder, hint=HINT)
        begins = [button("Go to Solve", "choose a problem and run it there", begin)] if begin else []
        self.nothing = row("wb-nothing", widgets.HTML(f'<p class="wb-note">{NOTHING}</p>'), *begins)
        parts = [self.nothing, self.choice, self.offer, self.inside.box]
        self.box = widgets.VBox(parts).add_class("wb-explorer").add_class("wb-insidepage")
        self.choice.observe(lambda _change: self._renewing or self._pick(), "index")
        self.inside.timeline.observe(lambda _change: self._renewing or self._pick_other(), "run")
        runs.on_change(self._notified)
        self.renew()

    def renew(self) -> None:
        """Offer the runs as they are now, and show the chosen one; where none is chosen, the latest new one."""
        self._offer(new=True)

    def _offer(self, *, new: bool) -> None:
        """Offer the runs as they are now. new: where none is chosen, show the latest of those not offered before."""
        before = self._offered
        self._offered = [run for run in reversed(self.runs.runs) if can_look_into(run)]
        chosen = [run for run in self._offered if run in self.runs.chosen]
        fresh = [run for run in self._offered if new and run not in before]
        kept = [self.shown] if self.shown in self._offered else []
        shown = next(iter([*(run for run in kept if run in chosen), *chosen, *fresh, *kept, *self._offered]), None)
        others = [run for run in reversed(chosen) if run is not shown and run.handle.traced]
        # New options choose the first of them for a moment, which must not close the views of another run.
        self._renewing = True
        self.choice.options = [(label, place) for place, label in enumerate(labels(self._offered))]
        self.choice.disabled = not self._offered
        for part, hidden in ((self.nothing, self._offered), (self.choice, not shown), (self.inside.box, not shown)):
            part.layout.display = "none" if hidden else None
        self.choice.index = self._offered.index(shown) if shown else None
        self._offer_others(shown, others)
        self._renewing = False
        self._follow(shown, others)

    def _offer_others(self, shown: ListedRun | None, others: Sequence[ListedRun]) -> None:
        """Offer the other runs with kernel timings on the timeline."""
        timeline = self.inside.timeline
        found = [run for run in self._offered if run is not shown and run.handle.traced]
        named = [(str(run.number), label) for run, label in zip(found, labels(found), strict=True)]
        chosen = ",".join(str(run.number) for run in others)
        if len(others) > 1:
            named.insert(0, (chosen, f"runs {', '.join(str(run.number) for run in others)}"))
        timeline.runs = [[*pair] for pair in named] if shown and shown.handle.traced else []
        timeline.run = chosen

    def look(self, *runs: ListedRun) -> None:
        """Show the last of these runs, compared with the others. Raises InputError for one that has no iteration yet,
        and for an active entry of a race."""
        for run in runs:
            if not can_look_into(run):
                raise InputError(f"run {run.number} cannot be looked into before it ends; wait, or choose another")
        self.runs.choose([run.number for run in runs])
        self.renew()

    def run_again(self, run: ListedRun | None = None) -> Session:
        """Solve a run, by default the one that is shown, once more with kernel timings, as a new run of the list.

        It is queued on the machine as any run. Raises InputError where there is no run, and for one that does not
        contain all of its configuration.
        """
        run = run or self.shown
        if run is None:
            raise InputError("there is no run to make again yet; run something first")
        # Times are those of the iterations alone, so that as many frames are taken as fit.
        session = Session(run.handle.configuration(), trace=True, camera=Camera(Film(), share=math.inf))
        # Only the last one keeps its vectors.
        for other in self.runs.of(INSPECT):
            other.settle()
        made = self.runs.add(session, INSPECT, run.given)
        session.start()
        self.runs.choose([made.number])
        self.renew()
        return session

    def hide(self, hidden: bool) -> None:
        """Draw nothing while another page is in front."""
        self._hidden = hidden
        self.inside.hide(hidden)

    def close(self) -> None:
        """End what was started here and take everything off the page."""
        self.runs.forget(self._notified)
        for made in self.runs.of(INSPECT):
            if isinstance(made.source, Session):
                made.source.stop()
        self.inside.close()
        super().close()

    def _notified(self) -> None:
        if not self._hidden:
            self._offer(new=False)

    def _pick(self) -> None:
        place = self.choice.index
        if place is not None and place < len(self._offered):
            self.runs.choose([self._offered[place].number])

    def _pick_other(self) -> None:
        chosen = self.inside.timeline.run
        if self.shown is not None:
            self.runs.choose([self.shown.number, *(int(number) for number in chosen.split(",") if number)])

    def _follow(self, run: ListedRun | None, others: list[ListedRun]) -> None:
        source = run.handle.source if run is not None else None
        before = self.shown, self.inside.source
        if run is None or isinstance(source, RaceEntry) or source is None:
            self._say()
            return
        if before != (run, source):
            self.shown, self.others = run, []
            self.inside.follow(source, run.label, run.style)
            self.changed()
            if isinstance(source, Session):
                source.when_over(self._say)
        if others != self.others:
            self.others = others
            compared = [other for one in others if not isinstance(other := one.handle.source, RaceEntry)]
            self.inside.compare(compared, labels([run, *others]))
        self._say()

    def _say(self) -> None:
        """Offer timings where the run has none."""
        handle = self.shown.handle if self.shown is not None else None
        if handle is not None and handle.error:
            self.status.say(handle.error, "bad")
        elif handle is not None and handle.over and handle.trace is None:
            self.status.say("")
        else:
            self.offer.layout.display = "none"
            return
        self.offer.layout.display = None

    def _try(self) -> None:
        try:
            self.run_again()
        # Nothing else would report it to the user.
        except Exception as error:
            self.status.say(error_message(error), "bad")
            self.offer.layout.display = None


def can_look_into(run: ListedRun) -> bool:
    """True if a run has something to show. An active entry of a race serves no snapshots."""
    if isinstance(run.handle.source, RaceEntry):
        return False
    return run.handle.history is not None or (isinstance(run.source, Session) and run.active)
