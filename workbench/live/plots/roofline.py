"""Kernels of a traced run against the limits of the machine, as a plot and a table, live or of a recording."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.costs.roofline import RooflinePoint, roofline_points
from workbench.devices.clock import ACCELERATOR, CPU
from workbench.errors import InputError
from workbench.live.plots.chart import ChartView
from workbench.live.transport.publisher import PollAgain, Publisher
from workbench.live.ui.controls import button, row
from workbench.live.ui.frontend import fitting
from workbench.live.ui.run_handle import RunHandle, RunSource
from workbench.live.ui.run_pictures import RunView
from workbench.live.ui.save_bar import SaveBar
from workbench.machines.calibrate import calibrate
from workbench.machines.describe import machine_line
from workbench.machines.profile import Profile, profile, profiles
from workbench.plots.figures import draw
from workbench.plots.html_table import Html, html_table
from workbench.plots.scenes.roofline import X, Y, roofline_scene
from workbench.plots.scenes.scene import blank
from workbench.plots.scenes.style import kernel_looks
from workbench.records import Trace
from workbench.run.jobs.run_queue import MACHINE, QueueSlot
from workbench.words.names import kernel_name
from workbench.words.numbers import MISSING, amount, count, counted, duration, number, percent

CACHES = 20.0
"""Caches of a processor are faster than its memory, by less than this."""
HEADINGS = ("kernel", "calls", "time", "share", "bandwidth", "of roofline", "flop/B", "Gflop/s")
HERE = "this machine, measured"
NONE_YET = "no machine"
HINT = "Trace the run to see its kernels: Session(configuration, trace=True)."
"""The hint in a notebook. A page without code names the control that does this."""
STYLE = {"description_width": "70px"}


def sentence(found: list[RooflinePoint], roof: Profile | None) -> str:
    """The rate of all kernels together against the roof, in a sentence."""
    seconds, moved = sum(spot.seconds for spot in found if spot.bytes), sum(spot.bytes for spot in found)
    rate = moved / seconds if seconds > 0 else 0.0
    reported = f"{counted(len(found), 'kernel')}, together <b>{amount(rate)}/s</b>"
    if roof:
        limit = roof.bandwidth
        of = f"{amount(limit.value)}/s {limit.basis} on {html.escape(roof.title)}"
        reported += f", {percent(rate / limit.value)} of the {of}"
        most = max((spot.bandwidth or 0.0 for spot in found), default=0.0)
        if most > CACHES * limit.value and limit.basis == "measured":
            reported += "; kernels are far above it: other work may have slowed its measurement, so measure it again"
        elif most > limit.value:
            reported += "; kernels above the roofline are served by the caches"
    return reported + "."


def table(found: list[RooflinePoint], roof: Profile | None, looks: Mapping[str, str]) -> str:
    """The numbers of every kernel as an HTML table. looks: colours by kernel."""
    rows = [_row(spot, roof, looks[spot.kernel]) for spot in found]
    return html_table(HEADINGS, rows, numbers=range(1, len(HEADINGS)), classes="wb-kernels")


def _row(spot: RooflinePoint, roof: Profile | None, colour: str) -> list[str]:
    limit = (roof.bandwidth.value, roof.flops.value if roof.flops else None) if roof else None
    share = spot.of_roof(*limit) if limit else None
    named = f'<span title="{html.escape(spot.kernel)}">{html.escape(kernel_name(spot.kernel))}</span>'
    return [
        Html(f'<span class="wb-patch" style="background: {colour}"></span>{named}'),
        count(spot.calls),
        duration(spot.seconds),
        percent(spot.share),
        MISSING if spot.bandwidth is None else f"{amount(spot.bandwidth)}/s",
        MISSING if share is None else percent(share),
        number(spot.intensity),
        number(None if spot.flop_rate is None else spot.flop_rate / 1e9),
    ]


class RooflineView(RunView):
    """A mark per kernel under the machine's roof, sized by its share of the time, and the numbers in a table.

    run: traced; a session is followed. machine: a profile, its name, or the .toml file that `workbench calibrate`
    wrote. By default this machine is measured as soon as no run is on it; for a trace that was made elsewhere
    choose a machine. Bytes are counted by the lines, so kernels whose vectors lie in a cache stand above the roof.
    folder: where figures go, by default exports/ next to the notebook. hint: said of a run without a trace.
    group: see `StreamView`.
    `figures()` is the picture, for `figures.save`. Raises InputError for an unknown machine.

    Examples:
        >>> from workbench.live import RooflineView
        >>> from workbench.run import Run, configure, run_through
        >>> view = RooflineView(run_through(Run(configure("two-layer", n=16), trace=True)), "k20m")
        >>> view.close()
    """

    def __init__(
        self,
        run: RunSource | Trace,
        machine: str | Profile | None = None,
        *,
        publisher: Publisher | None = None,
        folder: str | Path | None = None,
        hint: str = HINT,
        group: str = "",
    ) -> None:
        self.hint = fitting(hint)
        given = profile(machine) if isinstance(machine, str) else machine
        super().__init__(publisher)
        self._trace = run if isinstance(run, Trace) else None
        self.watched = None if isinstance(run, Trace) else RunHandle(run)
        self._profiles = {**profiles(), **({given.name: given} if given else {})}
        choice = given.name if given else self._home()
        named = [(made.title, name) for name, made in self._profiles.items()]
        self.machine = widgets.Dropdown(
            options=[(NONE_YET, NONE_YET), (HERE, HERE), *named], value=choice, description="machine", style=STYLE
        )
        self.lane = widgets.Dropdown(options=[CPU], description="lane", style=STYLE, layout={"width": "200px"})
        self.again = button("Measure again", "measure the roofline of this machine again", self.measure, width="130px")
        self.message, self.table, self.plot = widgets.HTML(), widgets.HTML(), ChartView(self.publisher, group=group)
        self.save_bar = SaveBar(self.figures, provenance=self._provenance, about=self._about, folder=folder)
        self.box = widgets.VBox(
            [
                row("wb-buttons", self.machine, self.lane, self.again),
                self.message,
                self.plot,
                widgets.Accordion([self.table], titles=["Numbers of the kernels"], selected_index=None),
                self.save_bar.box,
            ]
        ).add_class("wb-explorer")
        self._moving = False
        self._waits = False
        self.show()
        for control in (self.machine, self.lane):
            control.observe(self._turned, "value")
        self.publisher.add(self.publish)

    @property
    def trace(self) -> Trace | None:
        """The trace that is shown."""
        return self._trace or (self.watched.trace if self.watched else None)

    @property
    def busy(self) -> bool:
        """True while the run is active, so that nothing else may be measured."""
        return self.watched is not None and self.watched.busy

    def follow(self, run: RunSource) -> None:
        """Show another run under the same roof."""
        self._trace, self.watched = None, RunHandle(run)
        self.show()
        self.publisher.wake()

    def figures(self) -> dict[str, Figure]:
        """The picture as it stands, by the name `roofline`."""
        trace = self.trace
        title = f"kernels {trace.label} on {trace.machine}" if trace else ""
        return {"roofline": draw(self.plot.scene, title=title)} if self.plot.scene.layers else {}

    def measure(self) -> None:
        """Measure this machine again; does nothing while the run continues."""
        if not self.busy:
            this_machine.cache_clear()
            self.show()

    def extent(self) -> object:
        trace = self.trace
        return trace.count if trace else -1, self.busy, self.watched.error if self.watched else ""

    def publish(self) -> PollAgain:
        goes_on = super().publish()
        if self.hidden or not self._waits:
            return goes_on
        if not MACHINE.busy:
            self.show()
        return goes_on or self._waits

    def draw(self) -> None:
        trace = self.trace
        self.again.disabled = self.busy or self.machine.value != HERE
        self._waits = False
        if trace is None or not trace.count:
            error = self.watched.error if self.watched else ""
            self._say(error or ("No events yet." if trace else self.hint))
            return
        self._offer_lanes(trace)
        try:
            found = roofline_points(trace, str(self.lane.value))
            roof, note = self._roof()
            self._draw_picture(trace, found, roof)
        except InputError as error:
            self._say(str(error))
            return
        self.message.value = sentence(found, roof) + (f"<br>{html.escape(note)}" if note else "")
        self.table.value = table(found, roof, kernel_looks(list(trace.kernels)))

    def _provenance(self) -> dict[str, Any]:
        trace = self.trace
        shown = {"roof": self.machine.value, "lane": self.lane.value}
        run = self.watched.provenance if self.watched else {}
        return {**shown, **run, **({"trace": trace.label, "traced on": trace.machine} if trace else {})}

    def _about(self) -> str:
        return self.watched.file_title if self.watched else self.trace.machine if self.trace else ""

    def _turned(self, _change: object) -> None:
        if not self._moving:
            self.show()

    def _say(self, sentence: str) -> None:
        """Say why there is no picture."""
        self.message.value, self.table.value = html.escape(sentence), ""
        self.plot.show(blank("roofline", sentence, X, Y))

    def _draw_picture(self, trace: Trace, found: list[RooflinePoint], roof: Profile | None) -> None:
        looks = kernel_looks(list(trace.kernels))
        spoken = re.sub("<[^>]*>", "", sentence(found, roof))
        self.plot.show(roofline_scene(found, roof, looks, spoken), live=self.busy)

    def _roof(self) -> tuple[Profile | None, str]:
        """The machine's limits, and a sentence where there are none."""
        name = str(self.machine.value)
        if name == NONE_YET:
            return None, "Choose the machine of the trace; the kernels are then compared with its limit."
        if name != HERE:
            return self._profiles[name], self._elsewhere(name)
        if self.busy:
            return None, "The machine's limit is measured when the run is over or paused."
        on_cores = self.lane.value == CPU
        if self.watched is None and not on_cores:
            return None, "The trace does not say on which accelerator it was made; choose the machine."
        try:
            return this_machine("cpu" if on_cores or self.watched is None else self.watched.device), ""
        except _TakenError:
            self._waits = True
            return None, "The machine's limit is measured when no run is active."
        except InputError as error:
            # A run that was saved is looked at where its device may not be.
            return None, f"No roof: {error}."

    def _elsewhere(self, name: str) -> str:
        """A word of caution where the kernels did not run on the machine whose roof is shown."""
        if self.trace is None or self._home() in (name, NONE_YET):
            return ""
        return f"The kernels are {self.trace.label} on {self.trace.machine}, not on the machine of this roofline."

    def _offer_lanes(self, trace: Trace) -> None:
        """Offer the lanes that compute; copies have no operations."""
        there = [lane for lane in (CPU, ACCELERATOR) if lane in {kernel.lane for kernel in list(trace.kernels)}]
        if there and list(self.lane.options) != there:
            self._moving = True
            self.lane.options = there
            self._moving = False
        self.lane.disabled = len(there) < 2

    def _home(self) -> str:
        """The machine that the trace was made on, or modelled for, if it is known."""
        trace = self.trace
        if trace is None or trace.machine == machine_line():
            return HERE
        return next((name for name, made in self._profiles.items() if made.title == trace.machine), NONE_YET)


class _TakenError(Exception):
    """A run is on the machine or waits for it."""


@functools.cache
def this_machine(device: str) -> Profile:
    """The profile of this machine, measured once for all views and alone on the machine. An error, as while a run is
    active, is not kept."""
    slot = QueueSlot(MACHINE)
    slot.enqueue()
    try:
        if not slot.held:
            raise _TakenError
        return calibrate("this", device)
    finally:
        slot.release()
