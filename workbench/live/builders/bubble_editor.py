"""A canvas of bubbles and its model: acts of the user are carried out one after the other, or refused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import InputError
from workbench.live.builders.bubble_actions import Refused, perform, refused_row
from workbench.live.builders.bubble_canvas import BubbleCanvas
from workbench.live.builders.bubble_drawing import Drawing
from workbench.live.builders.bubble_model import BubbleModel
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import InOrder

REVEALING = ("add", "place", "delete", "select", "undo", "redo")
"""Acts after which the selected bubble is brought into view."""
Answered = Callable[[Mapping[str, Any], Drawing, "InputError | None"], object]


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
