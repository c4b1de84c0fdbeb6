"""A race of methods on the latest steps of a flow: all of them replay the same systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.extensions.flow import records
from workbench.extensions.flow.page.player import Player
from workbench.files import TemporaryFolder
from workbench.live.ui.controls import button, row
from workbench.live.ui.status import StatusLine
from workbench.plots.html_table import html_table
from workbench.run import State
from workbench.sequences.method import settings_of
from workbench.sequences.sequence import Sequence
from workbench.words.numbers import number

STEPS = 50
MORE: tuple[dict[str, Any], ...] = (
    {"preconditioner": "mg", "deflation": "none"},
    {"preconditioner": "neumann:2", "deflation": "blocks:8"},
)
"""Methods that race against the two of the view."""
HEADINGS = ("method", "iterations a step", "ms a step", "of these setup")


class StepRace:
    """A button, a line and a table. Display `box`.

    player: returns that of the view, whose kept steps are replayed. wake: called when there is something new.
    """

    def __init__(self, player: Callable[[], Player], wake: Callable[[], object]) -> None:
        self._player, self._wake = player, wake
        self.press = button(f"Race four methods on the last {STEPS} steps", "the same systems for all", self.start)
        self.stop_press = button("Stop race", "end it; what was measured stays", self.stop)
        self.status, self.table = StatusLine(), widgets.HTML()
        self.racing: Player | None = None
        self._folder = TemporaryFolder("flow")
        self._shown = -1
        self.box = widgets.VBox([row("wb-buttons", self.press, self.stop_press), self.status, self.table])

    def start(self) -> None:
        """Replay the latest steps, once the machine is free."""
        player = self._player()
        player.ask(lambda: self._begin(player.sequence))

    def stop(self) -> None:
        """End the race."""
        if self.racing is not None:
            self.racing.stop()

    def update(self) -> None:
        """Show the state of the race; called by the publisher of the view."""
        racing = self.racing
        self.press.disabled = not self._player().sequence.steps or (racing is not None and racing.alive)
        self.stop_press.disabled = racing is None or not racing.alive
        if racing is None or racing.sequence.steps == self._shown:
            return
        sequence, self._shown = racing.sequence, racing.sequence.steps
        if racing.state is State.QUEUED:
            self.status.say("waits until the flow is paused or ends", "busy")
        elif racing.error:
            self.status.say(racing.error, "bad")
        else:
            self.status.say(f"{sequence.steps} of the latest steps replayed", "good" if sequence.done else "busy")
        if sequence.steps:
            keys = ("iterations", "milliseconds", "setup_milliseconds")
            rows = [
                (each["method"], *([each["failure"]] if each["failure"] else (number(each[key]) for key in keys)))
                for each in sequence.ranking()
            ]
            self.table.value = html_table(HEADINGS, rows, numbers=(1, 2, 3))

    def close(self) -> None:
        """End the race, and remove its record."""
        self.stop()
        self._folder.remove()

    def _begin(self, sequence: Sequence) -> None:
        """Save the latest steps and start the race; runs in the thread that steps."""
        try:
            path = records.save(sequence, self._folder.path / "steps", STEPS)
            first, *others = [settings_of(method.configuration) for method in sequence.methods]
            made = Sequence(f"recorded:{path}", others=[*others, *MORE], **first)
        except InputError as error:
            self.status.say(str(error), "bad")
            return
        self.racing, self._shown = Player(made, self._wake), -1
        self.racing.start()
        self.status.say("waits until the flow is paused or ends", "busy")
        self._wake()
