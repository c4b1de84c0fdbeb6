"""The verdict on the methods of a flow, and a race of methods on its latest steps: all replay the same systems."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from workbench.errors import InputError
from workbench.extensions.flow import records
from workbench.extensions.flow.pace import short_names, verdict
from workbench.extensions.flow.page.player import Player
from workbench.files import TemporaryFolder
from workbench.live.ui.controls import button, column, markup, row
from workbench.live.ui.status import StatusLine
from workbench.live.ui.words import shown
from workbench.plots.html_table import html_table
from workbench.run import State
from workbench.sequences.method import settings_of
from workbench.sequences.sequence import Sequence
from workbench.words.numbers import count, number

STEPS = 30
WAITS = "Waiting for the flow to pause."
MORE: tuple[dict[str, Any], ...] = (
    {"preconditioner": "mg", "deflation": "none"},
    {"preconditioner": "neumann:2", "deflation": "blocks:8"},
)
"""Methods that race against the two of the view."""
HEADINGS = ("method", "deflation vectors", "iterations per step", "ms per step", "of which setup")


class VerdictLine:
    """A sentence and its reason. Display `box`, which is hidden while there is no verdict."""

    def __init__(self) -> None:
        self.status, self.why = StatusLine(), markup()
        self.box = column("wb-flowverdict", self.status, self.why)
        self.box.layout.display = "none"

    def show(self, sequence: Sequence) -> None:
        """Say which method of a sequence is the fastest per step so far."""
        found = verdict(sequence)
        self.box.layout.display = None if found.sentence else "none"
        self.status.say(found.sentence, found.tone, quote=found.quote)
        self.why.value = f'<p class="wb-note">{html.escape(shown(found.why))}</p>' if found.why else ""


class StepRace:
    """A button, a line and a table. Display `box`.

    player: returns that of the view, whose kept steps are replayed. wake: called when there is something new.
    """

    def __init__(self, player: Callable[[], Player], wake: Callable[[], object]) -> None:
        self._player, self._wake = player, wake
        self.press = button("Race four methods", f"on the last {STEPS} steps, the same for all; pauses", self.start)
        self.stop_press = button("Stop race", "end it; what was measured stays", self.stop)
        self.status, self.table, self.verdict = StatusLine(), markup(), VerdictLine()
        self.racing: Player | None = None
        self._folder = TemporaryFolder("flow")
        self._shown: tuple[object, ...] = ()
        self._steps = 0
        top = row("wb-buttons", self.press, self.stop_press, self.status)
        self.box = column("wb-steprace", top, self.verdict.box, self.table)

    def start(self) -> None:
        """Pause the flow, and replay its latest steps once the machine is free."""
        player = self._player()
        player.pause()
        player.ask(lambda: self._begin(player.sequence))

    def stop(self) -> None:
        """End the race."""
        if self.racing is not None:
            self.racing.stop()

    def update(self) -> None:
        """Show the state of the race; called by the publisher of the view."""
        racing = self.racing
        self.press.disabled = not self._player().sequence.steps or (racing is not None and racing.alive)
        self.stop_press.layout.display = None if racing is not None and racing.alive else "none"
        if racing is None:
            return
        sequence, news = racing.sequence, (racing.sequence.steps, racing.sequence.done, racing.state)
        if racing.state is State.QUEUED:
            self.status.say(WAITS, "busy")
        elif racing.error:
            self.status.say(racing.error, "bad")
        elif not sequence.steps:
            self.status.say("Compiling kernels." if racing.compiling else "Setting up four methods.", "busy")
        else:
            steps = f"{count(sequence.steps)} of {count(self._steps)} steps"
            self.status.say(f"{steps} raced.", "good" if sequence.done else "busy")
        if news == self._shown:
            return
        self._shown = news
        if sequence.steps:
            self.verdict.show(sequence)
            keys = ("iterations", "milliseconds", "setup_milliseconds")
            ranking = sequence.ranking()
            names = short_names([each["method"] for each in ranking])
            rows = [
                (name, count(each["deflation_vectors"]) if each["deflation_vectors"] else "–")
                + ((each["failure"],) if each["failure"] else tuple(number(each[key]) for key in keys))
                for name, each in zip(names, ranking, strict=True)
            ]
            self.table.value = html_table(HEADINGS, rows, numbers=(1, 2, 3, 4))

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
        self.racing, self._shown, self._steps = Player(made, self._wake), (), min(STEPS, len(sequence.kept))
        self.racing.start()
        self.status.say(WAITS, "busy")
        self._wake()
