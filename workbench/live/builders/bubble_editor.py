"""The canvas of bubbles: acts of its user are carried out one after the other, or refused, and it is painted."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import traitlets

from workbench.deflation import Deflation
from workbench.deflation.none import NoDeflation
from workbench.errors import InputError
from workbench.live.builders.bubble_model import BubbleModel, Drawing, Row
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import InOrder, LatestOnly
from workbench.live.ui.assets import script
from workbench.live.ui.stream_view import StreamView
from workbench.plots.figures import boundaries
from workbench.plots.scenes.cuts import Cut
from workbench.problems.bubble_geometry import Geometry
from workbench.words.numbers import counted, ordinal

Message = Mapping[str, Any]
REVEALING = ("add", "place", "delete", "select", "undo", "redo")
"""Acts after which the selected bubble is brought into view."""
Answered = Callable[[Mapping[str, Any], Drawing, "InputError | None"], object]


@dataclasses.dataclass(frozen=True)
class Refused:
    """A bubble that cannot lie where it was put. index: of the bubble, or how many there are for a further one."""

    index: int
    row: Row


def perform(model: BubbleModel, message: Message) -> None:
    """Carry out the `act` of a message. Raises InputError, and then the model is unchanged."""
    act = message.get("act")
    if act not in ACTS:
        raise InputError(f"unknown act {act!r}; known: {', '.join(ACTS)}")
    ACTS[act](model, message)


def refused_row(model: BubbleModel, message: Message) -> Refused | None:
    """The bubble that a refused message was about, so that it can be drawn; None where it has no place."""
    with contextlib.suppress(InputError):
        if message.get("act") == "place":
            return Refused(int(message["index"]), _row(model, message))
        if message.get("act") == "add":
            return Refused(len(model.drawing.rows), _added(model, message))
    return None


def _add(model: BubbleModel, message: Message) -> None:
    *centre, radius = _added(model, message)
    model.add(centre, radius)


def _added(model: BubbleModel, message: Message) -> Row:
    """The bubble to add. One that was drawn larger than there is room gets as large as fits."""
    number = len(model.drawing.rows) + 1
    wanted = model.drawing.new_radius
    if "centre" not in message:
        centre = model.free_place()
        return *centre, model.fitting(centre, wanted)
    centre = _numbers(message["centre"], "xyz"[: model.drawing.dimensions], number)
    radius = message.get("radius")
    if radius is not None:
        (wanted,) = _numbers([radius], "r", number)
        if not message.get("done"):
            return *centre, wanted
    return *centre, model.fitting(centre, wanted)


def _row(model: BubbleModel, message: Message) -> Row:
    return _numbers(message["row"], "xyz"[: model.drawing.dimensions] + "r", int(message["index"]) + 1)


def _numbers(values: Any, names: str, bubble: int) -> Row:
    """Values of a message, numbers or typed text, as numbers. Raises InputError for any other."""
    if len(values) != len(names):
        raise InputError(f"bubble {bubble} needs {len(names)} numbers ({', '.join(names)}), got {len(values)}")
    read = []
    for name, value in zip(names, values, strict=True):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise InputError(f"{name} of bubble {bubble} must be a number in side lengths, got {value!r}")
        read.append(number)
    return tuple(read)


ACTS: dict[str, Callable[[BubbleModel, Message], None]] = {
    "add": _add,
    "place": lambda model, message: model.place(int(message["index"]), _row(model, message), message.get("stroke")),
    "delete": lambda model, message: model.delete(int(message.get("index", model.selected))),
    "clear": lambda model, message: model.clear(),
    "select": lambda model, message: model.select(int(message["index"])),
    "undo": lambda model, message: model.undo(),
    "redo": lambda model, message: model.redo(),
    "preset": lambda model, message: model.preset(str(message["name"])),
    "change": lambda model, message: model.change(message["values"]),
    "side": lambda model, message: model.set_side(str(message["side"]), str(message["to"])),
    "forget": lambda model, message: None,
    "show": lambda model, message: model.show(int(message["dimensions"])),
}
"""The acts of a message, by name. The act "forget" drops a complaint and changes nothing drawn."""


class BubbleCanvas(StreamView):
    """Shows the state of a model and hands on the acts of its user; it changes nothing itself.

    act: called with each message of the browser, one of `ACTS`, on any thread; it must return at once.
    normal, position: of the section that is shown in 3D, position in side lengths. alone: the plane without legend,
    list and cube, and with circles in place of cells.
    """

    _script = script("builders/builder.js")

    state = traitlets.Dict().tag(sync=True)
    alone = traitlets.Bool(False).tag(sync=True)
    normal = traitlets.Enum(("x", "y", "z"), "z").tag(sync=True)
    # A quarter in, because the middle of a symmetric problem often lies between all bubbles.
    position = traitlets.Float(0.25).tag(sync=True)

    def __init__(
        self, act: Callable[[Mapping[str, Any]], None], publisher: Publisher | None = None, **traits: Any
    ) -> None:
        self._act = act
        self._picture: tuple[dict[str, Any], bytes] | None = None
        self._changed = threading.Event()
        super().__init__(publisher, **traits)

    def show(self, model: BubbleModel, refused: Refused | None, heard: int, accepted: bool) -> None:
        """Show the model.

        heard, accepted: the number of the last message from the browser, and whether its act was carried out.
        """
        drawing = model.drawing
        self.state = {
            "dimensions": drawing.dimensions,
            "height": drawing.height,
            "unit": drawing.unit,
            "bubbles": [list(row) for row in drawing.rows],
            "density_ratio": drawing.density_ratio,
            "sides": {side: str(boundary) for side, boundary in drawing.sides.items()},
            "selected": model.selected,
            "refused": refused and {"index": refused.index, "row": list(refused.row)},
            "heard": heard,
            "accepted": accepted,
        }

    def paint(self, message: dict[str, Any], buffer: bytes) -> None:
        """Show a picture under the bubbles, as returned by `bubble_pictures.picture`. May be called from any thread."""
        self._picture = message, buffer
        self._changed.set()
        self.publisher.wake()

    def publish(self) -> bool:
        if self.link.restart():
            self._changed.set()
            if self.alone:
                self.link.send({})
        if self._changed.is_set() and self._picture is not None and self.link.free:
            self._changed.clear()
            self.link.send(*self._picture)
        return False

    def _receive(self, widget: object, content: object, buffers: list[memoryview]) -> None:
        if isinstance(content, dict) and "act" in content:
            self._act(content)
        else:
            super()._receive(widget, content, buffers)


class BubbleEditor:
    """Carries out the acts of the canvas on a model. Display `canvas`.

    answered: called after each act with its message, the drawing before it, and the error of a refused act, which has
    changed nothing; `lock` is taken then, and by every reader and writer of the model.
    """

    def __init__(
        self, model: BubbleModel, answered: Answered, publisher: Publisher | None = None, **looks: Any
    ) -> None:
        self.model, self._answered = model, answered
        self.lock = threading.RLock()
        self.acts = InOrder("workbench-bubbles")
        self._refused: Refused | None = None
        self._heard, self._accepted = 0, True
        self.canvas = BubbleCanvas(self.receive, publisher, **looks)

    def receive(self, message: Mapping[str, Any]) -> None:
        """Carry out the act of a message; returns at once. A waiting move is replaced by the next one of its stroke."""
        self.acts.ask(lambda: self._perform(message), key=message.get("stroke"))

    def show(self) -> None:
        """Show the model as it is."""
        self.canvas.show(self.model, self._refused, self._heard, self._accepted)

    def take(self, model: BubbleModel) -> None:
        """Put another model on the canvas, or another state of the same one."""
        self.model, self._refused = model, None

    def close(self) -> None:
        """Do no more."""
        self.acts.close()

    def _perform(self, message: Mapping[str, Any]) -> None:
        with self.lock:
            before, refusal = self.model.drawing, None
            self._heard = int(message.get("seq", self._heard))
            self._refused, self._accepted = None, False
            try:
                perform(self.model, message)
                self._accepted = True
            except InputError as error:
                # A released bubble springs back; a dragged or typed one is drawn at its refused place.
                refusal = error
                self._refused = None if message.get("done") else refused_row(self.model, message)
            self._reveal(message)
            self._answered(message, before, refusal)

    def _reveal(self, message: Mapping[str, Any]) -> None:
        """Move the section to a selected bubble that it misses."""
        drawing, index = self.model.drawing, self.model.selected
        if drawing.dimensions == 3 and index >= 0 and message["act"] in REVEALING:
            *centre, radius = drawing.rows[index]
            middle = centre["xyz".index(self.canvas.normal)]
            if abs(middle - self.canvas.position) >= radius or message.get("reveal"):
                self.canvas.position = middle


SIDES = {2: (128, 512), 3: (32, 128)}
"""Cells per side that are drawn at most: few while bubbles are moved, more when they rest."""
REST = 0.15
"""Seconds without a change after which subdomains are drawn with more cells."""


@dataclasses.dataclass(frozen=True)
class PictureRequest:
    """A picture to draw. normal, position: of the section in 3D, in side lengths."""

    drawing: Drawing
    deflation: Deflation
    normal: str = "z"
    position: float = 0.5

    @property
    def sides(self) -> tuple[int, ...]:
        """Cells per side to draw with, coarse first; the last is the problem's own n where that is not too many."""
        n = self.drawing.parameters.n
        return tuple(sorted({min(n, side) for side in SIDES[self.drawing.dimensions]}))


def picture(request: PictureRequest, cells: int) -> tuple[dict[str, Any], bytes]:
    """The message for the browser and its buffer: a byte a pixel, 1 inside, then float32 segments of 4 numbers.

    cells: per side, drawn with; the problem's own or fewer. Row 0 lies at the bottom of the picture. Cost: a few passes
    over the cells.
    """
    drawing, deflation, n = request.drawing, request.deflation, request.drawing.parameters.n
    grid = (cells,) * drawing.dimensions
    phase, missed = _phase(drawing, cells)
    cut = Cut(grid, request.normal, int(request.position * cells))
    plane, (across, up) = cut.plane(phase), cut.sides
    pixels = (plane > 0).astype(np.uint8)
    notes = [] if cells == n else [f"drawn with {cells} cells a side instead of {n}"]
    if missed:
        notes.append(f"without {counted(missed, 'bubble')} too small for that")
    lines = np.empty((0, 4))
    try:
        if deflation.by_entries and cells == n:
            labels = deflation.labels_of(drawing.problem.assemble().operator, grid)
        else:
            labels = deflation.labels(phase.size, grid, phase.reshape(-1))
    except InputError as error:
        # Fewer cells than the problem's may be too few for subdomains that it has room for.
        notes.append(str(error) if cells == n else "subdomains are too fine to be drawn")
    else:
        if labels is not None:
            found = boundaries(cut.plane(labels.reshape(grid)))
            lines = found.segments
            named = counted(int(labels.max()) + 1, "deflation subdomain") if cells == n else "deflation subdomains"
            notes.append(f"{named}, every {ordinal(found.step)} boundary drawn" if found.step > 1 else named)
        elif deflation.by_entries:
            notes.append("subdomains are drawn with all cells of the problem alone, since they follow its matrix")
        elif not isinstance(deflation, NoDeflation):
            notes.append(f"deflation {deflation.name} has vectors instead of subdomains, so none are drawn")
    size = {"width": pixels.shape[1], "height": pixels.shape[0], "segments": len(lines)}
    message = {**size, "cells": cells, "n": n, "across": across, "up": up, "note": "; ".join(notes)}
    return message, pixels.tobytes() + lines.astype(np.float32).tobytes()


def _phase(drawing: Drawing, cells: int) -> tuple[np.ndarray, int]:
    """The bubble of each cell, and the number of bubbles without a cell of this grid."""
    values = np.array(drawing.rows).reshape(-1, drawing.dimensions + 1)
    centres, radii = values[:, :-1], values[:, -1]
    covered = Geometry(centres, radii).holds_cells(cells) if radii.size else np.zeros(0, bool)
    missed = int(np.count_nonzero(~covered))
    if not covered.any():
        return np.zeros((cells,) * drawing.dimensions, np.int32), missed
    return Geometry(centres[covered], radii[covered]).paint(cells), missed


class BubblePainter:
    """Draws in a thread of its own. request: returns the picture to draw now. show: takes each message with its
    buffer."""

    def __init__(self, request: Callable[[], PictureRequest], show: Callable[[dict[str, Any], bytes], None]) -> None:
        self._request, self._show = request, show
        self._worker = LatestOnly("workbench-subdomains")
        self._painted: PictureRequest | None = None

    def ask(self) -> None:
        """Draw again if something has changed; returns at once."""
        self._worker.ask(self._paint)

    def wait(self, timeout: float) -> bool:
        """Wait until all is drawn; False when that takes longer than `timeout` seconds."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Draw no more."""
        self._worker.close()

    def _paint(self) -> None:
        """Draw with few cells at once, and with more when nothing has changed for `REST` seconds."""
        request = self._request()
        if request == self._painted:
            return
        self._painted = None
        for number, cells in enumerate(request.sides):
            if number and self._worker.overtaken(REST):
                return
            self._show(*picture(request, cells))
        self._painted = request
