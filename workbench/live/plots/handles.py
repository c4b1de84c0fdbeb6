"""A plot with handles over it, which are dragged, moved by keys, or pressed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import traitlets

from workbench.live.plots.chart import ChartView
from workbench.live.ui.assets import script


@dataclasses.dataclass(frozen=True)
class Handle:
    """x, y: its place in values; y None: on the axis below the plot, and it moves along that only. name: of the handle.
    thin: narrow, where there are many. square: drawn as a square, of another kind than round ones. off: drawn as taken
    away. press: the effect of a press, in words."""

    key: str
    name: str
    x: float
    y: float | None = None
    thin: bool = False
    square: bool = False
    off: bool = False
    press: str = ""


class HandledChart(ChartView):
    """A plot with handles. The one that is held follows the pointer at once, the picture follows what is shown.

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

    def _receive(self, widget: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"kind": "moved", "key": str(key), "x": int() | float() as x, "y": int() | float() as y}:
                if math.isfinite(x) and math.isfinite(y):
                    self._on_move(key, float(x), float(y))
            case {"kind": "pressed", "key": str(key)} if self._on_press is not None:
                self._on_press(key)
            case _:
                super()._receive(widget, content, buffers)
