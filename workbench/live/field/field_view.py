"""The field view: coefficient, solution, residual or error on the grid with the deflation subdomains over it."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.live.field.frame_batch import Frame, FrameBatch
from workbench.live.field.pictures import (
    AUTOMATIC,
    COEFFICIENT,
    COLOURS,
    NAMES,
    Picture,
    Scene,
    blank,
    picture,
    plane_of,
    scene,
)
from workbench.live.field.run_field import Choice, RunField
from workbench.live.field.snapshot_source import NO_SYSTEM, Nesting
from workbench.live.transport.publisher import PollAgain, Publisher
from workbench.live.transport.rate_limit import RateLimit
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.assets import module, script
from workbench.live.ui.run_handle import RunSource
from workbench.live.ui.stream_view import StreamView
from workbench.plots import figures
from workbench.plots.scenes.cuts import plane_words
from workbench.run.results.snapshots import Quantity, Snapshot

NO_RUN = "the solution, the residual and the error appear here as soon as a run has begun"


class FieldView(StreamView):
    """The coefficient of a problem, or a vector of a run, as a picture. In 3D it is a section: `normal` to x, y or z,
    at the cell `index` along that side.

    `show(scene)` draws a problem before it is run; `follow(run)` looks at a run, and `quantity` says at what:
    `coefficient`, `solution`, `residual` or `error`. colours: `linear`, `logarithmic` or `automatic`, which is linear
    for a solution and logarithmic for residual and error. overlay: draw the deflation subdomains. level: of a coarse
    solver that works on levels, draw the parts of that level; level 0 is the subdomains. frame: which frame of
    the run's film, -1 for its present state; of an error without a known solution, which x is compared with the last.
    height: of the picture, in pixels; 0 follows the window. choices: offer the menus of what is shown; False where
    there is one picture only. At most ten pictures a second are sent, and while the view is out of sight no snapshots
    are taken.

    Examples:
        >>> from workbench.live import FieldView
        >>> from workbench.run import Run, configure, run_through
        >>> view = FieldView()
        >>> view.follow(run_through(Run(configure("two-layer", n=16))))
        >>> view.close()
    """

    _script = script("field/field.js")
    _worker = traitlets.Unicode(module("field/fieldworker.js")).tag(sync=True)

    height = traitlets.Int(300).tag(sync=True)
    normal = traitlets.Enum(("x", "y", "z"), "y").tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    quantity = traitlets.Enum(tuple(NAMES), COEFFICIENT).tag(sync=True)
    colours = traitlets.Enum(COLOURS, AUTOMATIC).tag(sync=True)
    overlay = traitlets.Bool(True).tag(sync=True)
    level = traitlets.Int(0, min=0).tag(sync=True)
    frame = traitlets.Int(-1).tag(sync=True)
    choices = traitlets.Bool(True).tag(sync=True)
    solid = traitlets.Bool(False)
    """Set while a cube of cells is shown; known to the kernel alone, as the next two are."""
    columns = traitlets.Int(1)
    """The number of right-hand sides of the run that is followed."""
    column = traitlets.Int(0, min=0)
    """The right-hand side that is shown."""

    def __init__(self, publisher: Publisher | None = None, **traits: Any) -> None:
        self.scene: Scene | None = None
        self._run: RunField | None = None
        self._draws_own = False
        self._following = threading.RLock()
        self._cells: tuple[int, ...] = ()
        self._drawing = LatestOnly("workbench-scene")
        self._sentence = blank("", "")
        self._changed = threading.Event()
        self._stale = False
        self._pace = RateLimit()
        self._reel = FrameBatch()
        self._sent_nesting: Nesting | None = None
        super().__init__(publisher, **traits)
        self.observe(self._turn, ["normal"])
        self.observe(self._touch, ["index", "quantity", "frame", "colours", "overlay", "level", "column"])

    def show(self, scene: Scene) -> None:
        """Draw a scene; a section stays where it is as long as the number of cells does."""
        self.scene = scene
        self.solid = len(scene.cells) == 3
        self._meet(scene.cells)
        self._touch()

    @property
    def look(self) -> Snapshot | None:
        """The last snapshot of the run."""
        return self._run.look if self._run else None

    def say(self, title: str, note: str) -> None:
        """Show a sentence instead of the coefficient."""
        self.scene = None
        self._sentence = blank(title, note)
        self._touch()

    def follow(self, run: RunSource, *, coefficient: bool = True) -> None:
        """Look at another run, live or at rest. coefficient: draw its coefficient too, for which a worker is asked."""
        with self._following:
            self._run = RunField(run, self.publisher.wake)
            self._draws_own = coefficient
            if coefficient:
                self.scene = None
        self.frame = -1
        self._touch()

    def close(self) -> None:
        self._run = self.scene = None
        super().close()

    def figure(self) -> Figure | None:
        """The picture that is shown, as a figure for print; None without one."""
        if self.quantity != COEFFICIENT:
            return self._run.figure(self._choice) if self._run else None
        scene = self.scene
        if scene is None:
            return None
        nesting, parts = self._nesting() if self.overlay and self.level > 0 else None, None
        if scene.labels is not None and nesting is not None:
            parts, title = nesting.parts(self.level), f"{scene.title}, {nesting.name(self.level)}"
            scene = dataclasses.replace(scene, title=title)
        index, every = self._place(scene.cells) if scene.cells else 0, max(scene.values.shape)
        shown = plane_of(scene, self.normal, index, overlay=self.overlay, parts=parts, most=every)
        return figures.draw_plane(shown)

    @property
    def plane(self) -> str:
        """The plane of a cube that `figure` shows, as in y = 0.258; empty where there is no cube."""
        if self.quantity != COEFFICIENT:
            return self._run.plane if self._run else ""
        cells = self.scene.cells if self.scene else ()
        return plane_words(self.normal, self._place(cells), cells["zyx".index(self.normal)]) if len(cells) == 3 else ""

    def publish(self) -> PollAgain:
        if self.link.restart():
            self._changed.set()
        if self._changed.is_set():
            self._changed.clear()
            self._stale = True
        self.columns = self._run.looker.columns if self._run is not None else 1
        if not self.link.free:
            return False
        nesting = self._nesting()
        if nesting is not self._sent_nesting:
            self._sent_nesting, self._stale = nesting, True
        if self.quantity == COEFFICIENT:
            goes_on, shot = self._coefficient()
        elif self._run is not None:
            goes_on, shot = self._run.news(self._choice, stale=self._stale)
            if self._run.place is not None:
                grid = self._run.place.grid or ()
                self.solid = len(grid) == 3
                self._meet(grid)
        else:
            goes_on, shot = False, Frame(lambda: (blank("", f"{NO_RUN}."), b"")) if self._stale else None
        made = None
        if shot is not None:
            self._stale = False
            made = self._reel.add(self._annotated(shot), (self._run, self.quantity, *self._shown))
        made = made or self._reel.due()
        if made is not None:
            self.link.send(*made)
        if goes_on and self._run is not None and not self._stale:
            return self._run.again
        return goes_on or self._stale or self._reel.waits

    @property
    def _choice(self) -> Choice:
        return Choice(Quantity(self.quantity), *self._shown)

    @property
    def _shown(self) -> tuple[Any, ...]:
        return self.normal, self.index, self.frame, self.colours, self.overlay, self.level, self.column

    def _coefficient(self) -> tuple[bool, Frame | None]:
        """True if it must be asked again; the picture of the problem itself."""
        if self._draws_own and self.scene is None and self._run is not None:
            return self._draw_scene(self._run)
        if not self._stale or not self._pace.take():
            return False, None
        scene, sentence = self.scene, self._sentence
        if scene is None:
            return False, Frame(lambda: (sentence, b""))
        nesting = self._nesting()
        parts = nesting.parts(self.level) if nesting else None
        place = self._place(scene.cells)
        return False, Frame(lambda: picture(scene, self.normal, place, overlay=self.overlay, parts=parts))

    def _draw_scene(self, run: RunField) -> tuple[bool, Frame | None]:
        """Ask a worker for the scene of the run that is followed, as soon as its system is there."""
        title, place = run.looker.title, run.looker.where()
        if place is None:
            return run.looker.unplaced, run.waiting(stale=self._stale)
        with self._following:
            if run is not self._run:
                return True, None
            self._draws_own = False
        system, labels = place.system, place.labels
        if system is None:
            self._put(run, lambda: self.say(title, f"{NO_SYSTEM}."))
            return True, None

        def draw() -> None:
            try:
                drawn = scene(title, system).with_labels(None if labels is None else labels.ravel())
            except InputError as error:
                sentence = f"{error}."
                self._put(run, lambda: self.say(title, sentence))
            else:
                self._put(run, lambda: self.show(drawn))

        self._drawing.ask(draw)
        return False, None

    def _put(self, run: RunField, put: Callable[[], None]) -> None:
        """Show something made of a run, unless another run is followed by now."""
        with self._following:
            if run is self._run:
                put()

    def _meet(self, cells: tuple[int, ...]) -> None:
        """Put the section of a cube of other cells where one is likely to see something."""
        if len(cells) != 3 or cells == self._cells:
            return
        given = not self._cells and self.index > 0
        self._cells = cells
        if not given:
            self._turn()

    def _annotated(self, shot: Frame) -> Frame:
        labels, nesting = self._labels, self._nesting()
        about = {
            "quantity": self.quantity,
            "matrix": self.scene is not None and self.scene.is_matrix,
            "outlined": labels is not None,
            "levels": nesting.names if nesting else (),
            "live": shot.live,
        }

        def make() -> Picture:
            message, buffer = shot.make()
            return {**message, **about}, buffer

        return Frame(make, shot.live)

    @property
    def _labels(self) -> np.ndarray | None:
        """The subdomain of each of the cells shown."""
        if self.quantity == COEFFICIENT:
            return self.scene.labels if self.scene else None
        place = self._run.place if self._run else None
        # A vector without a grid is a band, on which there are no subdomains.
        return place.labels if place and place.grid else None

    def _nesting(self) -> Nesting | None:
        """The levels of these subdomains, as soon as the run that is followed has them."""
        run = self._run
        if run is None:
            return None
        if run.looker.watched.run is not None:
            # The coefficient alone does not ask for it.
            run.looker.where()
        return run.nesting(self._labels)

    def _place(self, cells: tuple[int, ...]) -> int:
        """The plane of cells that is shown."""
        count = cells["zyx".index(self.normal)] if cells else 1
        return min(max(self.index, 0), count - 1)

    def _turn(self, _change: object = None) -> None:
        # A quarter in, because the middle of a symmetric problem often lies between all bubbles.
        if self._cells:
            self.index = self._cells["zyx".index(self.normal)] // 4
        self._touch()

    def _touch(self, _change: object = None) -> None:
        self._changed.set()
        self.publisher.wake()
