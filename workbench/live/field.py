"""The field view: the coefficient with the deflation subdomains over it, or the pattern of a matrix."""

from __future__ import annotations

import threading
import time
from typing import Any

import traitlets
from matplotlib.figure import Figure

from workbench import figures
from workbench.live._assets import module
from workbench.live._stream import Publisher
from workbench.live._view import StreamView
from workbench.live.pictures import Scene, blank, picture

PERIOD = 0.2
"""Seconds between pictures at least, while a slider is drawn."""


class FieldView(StreamView):
    """Shows one scene at a time. In 3D it shows a section: `normal` to x, y or z, at the cell `index` along that side.

    height: of the picture, in pixels.
    """

    _esm = module("field.js")

    height = traitlets.Int(300).tag(sync=True)
    normal = traitlets.Enum(("x", "y", "z"), "y").tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)

    def __init__(self, publisher: Publisher | None = None, **traits: Any) -> None:
        self.scene: Scene | None = None
        self._message = blank("", "")
        self._buffer = b""
        self._changed = threading.Event()
        self._stale = False
        self._next = 0.0
        super().__init__(publisher, **traits)
        self.observe(self._turn, ["normal"])
        self.observe(self._touch, ["index"])

    def show(self, scene: Scene) -> None:
        """Draw a scene; a section stays where it is as long as the number of cells does."""
        before = self.scene
        self.scene = scene
        if scene.cells and (before is None or before.cells != scene.cells):
            self._turn()
        self._touch()

    def say(self, title: str, note: str) -> None:
        """Show a sentence instead of a picture."""
        self.scene = None
        self._message, self._buffer = blank(title, note), b""
        self._touch()

    def figure(self) -> Figure | None:
        """What is shown as a figure for print; None when nothing is."""
        scene = self.scene
        if scene is None:
            return None
        if scene.is_matrix:
            return figures.pattern(scene.values, scene.unknowns, title=scene.title)
        labels = None if scene.labels is None else scene.labels.ravel()
        position = (self._place(scene) + 0.5) / scene.cells["zyx".index(self.normal)] if scene.cells else 0.5
        grid = scene.values.shape
        return figures.subdomains(
            grid,
            scene.values.ravel(),
            labels,
            normal=self.normal,
            position=position,
            title=scene.title,
            bar=scene.bar,
        )

    def publish(self) -> bool:
        if self.link.restart():
            self._changed.set()
        if self._changed.is_set():
            self._changed.clear()
            self._stale = True
        if not self._stale or not self.link.free:
            return False
        if time.monotonic() < self._next:
            return True
        self._stale = False
        self._next = time.monotonic() + PERIOD
        scene = self.scene
        if scene is not None:
            self._message, self._buffer = picture(scene, self.normal, self._place(scene))
        self.link.send(self._message, self._buffer)
        return False

    def _place(self, scene: Scene) -> int:
        cells = scene.cells["zyx".index(self.normal)] if scene.cells else 1
        return min(max(self.index, 0), cells - 1)

    def _turn(self, _change: Any = None) -> None:
        # A quarter in, because the middle of a symmetric problem often lies between all that there is to see.
        if self.scene is not None and self.scene.cells:
            self.index = self.scene.cells["zyx".index(self.normal)] // 4
        self._touch()

    def _touch(self, _change: Any = None) -> None:
        self._changed.set()
        self.publisher.wake()
