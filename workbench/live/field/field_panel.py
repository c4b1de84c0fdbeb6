"""The field of a problem or a run, in slices or in 3D, of one right-hand side."""

from __future__ import annotations

import threading

import ipywidgets as widgets

from workbench.live.field.field_view import FieldView
from workbench.live.field.pictures import COEFFICIENT, Scene
from workbench.live.field.volume_view import VolumeView
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.run_handle import RunSource
from workbench.run import Quantity

SLICES, SOLID = VIEWS = ("slices", "3D")


class FieldPanel:
    """A field view; for a cube of cells a switch to the 3D view, which is made when it is first chosen, and for a run
    with several right-hand sides the number of the one that is shown.

    Display `box`. Both views show the same problem and run; the one that is not chosen is sent nothing. heights: of the
    slices and of the 3D view, in pixels; 0 follows the window. group: see `StreamView`.
    """

    def __init__(self, publisher: Publisher, heights: tuple[int, int] = (0, 0), group: str = "") -> None:
        self.publisher = publisher
        self.field = FieldView(publisher, height=heights[0], group=group)
        self.volume: VolumeView | None = None
        self.view = widgets.ToggleButtons(options=VIEWS)
        self.view.tooltips = ("a plane of the cube, cell by cell", "slices, surfaces and subdomains of the cube")
        self.column = widgets.BoundedIntText(
            value=1,
            description="right-hand side",
            min=1,
            max=1,
            layout={"width": "170px"},
            style={"description_width": "initial"},
        )
        self.column.tooltip = "the column of B whose x and b − A x are shown"
        self.box = widgets.VBox([self.view, self.column, self.field]).add_class("wb-fieldpanel")
        self._height = heights[1]
        self._hidden = False
        self._lock = threading.RLock()
        self._scene: Scene | None = None
        self._run: RunSource | None = None
        self._own = True
        self._filled: object = None
        self.view.observe(lambda _change: self._turn(), "value")
        self.field.observe(lambda _change: self._turn(), ["solid", "columns", "quantity"])
        self.column.observe(lambda _change: self._turn(), "value")
        self._turn()

    def show(self, scene: Scene, *, own: bool = False) -> None:
        """Draw a problem. own: it is that of the run that is followed."""
        with self._lock:
            self._scene, self._own = scene, own
        self.field.show(scene)
        self._fill()

    def follow(self, run: RunSource, *, coefficient: bool = True) -> None:
        """Show another run, active or at rest. coefficient: draw its problem too, instead of one that was shown."""
        with self._lock:
            self._run = run
            if coefficient:
                self._scene, self._own = None, True
        self.column.value = 1
        self.field.follow(run, coefficient=coefficient)
        self._fill()

    def close(self) -> None:
        """Keep neither a run nor a problem; whoever shows `box` closes it."""
        self._run = self._scene = self._filled = None

    def hide(self, hidden: bool) -> None:
        """Stop sending while all of it is out of sight."""
        self._hidden = hidden
        self._turn()

    @property
    def shown(self) -> str:
        """The view that is shown."""
        flat = self.volume is not None and self.volume.flat
        return str(self.view.value) if self.field.solid and not flat else SLICES

    def _turn(self) -> None:
        solid = self.shown == SOLID
        if solid:
            self._make()
        self.view.layout.display = None if self.field.solid else "none"
        self.column.max = self.field.columns
        shown = self.volume if solid and self.volume is not None else self.field
        has_columns = self.field.columns > 1 and shown.quantity != COEFFICIENT
        self.column.layout.display = None if has_columns else "none"
        self.field.column = self.column.value - 1
        self.field.layout.display = "none" if solid else None
        self.field.link.hidden = self._hidden or solid
        if self.volume is not None:
            self.volume.column = self.column.value - 1
            self.volume.layout.display = None if solid else "none"
            self.volume.link.hidden = self._hidden or not solid
        self.publisher.wake()

    def _make(self) -> None:
        with self._lock:
            if self.volume is not None:
                return
            # Residual and error in all of a cube are noise to the eye; a plane of them shows where they are large.
            quantity = COEFFICIENT if self.field.quantity == COEFFICIENT else Quantity.SOLUTION.value
            self.volume = VolumeView(self.publisher, height=self._height, quantity=quantity, group=self.field.group)
            self.volume.observe(self._fill, "quantity")
            self.volume.observe(lambda _change: self._turn(), ["quantity", "flat"])
            self._fill()
        self.box.children = (*self.box.children, self.volume)

    def _fill(self, _change: object = None) -> None:
        """Let the 3D view show the problem where that is asked for or is not the run's own, else the run."""
        with self._lock:
            volume, scene, run = self.volume, self._scene, self._run
            if volume is None:
                return
            problem = scene is not None and (run is None or (volume.quantity == COEFFICIENT and not self._own))
            wanted = scene if problem else run
            if wanted is None or wanted is self._filled:
                return
            self._filled = wanted
            if problem and scene is not None:
                volume.show(scene)
            elif run is not None:
                volume.follow(run)
