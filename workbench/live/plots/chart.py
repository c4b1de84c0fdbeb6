"""A plot that the kernel computes and the page draws, also with handles over it that can be moved."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets
import traitlets

from workbench.live.transport.publisher import PollAgain, Publisher
from workbench.live.ui.assets import script
from workbench.live.ui.stream_view import StreamView
from workbench.plots.scenes.scene import Axis, Scene, blank

EMPTY = blank("", "Nothing to show yet.", Axis(""), Axis(""))


class ChartView(StreamView):
    """Shows a `Scene`, and another on request. It can be zoomed, moved, measured and read out like every plot.

    height: in pixels; 0 follows the height of the window. publisher: None makes one.
    """

    _script = script("plots/chart.js")

    height = traitlets.Int(0).tag(sync=True)

    def __init__(self, publisher: Publisher | None = None, scene: Scene = EMPTY, **traits: Any) -> None:
        self.scene = scene
        self._sent: Scene | None = None
        self._subscribers: list[Callable[[str], object]] = []
        super().__init__(publisher, **traits)

    def show(self, scene: Scene, *, live: bool = False) -> None:
        """Show another scene. Any thread may call it, as often as it likes: the page is sent the latest.

        live: more is to come, so that a page that receives nothing for long asks again.
        """
        self.scene = dataclasses.replace(scene, live=live) if live else scene
        self.publisher.wake()

    def on_pick(self, listener: Callable[[str], object]) -> None:
        """Call this with the key of a point, cell or line that was clicked. It should return at once."""
        self._subscribers = [*self._subscribers, listener]

    def publish(self) -> PollAgain:
        if self.link.restart():
            self._sent = None
        scene = self.scene
        if scene is not self._sent and self.link.free:
            message, data = scene.message()
            self.link.send(message, data)
            self._sent = scene
        return False

    def _receive(self, widget: object, content: object, buffers: list[memoryview]) -> None:
        if isinstance(content, dict) and content.get("kind") == "picked":
            for listener in self._subscribers:
                listener(str(content.get("key", "")))
        else:
            super()._receive(widget, content, buffers)


class ChartStack:
    """Up to two plots, one above the other. Display `box`."""

    def __init__(self, publisher: Publisher) -> None:
        self.charts = (ChartView(publisher), ChartView(publisher))
        self.box = widgets.VBox(self.charts)
        self.show([])

    def show(self, scenes: Sequence[Scene], *, live: bool = False) -> None:
        """Show these and hide the rest. live: as for `ChartView.show`."""
        for place, chart in enumerate(self.charts):
            shown = place < len(scenes)
            chart.layout.display = None if shown else "none"
            if shown:
                chart.show(scenes[place], live=live)
        for name, wanted in (("wb-low", len(scenes) > 1), ("wb-square", any(scene.square for scene in scenes))):
            (self.box.add_class if wanted else self.box.remove_class)(name)
        self.box.layout.display = None if scenes else "none"

    @property
    def scenes(self) -> list[Scene]:
        """The scenes that are shown."""
        return [chart.scene for chart in self.charts if chart.layout.display is None]


@dataclasses.dataclass(frozen=True)
class Handle:
    """x, y: its place in values; y None: on the axis below the plot, and it moves along that only. name: of the handle.
    thin: narrow, where there are many. square: drawn as a square, of another kind than round ones, below these. off:
    drawn as taken away. press: the effect of a press, in words. lines: two points of each, as x, y, x, y; dragged near
    one of them it lies on it, and keys move it away."""

    key: str
    name: str
    x: float
    y: float | None = None
    around: float = 0.0
    """Radius in units of x of the disc around it by which it is dragged as well."""
    thin: bool = False
    square: bool = False
    off: bool = False
    press: str = ""
    lines: Sequence[tuple[float, float, float, float]] = ()


class HandledChart(ChartView):
    """A plot with handles. A dragged one follows the pointer at once; the picture follows what is shown.

    on_move: called with the key of a handle and its place in values, at most 40 times a second. on_press: with the key
    of one that was pressed. Both should return at once.
    """

    _script = script("plots/handles.js")
    handles = traitlets.List().tag(sync=True)

    def __init__(
        self,
        on_move: Callable[[str, float, float], object],
        on_press: Callable[[str], object] | None = None,
        **traits: Any,
    ) -> None:
        self._on_move, self._on_press = on_move, on_press
        super().__init__(**traits)

    def place(self, handles: Sequence[Handle]) -> None:
        """Replace the handles."""
        # `asdict` copies deeply, which takes longer than all else that a drag does.
        self.handles = [dict(vars(handle)) for handle in handles]

    def _receive(self, widget: object, content: object, buffers: list[memoryview]) -> None:
        match content:
            case {"kind": "moved", "key": str(key), "x": int() | float() as x, "y": int() | float() as y}:
                if math.isfinite(x) and math.isfinite(y):
                    self._on_move(key, float(x), float(y))
            case {"kind": "pressed", "key": str(key)} if self._on_press is not None:
                self._on_press(key)
            case _:
                super()._receive(widget, content, buffers)
