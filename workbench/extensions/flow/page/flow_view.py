"""The view of a flow in progress: rising bubbles, the iterations of two methods on the same systems, and measures."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.extensions.flow.page.flow_bubbles import FlowBubbles
from workbench.extensions.flow.page.flow_curves import FlowCurves
from workbench.extensions.flow.page.flow_field import FlowField, bubbles_of
from workbench.extensions.flow.page.flow_files import FlowFiles
from workbench.extensions.flow.page.flow_form import FlowForm
from workbench.extensions.flow.page.flow_text import ANOTHER, facts, sentence
from workbench.extensions.flow.page.player import Player
from workbench.extensions.flow.page.step_race import StepRace
from workbench.extensions.flow.plane_scene import PHASE, quantities
from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.live.field.volume_view import VolumeView
from workbench.live.solve.controller import Controller, PausableView
from workbench.live.transport.publisher import PollAgain, Publisher
from workbench.live.transport.rate_limit import RateLimit
from workbench.live.ui.controls import button, row
from workbench.live.ui.extension_view import ExtensionView
from workbench.live.ui.share_bar import ShareBar
from workbench.problems import Problem
from workbench.problems.bubble_geometry import to_text
from workbench.problems.bubbles import Bubbles
from workbench.run import Configuration, State, configure
from workbench.sequences.method import changed, problem_of, settings_of
from workbench.sequences.sequence import Sequence
from workbench.sequences.systems import SystemSequence

PERIOD = 0.8
"""Seconds between two updates of the curves while the flow plays."""
KEPT_STEPS, KEPT_BYTES = 1000, 256 << 20
"""The last steps, and their bytes at most, whose right-hand sides are kept for replays."""
VOLUME_HEIGHT = 320
"""Pixels of the height of the bubbles in 3D."""
SECOND = {"preconditioner": "jacobi", "deflation": "none"}


class FlowView(ExtensionView, PausableView):
    """A sequence of systems played step by step, solved by two methods.

    configuration: the first method, on a problem that is a sequence. second: settings of the other method. folder: for
    files, by default exports/ next to the notebook. drawn: returns the problem that is drawn in Build, so that the flow
    can begin with its bubbles. `play`, `pause`, `step`, `stop` and `reset` do what the buttons do; `sequence` has all
    numbers. Another method is used from the next step on, another problem from the next reset on. Raises InputError for
    a problem that is one system.

    Examples:
        >>> from workbench.live import FlowView
        >>> from workbench.run import configure
        >>> view = FlowView(configure("rising-bubbles", n=16, preconditioner="mg"))
        >>> view.sequence.steps
        0
        >>> view.close()
    """

    def __init__(
        self,
        configuration: Configuration,
        second: dict[str, Any] | None = None,
        folder: str | Path | None = None,
        drawn: Callable[[], Problem] | None = None,
    ) -> None:
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.sequence = _sequence(configuration, SECOND if second is None else second)
        self.publisher = Publisher()
        first, other = self.sequence.methods
        self.form = FlowForm((first.configuration, other.configuration), self._problem_changed, self._method_changed)
        self.controller = Controller(
            self.publisher,
            self._play,
            self._status,
            refresh=self._refresh,
            why_not=self._why_not,
            step=self.step,
            starting=lambda: "Play" if not self.sequence.steps else "Play on",
            about="step from here to the end",
            period=PERIOD,
        )
        self.again = button(
            "Begin again", "return to the start, with the problem of the form", self.reset, width="110px"
        )
        self.take = button(
            "Bubbles of Build", "begin again with the bubbles that are drawn in Build", self.take_drawn, width="130px"
        )
        self._drawn = drawn
        self.take.layout.display = None if drawn else "none"
        self.bubbles = FlowBubbles(lambda: self.sequence.problem, self._begin_with, self.publisher)
        self.field = FlowField(self.publisher)
        self.quantity = widgets.Dropdown(description="colour", style={"description_width": "initial"})
        self.past_step = widgets.IntSlider(0, 0, 0, description="step", style={"description_width": "initial"})
        self.quantity.observe(self._show_choice, "value")
        self.past_step.observe(self._show_choice, "value")
        self.picture_controls = row("wb-buttons", self.quantity, self.past_step)
        self.curves = FlowCurves(self.publisher)
        self.volume = VolumeView(self.publisher, height=VOLUME_HEIGHT, slices=False, subdomains=False)
        self.facts = widgets.HTML()
        self.files = FlowFiles(lambda: self.sequence, self._pictures, self.folder)
        self.race = StepRace(lambda: self.player, self.publisher.wake)
        self.share = ShareBar(lambda: self.form.configuration(0), self._load, self.folder)
        self.volume.layout.display = "none"
        self.box = self._layout()
        self._rate_limit = RateLimit(PERIOD)
        self._setting_slider = False
        self._form_error = ""
        self._new_player()
        self.publisher.add(self._update_page)
        self.controller.serve()

    @property
    def problem_shown(self) -> SystemSequence:
        """The sequence that is played."""
        return self.sequence.problem

    @property
    def configuration_shown(self) -> Configuration:
        return self.form.configuration(0)

    def play(self) -> None:
        """Step from here to the end; returns at once."""
        self.controller.attempt(self._play)()

    def step(self) -> None:
        """Make one step, and pause."""
        if not self.player.alive:
            self._new_player()
        self.player.step()
        self.publisher.wake()

    def reset(self) -> None:
        """Return to time 0, with the problem and the methods of the form."""
        self.controller.attempt(self._reset)()

    def take_drawn(self) -> None:
        """Begin again with the bubbles on the canvas, on the grid and with the groups of the form."""
        self.controller.attempt(self._take_drawn)()

    def take_method(self, configuration: Configuration) -> None:
        """Use this method as the first one from the next step on; begin again if it is on another problem."""
        if problem_of(configuration) == self.sequence.problem:
            self.form.of_methods[0].load(configuration)
        else:
            self._load(configuration)

    def wait(self, timeout: float | None = None) -> Sequence:
        """Wait until the flow has ended or is stopped; returns the sequence.

        Raises InputError with the message of a step that failed, TimeoutError after `timeout` seconds.
        """
        self.player.join(timeout)
        if self.player.working:
            raise TimeoutError(f"the flow is still playing after {timeout} s; stop() ends it")
        if self.player.error:
            raise InputError(self.player.error)
        return self.sequence

    def use(self, place: int, **settings: Any) -> None:
        """Change a method from the next step on. place: 0 or 1; settings: as for `configure`."""
        method = self.sequence.methods[place]
        self.form.of_methods[place].load(changed(method.configuration, **settings))

    def close(self) -> None:
        """Stop, and remove the view from the page."""
        self.stop()
        self.race.close()
        self.bubbles.close()
        self.publisher.close()
        super().close()

    def hide(self, hidden: bool) -> None:
        """Send nothing while another view is in front."""
        for view in (self.bubbles.editor.canvas, self.field, self.volume, *self.curves.charts):
            view.link.hidden = hidden
        self.publisher.wake()

    def _layout(self) -> widgets.Box:
        shown = [self.bubbles.box, self.field, self.volume, self.picture_controls, self.facts]
        left = widgets.VBox(shown).add_class("wb-flowleft")
        right = widgets.VBox(self.curves.methods).add_class("wb-flowright")
        stage = [
            row("wb-canvases", left, right),
            row("wb-flowmeasures", *self.curves.measures),
            row("wb-flowmeasures", self.curves.parts, self.curves.error),
            self.race.box,
            self.files.box,
            self.files.status,
            *([] if self._drawn else [self.share]),
        ]
        columns = row("wb-cols", self.form.box, widgets.VBox(stage).add_class("wb-stage"))
        bar = row("wb-flowbar", self.controller.bar, self.take, self.again)
        box = widgets.VBox([bar, columns])
        return box.add_class("wb").add_class("wb-explorer").add_class("wb-solving").add_class("wb-flow")

    def _new_player(self) -> None:
        size = self.sequence.problem.known_size
        if not self.sequence.steps and size is not None and size.grid is not None and len(size.grid) == 3:
            self.field.index = size.grid["zyx".index(self.field.normal)] // 2
        self.player = Player(self.sequence, self.publisher.wake)
        self.controller.add(self.player)
        self.field.follow(self.player)
        offered = quantities(self.sequence)
        if tuple(self.quantity.options) != offered:
            self.quantity.options, self.quantity.value = offered, offered[0]
            self.field.quantity = offered[0]

    def _play(self) -> None:
        if self.sequence.done:
            self._reset()
        if not self.player.alive:
            self._new_player()
            self.player.start()
        self.resume()

    def _take_drawn(self) -> None:
        assert self._drawn is not None
        drawn = self._drawn()
        if not isinstance(drawn, Bubbles):
            raise InputError("there are no bubbles in Build to take; choose bubbles there, and draw some")
        geometry = drawn.geometry()
        kept = self.sequence.problem if isinstance(self.sequence.problem, RisingBubbles) else RisingBubbles()
        taken = dataclasses.replace(kept, bubbles=to_text(geometry), dimensions=geometry.centres.shape[1])
        self.form.of_problem.load(taken)
        self._reset()

    def _begin_with(self, problem: RisingBubbles) -> None:
        """Begin again with a problem whose bubbles the user has moved. Raises InputError once the flow has begun."""
        if self._begun:
            raise InputError("the flow has begun; press Begin again to move its bubbles")
        self.form.of_problem.load(problem)
        self._reset()

    @property
    def _begun(self) -> bool:
        return self.sequence.steps > 0 or self.player.alive

    def _reset(self) -> None:
        first, second = (self.form.configuration(place) for place in range(2))
        made = _sequence(first, settings_of(second))
        self.stop()
        self.player.join(5.0)
        self.sequence, self._form_error = made, ""
        self._new_player()
        self.past_step.value = 0
        self.changed()
        self.publisher.wake()

    def _load(self, configuration: Configuration) -> None:
        problem_of(configuration)
        self.form.load(configuration)
        self.reset()

    def _problem_changed(self) -> None:
        for form in self.form.of_methods:
            form.settle()
        if not self._begun:
            self.reset()
        self.publisher.wake()

    def _method_changed(self, place: int) -> None:
        try:
            chosen, self._form_error = self.form.configuration(place), ""
        except InputError as error:
            self._form_error = str(error)
        else:
            method = self.sequence.methods[place]
            if settings_of(chosen) != settings_of(method.configuration):
                self.player.ask(self.controller.attempt(lambda: method.use(**settings_of(chosen))))
        self.publisher.wake()

    def _why_not(self) -> str:
        if self._form_error:
            return self._form_error
        try:
            self.form.of_problem.problem()
        except InputError as error:
            return str(error)
        return ""

    def _status(self, player: Player, state: State) -> tuple[str, str]:
        return (
            (ANOTHER, "busy") if self._has_another_problem() and state is not State.FAILED else sentence(player, state)
        )

    def _has_another_problem(self) -> bool:
        """True if the form has another problem than the flow."""
        try:
            return self.form.of_problem.problem() != self.sequence.problem
        except InputError:
            return False

    def _show_choice(self, _change: object = None) -> None:
        if self._setting_slider:
            return
        self.field.quantity = str(self.quantity.value or PHASE)
        self.field.step = 0 if self.past_step.value >= self.past_step.max else int(self.past_step.value)
        self.publisher.wake()

    def _refresh(self) -> None:
        """Enable the files that can be written now."""
        self.files.offer(self.sequence.steps > 0 and not self.player.steady)

    def _update_page(self) -> PollAgain:
        """Update the curves, the slider of steps and the race, once in `PERIOD` while the flow plays."""
        drawn = self.bubbles.show(begun=self._begun)
        self.field.layout.display = self.picture_controls.layout.display = "none" if drawn else None
        racing = self.race.racing
        busy = self.player.steady or (racing is not None and racing.steady)
        if busy and not self._rate_limit.take():
            return self._rate_limit.wait
        self._extend_slider()
        self.race.update()
        if self.curves.show(self.sequence, self.field.step, live=self.player.steady):
            self.facts.value = facts(self.sequence)
            self.player.ask(self._show_bubbles)
        return PERIOD if self.player.alive or (racing is not None and racing.alive) else False

    def _extend_slider(self) -> None:
        """Extend the slider to the last step; its handle stays at the end if it was there."""
        steps, latest = self.sequence.steps, self.past_step.value >= self.past_step.max
        if self.past_step.max == steps:
            return
        self._setting_slider = True
        self.past_step.max = steps
        if latest:
            self.past_step.value = steps
        self._setting_slider = False

    def _show_bubbles(self) -> None:
        """Show the surfaces of the bubbles in a box; runs in the thread that steps."""
        shown = bubbles_of(self.sequence, self.field.step)
        self.volume.layout.display = None if shown is not None else "none"
        if shown is not None:
            self.volume.show(shown)

    def _pictures(self) -> dict[str, Any]:
        field = self.field.figure()
        return {**({"flow": field} if field is not None else {}), **self.curves.scenes}


def flow(
    problem: str | Problem | Configuration = "rising-bubbles",
    second: dict[str, Any] | None = None,
    folder: str | Path | None = None,
    **choices: Any,
) -> FlowView:
    """The view of a sequence with the choices of `configure`: flow("rising-bubbles", n=64, preconditioner="mg").

    problem: also the path of a record, .seq.npz. second: settings of the other method, by default Jacobi. Raises
    InputError for unknown names, and for a problem that is one system.

    Examples:
        >>> from workbench.live import flow
        >>> view = flow(n=16)
        >>> view.close()
    """
    if isinstance(problem, Configuration):
        return FlowView(problem, second, folder)
    suggested = {"preconditioner": "neumann:2", "deflation": "levelset:8"} if problem == "rising-bubbles" else {}
    return FlowView(configure(problem, **{**suggested, **choices}), second, folder)


def _sequence(first: Configuration, second: Mapping[str, Any]) -> Sequence:
    """A sequence at time 0, which keeps the right-hand sides of its last steps as `KEPT_STEPS`, `KEPT_BYTES` allow."""
    size = first.problem.known_size
    bytes_of_b = 8 * size.unknowns if size is not None and size.unknowns else KEPT_BYTES
    return Sequence(first, keep=max(1, min(KEPT_STEPS, KEPT_BYTES // bytes_of_b)), others=[second])
