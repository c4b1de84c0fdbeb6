"""The view of a flow in progress: rising bubbles, the iterations of two methods on the same systems, and measures."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.extensions.flow.page.flow_bubbles import FlowBubbles
from workbench.extensions.flow.page.flow_curves import FlowCurves
from workbench.extensions.flow.page.flow_files import FlowFiles
from workbench.extensions.flow.page.flow_form import FlowForm
from workbench.extensions.flow.page.flow_picture import RATE, FlowPicture
from workbench.extensions.flow.page.flow_text import ANOTHER, doing, facts, sentence
from workbench.extensions.flow.page.player import Player, to_play
from workbench.extensions.flow.page.step_race import StepRace, VerdictLine
from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.live.solve.controller import Controller, PausableView
from workbench.live.transport.publisher import PollAgain, Publisher
from workbench.live.transport.rate_limit import RateLimit
from workbench.live.ui.controls import button, column, markup, row
from workbench.live.ui.extension_view import ExtensionView
from workbench.live.ui.share_bar import ShareBar
from workbench.problems import Problem
from workbench.problems.bubble_geometry import to_text
from workbench.problems.bubbles import Bubbles
from workbench.run import Configuration, State
from workbench.sequences.method import changed, problem_of, settings_of
from workbench.sequences.sequence import Sequence
from workbench.sequences.systems import SystemSequence
from workbench.words.numbers import count

PERIOD, SAY_PERIOD = 0.8, 0.4
"""Seconds between two updates of the curves, and of the sentence in the bar, while the flow plays."""
RESTART, AGAIN = "Restart", "Run again from the start"
SECOND = {"preconditioner": "jacobi", "deflation": "none"}


class FlowView(ExtensionView, PausableView):
    """A sequence of systems played step by step, solved by two methods.

    configuration: the first method, on a problem that is a sequence. second: settings of the other method. folder: for
    files, by default exports/ next to the notebook. drawn: returns the problem that is drawn in Build, so that the flow
    can begin with its bubbles. `play`, `pause`, `step`, `stop` and `reset` do what the buttons do; `sequence` has all
    numbers. Another method is used from the next step on, another problem from the next reset on; `take_back` then
    returns to the run before. Raises InputError for
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
        self.sequence = to_play(configuration, SECOND if second is None else second)
        self.publisher = Publisher()
        first, other = self.sequence.methods
        self.form = FlowForm((first.configuration, other.configuration), self._problem_changed, self._method_changed)
        self.picture = FlowPicture(self.publisher)
        self.player = Player(self.sequence, self.publisher.wake)
        self.controller = Controller(
            self.publisher,
            self._press,
            self._status,
            refresh=self._refresh,
            why_not=self._why_not,
            step=self.step,
            toggles=True,
            starting=self._next_act,
            about="play and pause; after the end show the kept steps from the start",
            period=SAY_PERIOD,
        )
        self.again = button(RESTART, "return to time 0 with the problem of the form", self._press_again)
        self.back = button("Back to the run before", "show the run that was left, and continue it", self.take_back)
        self.take = button("Use the bubbles from Build", "start from the bubbles drawn there", self.take_drawn)
        self._earlier: Sequence | None = None
        self._drawn = drawn
        self.take.layout.display = None if drawn else "none"
        self.bubbles = FlowBubbles(lambda: self.sequence.problem, self._begin_with, self.publisher)
        self.field, self.volume = self.picture.field, self.picture.volume
        self.curves = FlowCurves(self.publisher)
        self.facts, self.verdict = markup(), VerdictLine()
        self.files = FlowFiles(lambda: self.sequence, self._pictures, self.folder)
        self.race = StepRace(lambda: self.player, self.publisher.wake)
        self.share = ShareBar(lambda: self.form.configuration(0), self._load, self.folder)
        self.box = self._layout()
        self._rate_limit = RateLimit(PERIOD)
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
        """Step from here to the end, where the form's problem is another from the start; returns at once. After the end
        it shows the kept steps."""
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

    def take_back(self) -> None:
        """Return to the run that was left by the last restart, with its problem; no step of it is lost."""
        if self._earlier is not None:
            self._earlier, before = (self.sequence if self.sequence.steps else None), self._earlier
            self._show_sequence(before)
            self.form.load(*(method.configuration for method in before.methods))

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
        shown = [self.bubbles.box, self.volume, self.field, self.picture.controls, self.facts]
        left = column("wb-flowleft", *shown)
        right = column("wb-flowright", *self.curves.methods)
        stage = [
            self.race.box,
            self.verdict.box,
            row("wb-canvases", left, right),
            row("wb-flowmeasures", *self.curves.measures),
            row("wb-flowmeasures", self.curves.parts, self.curves.error),
            self.files.box,
            self.files.status,
            *([] if self._drawn else [self.share]),
        ]
        columns = row("wb-cols", self.form.box, column("wb-stage", *stage))
        bar = row("wb-flowbar", self.controller.bar, self.back, self.take, self.again)
        return column("wb wb-explorer wb-solving wb-flow", bar, columns)

    def _new_player(self) -> None:
        self.player = Player(self.sequence, self.publisher.wake)
        self.controller.add(self.player)
        self.picture.follow(self.player)

    def _next_act(self) -> str:
        """The word of the first button: what a press does."""
        if self.picture.replay.playing or (self.player.alive and self.player.state is not State.PAUSED):
            return "Pause"
        return "Replay" if self.sequence.done and self.picture.at_end else "Play"

    def _press(self) -> None:
        match self._next_act():
            case "Pause" if self.picture.replay.playing:
                self.picture.replay.stop()
                self.publisher.wake()
            case "Pause":
                self.pause()
            case _:
                self._play()

    def _play(self) -> None:
        if self.sequence.done:
            self.picture.play_back(self.sequence)
            return
        if not self.player.alive:
            self._new_player()
            self.player.start()
        self.resume()

    def _press_again(self) -> None:
        play = self._has_another_problem()
        self.reset()
        if play and not self._begun:
            self.play()

    def _take_drawn(self) -> None:
        assert self._drawn is not None
        drawn = self._drawn()
        if not isinstance(drawn, Bubbles):
            raise InputError("there are no bubbles in Build; choose bubbles there, and draw some")
        geometry = drawn.geometry()
        kept = self.sequence.problem if isinstance(self.sequence.problem, RisingBubbles) else RisingBubbles()
        taken = dataclasses.replace(kept, bubbles=to_text(geometry), dimensions=geometry.centres.shape[1])
        self.form.show(taken)
        self._reset()

    def _begin_with(self, problem: RisingBubbles) -> None:
        """Begin again with a problem whose bubbles the user has moved. Raises InputError once the flow has begun."""
        if self._begun:
            raise InputError("the flow has begun; press Restart to move its bubbles")
        self.form.show(problem)
        self._reset()

    @property
    def _begun(self) -> bool:
        return self.sequence.steps > 0 or self.player.alive

    def _reset(self) -> None:
        first, second = (self.form.configuration(place) for place in range(2))
        made = to_play(first, settings_of(second))
        if self.sequence.steps:
            self._earlier = self.sequence
        self._show_sequence(made)

    def _show_sequence(self, sequence: Sequence) -> None:
        """Stop the present sequence, and show another at its last step."""
        self.stop()
        self.player.join(5.0)
        self.sequence, self._form_error = sequence, ""
        self._new_player()
        self.picture.rewind(sequence)
        self.changed()
        self.publisher.wake()

    def _load(self, configuration: Configuration) -> None:
        problem_of(configuration)
        self.form.load(configuration)
        self.reset()

    def _problem_changed(self) -> None:
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
        if self.picture.replay.playing:
            return f"Replay of {count(self.sequence.steps)} kept steps.", "busy"
        if self._has_another_problem() and state is not State.FAILED:
            return ANOTHER, "busy"
        return sentence(player, state)

    def _has_another_problem(self) -> bool:
        """True if the form has another problem than the flow."""
        try:
            return self.form.of_problem.problem() != self.sequence.problem
        except InputError:
            return False

    def _refresh(self) -> None:
        """Enable the files that can be written now, and name the way to another run."""
        self.files.offer(self.sequence.steps > 0 and not self.player.steady)
        other = self._has_another_problem()
        self.again.description = AGAIN if other else RESTART
        self.again.button_style = "primary" if other else ""
        self.again.disabled = not (self._begun or other)
        self.back.layout.display = None if self._earlier is not None and not self.player.alive else "none"

    def _update_page(self) -> PollAgain:
        """Update the curves, the slider of steps and the race, once in `PERIOD` while the flow plays."""
        drawn = self.bubbles.show(begun=self._begun)
        self.field.layout.display = self.picture.controls.layout.display = "none" if drawn else None
        self.picture.advance()
        replaying = self.picture.replay.playing
        racing = self.race.racing
        busy = self.player.steady or replaying or (racing is not None and racing.steady)
        if busy and not self._rate_limit.take():
            return 1 / RATE if replaying else self._rate_limit.wait
        self.picture.extend(self.sequence, playing=self.player.alive)
        self.race.update()
        words = doing(self.player)
        if self.curves.show(self.sequence, self.field.step, live=self.player.steady, words=words):
            self.facts.value = facts(self.sequence)
            self.verdict.show(self.sequence)
            live = self.player.steady or replaying
            self.player.ask(lambda: self.picture.show_bubbles(self.sequence, live=live))
        if replaying:
            return 1 / RATE
        return PERIOD if self.player.alive or (racing is not None and racing.alive) else False

    def _pictures(self) -> dict[str, Any]:
        field = self.field.figure()
        return {**({"flow": field} if field is not None else {}), **self.curves.scenes}
