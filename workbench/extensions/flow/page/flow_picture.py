"""The picture of a flow: its field, in a box also its bubbles in 3D, and the slider and the replay of kept steps."""

from __future__ import annotations

import time

import ipywidgets as widgets

from workbench.extensions.flow.page.flow_field import FlowField, bubbles_of
from workbench.extensions.flow.page.player import Player
from workbench.extensions.flow.plane_scene import PHASE, quantities
from workbench.live.field.volume_view import VolumeView
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import row
from workbench.sequences.sequence import Sequence

VOLUME_HEIGHT = 320
"""Pixels of the height of the bubbles in 3D."""
REPLAY_SECONDS = 15.0
"""Seconds of the replay of a long flow."""
RATE = 10.0
"""Steps per second of a short one, and pictures per second of all."""


class Replay:
    """The replay of the kept steps of a flow by the clock, without a solve, from a step to the last one."""

    def __init__(self) -> None:
        self._begun: float | None = None
        self._first = 1
        self._last = 1

    @property
    def playing(self) -> bool:
        """True from `start` until the last step is reached, or until `stop`."""
        return self._begun is not None

    def start(self, first: int, last: int) -> None:
        """Show the steps from first to last."""
        self._begun, self._first, self._last = time.monotonic(), first, last

    def stop(self) -> None:
        """Stay at the step that is shown."""
        self._begun = None

    def step(self) -> int:
        """The step to show now; the last one ends the replay."""
        if self._begun is None:
            return self._last
        rate = max(RATE, self._last / REPLAY_SECONDS)
        step = min(self._last, self._first + int(rate * (time.monotonic() - self._begun)))
        if step == self._last:
            self._begun = None
        return step


class FlowPicture:
    """Display `volume`, `field` and `controls`, in this order. `follow` says whose picture it is."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher, self._moving = publisher, False
        self.field, self.replay = FlowField(publisher), Replay()
        self.volume = VolumeView(publisher, height=VOLUME_HEIGHT, slices=False, subdomains=False)
        self.volume.layout.display = "none"
        self.quantity = widgets.Dropdown(description="colour", style={"description_width": "initial"})
        self.past_step = widgets.IntSlider(0, 0, 0, description="step", style={"description_width": "initial"})
        for control in (self.quantity, self.past_step):
            control.observe(self._chosen, "value")
        self.controls = row("wb-buttons", self.quantity, self.past_step)

    @property
    def at_end(self) -> bool:
        """True while the last step is shown."""
        return self.past_step.value >= self.past_step.max

    def follow(self, player: Player) -> None:
        """Show the sequence of this player, from its last step on."""
        size = player.sequence.problem.known_size
        if not player.sequence.steps and size is not None and size.grid is not None and len(size.grid) == 3:
            self.field.index = size.grid["zyx".index(self.field.normal)] // 2
        self.field.follow(player)
        offered = quantities(player.sequence)
        if tuple(self.quantity.options) != offered:
            self.quantity.options, self.quantity.value = offered, offered[0]
            self.field.quantity = offered[0]

    def rewind(self, sequence: Sequence) -> None:
        """Show the last step of another sequence."""
        self.replay.stop()
        self._move(sequence.steps, sequence.steps)
        self.field.step = 0

    def play_back(self, sequence: Sequence) -> None:
        """Show the kept steps one after another, from the one that is shown, at the end from the first."""
        self.replay.start(1 if self.at_end else int(self.past_step.value), sequence.steps)
        self._publisher.wake()

    def advance(self) -> None:
        """Show the step that a replay has reached."""
        if self.replay.playing:
            self.past_step.value = self.replay.step()

    def extend(self, sequence: Sequence, *, playing: bool) -> None:
        """Extend the slider to the last step; its handle stays at the end if it was there."""
        # At the end the picture says its step, which would be another one here for a moment.
        self.past_step.readout = not (self.at_end and playing)
        if self.past_step.max != sequence.steps:
            self._move(sequence.steps if self.at_end else int(self.past_step.value), sequence.steps)

    def show_bubbles(self, sequence: Sequence, *, live: bool) -> None:
        """Show the surfaces of the bubbles in a box; to be called in the thread that steps. live: more follow soon."""
        shown = bubbles_of(sequence, self.field.step)
        self.volume.layout.display = None if shown is not None else "none"
        if shown is not None:
            self.volume.show(shown, live=live)

    def _move(self, value: int, most: int) -> None:
        self._moving = True
        self.past_step.max = most
        self.past_step.value = value
        self._moving = False

    def _chosen(self, _change: object) -> None:
        if self._moving:
            return
        self.field.quantity = str(self.quantity.value or PHASE)
        self.field.step = 0 if self.at_end else int(self.past_step.value)
        self._publisher.wake()
