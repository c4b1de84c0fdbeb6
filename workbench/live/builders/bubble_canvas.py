"""The canvas of bubbles: the plane, the cube next to it in 3D, and the list."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from workbench.live.builders.bubble_actions import Refused
from workbench.live.builders.bubble_model import BubbleModel
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.assets import script
from workbench.live.ui.stream_view import StreamView


class BubbleCanvas(StreamView):
    """Shows the state of a model and hands on the acts of its user; it changes nothing itself.

    act: called with each message of the browser, an act of `bubble_actions`, on any thread; it must return at once.
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
            "contrast": drawing.contrast,
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

    def _receive(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and "act" in content:
            self._act(content)
        else:
            super()._receive(widget, content, buffers)
