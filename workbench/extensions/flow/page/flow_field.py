"""The picture of a flow: a quantity with the interface on it, up to fifteen times a second."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from workbench.extensions.flow.page.flow_text import doing
from workbench.extensions.flow.page.player import Player
from workbench.extensions.flow.plane_scene import PRESSURE, Look, plane_of_flow
from workbench.live.field.frame_batch import Frame, FrameBatch
from workbench.live.field.pictures import Picture, Scene, blank, plane_picture
from workbench.live.transport.publisher import PollAgain, Publisher
from workbench.live.transport.rate_limit import RateLimit
from workbench.live.ui.assets import module, script
from workbench.live.ui.stream_view import StreamView
from workbench.plots import figures
from workbench.plots.scenes.plane import Plane
from workbench.run import State
from workbench.sequences.sequence import Sequence
from workbench.words.numbers import number

PERIOD = 1 / 15
"""Seconds between two pictures."""


class FlowField(StreamView):
    """The sequence that `follow` names, as it is stepped. quantity: of the picture, see `pictures.quantities`. normal,
    index: of a box, the plane. step: an earlier step, 0 for the present one. height: in pixels, 0 follows the window.

    A picture is taken between two steps, by the thread that makes them, and only when the page has room for it.
    """

    _script = script("field/field.js")
    _worker = traitlets.Unicode(module("field/fieldworker.js")).tag(sync=True)

    height = traitlets.Int(0).tag(sync=True)
    normal = traitlets.Enum(("x", "y", "z"), "y").tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    quantity = traitlets.Unicode(PRESSURE)
    step = traitlets.Int(0)
    choices = traitlets.Bool(False).tag(sync=True)
    # Traits that the script shares with other fields, and a flow does not use.
    colours = traitlets.Unicode("automatic").tag(sync=True)
    overlay = traitlets.Bool(True).tag(sync=True)
    level = traitlets.Int(0).tag(sync=True)
    frame = traitlets.Int(-1).tag(sync=True)

    def __init__(self, publisher: Publisher, **traits: Any) -> None:
        self._player: Player | None = None
        self._plane: Plane | None = None
        self._taken: tuple[Any, ...] = ()
        self._asked = False
        self._fresh = False
        self._said = ""
        self._pace = RateLimit(PERIOD)
        self._reel = FrameBatch()
        super().__init__(publisher, **traits)
        self.observe(lambda _change: self.publisher.wake(), ["normal", "index", "quantity", "step"])

    def follow(self, player: Player) -> None:
        """Draw the sequence of this player from now on."""
        if self._player is None or player.sequence is not self._player.sequence:
            self._plane = None
        self._player, self._taken, self._said = player, (), ""
        self.publisher.wake()

    @property
    def look(self) -> Look:
        """The picture to take: quantity, plane and step."""
        return Look(self.quantity, self.normal, self.index, self.step)

    def figure(self) -> Figure | None:
        """The picture that is shown, as a figure for print; None before the first step."""
        return figures.draw_plane(self._plane) if self._plane is not None else None

    def close(self) -> None:
        self._player = self._plane = None
        super().close()

    def publish(self) -> PollAgain:
        if self.link.restart():
            self._taken, self._said = (), ""
        player = self._player
        if player is None or not self.link.free:
            return False
        words = "" if player.sequence.steps else doing(player)
        if words and words != self._said:
            made = self._reel.add(Frame(lambda: _blank(words)), words)
        elif self._fresh and self._plane is not None:
            plane, grid, normal = self._plane, self._grid(player), self.normal
            made = self._reel.add(Frame(lambda: _picture(plane, grid, normal), player.steady), self.look)
        else:
            made = self._reel.due()
        self._fresh, self._said = False, words
        if made is not None:
            self.link.send(*made)
        wanted = (player.sequence, player.sequence.steps, self.look)
        if words:
            # Nothing can be taken yet, and the thread that would is busy.
            return PERIOD if player.alive else False
        if wanted != self._taken and not self._asked:
            if not self._pace.take():
                return self._pace.wait
            self._asked = True
            player.ask(lambda: self._take(player))
        playing = player.alive and player.state is not State.PAUSED
        return self._reel.waits or (PERIOD if playing else False)

    def _take(self, player: Player) -> None:
        """Take a picture, in the thread that steps."""
        look = self.look
        try:
            before = self._plane.colours if self._plane is not None and self._plane.bar == look.quantity else None
            self._plane = plane_of_flow(player.sequence, look, before)
            self._taken = (player.sequence, player.sequence.steps, look)
        finally:
            self._asked, self._fresh = False, True
            if not player.steady:
                self.publisher.wake()

    @staticmethod
    def _grid(player: Player) -> tuple[int, ...]:
        labels = player.sequence.labels
        return labels.shape if labels is not None else ()


def bubbles_of(sequence: Sequence, step: int = 0) -> Scene | None:
    """The bubbles of a box, from the phases, in a cube, which the 3D view needs. step: an earlier one, 0 for the last.
    None in 2D and before the first step."""
    if not sequence.steps or sequence.labels is None or sequence.labels.ndim != 3:
        return None
    inside = sequence.phase_at(step or sequence.steps)
    side, width = max(inside.shape), inside.shape[2]
    lengths = " × ".join(number(cells / width) for cells in reversed(inside.shape))
    room = np.array([((side - cells) // 2, side - cells - (side - cells) // 2) for cells in inside.shape])
    light = np.where(np.pad(inside, room), 1 / sequence.problem.parameter_values.get("density_ratio", 0.1), 1.0)
    return Scene(f"bubbles in a box of {lengths} widths", light)


def _blank(words: str) -> Picture:
    """The message for the page before the first step."""
    return {**blank("", words), **_about(PRESSURE)}, b""


def _about(quantity: str) -> dict[str, Any]:
    return {"matrix": False, "outlined": False, "levels": (), "quantity": quantity}


def _picture(plane: Plane, grid: tuple[int, ...], normal: str) -> Picture:
    """The message for the page. grid: of the sequence."""
    message, buffer = plane_picture(plane, grid["zyx".index(normal)] if len(grid) == 3 else 0)
    title = ", ".join(filter(None, (plane.bar, plane.where, plane.title)))
    return {**message, **_about(plane.bar), "title": title, "note": ""}, buffer
