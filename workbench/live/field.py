"""The field view: coefficient, solution, residual or error on the grid with the deflation subdomains over it."""

from __future__ import annotations

import threading
from typing import Any

import traitlets
from matplotlib.figure import Figure

from workbench import figures
from workbench.errors import InputError
from workbench.live._assets import module
from workbench.live._looker import NO_SYSTEM, Looker, why_nothing
from workbench.live._pace import Pace
from workbench.live._stream import Publisher
from workbench.live._view import StreamView
from workbench.live._worker import LatestOnly
from workbench.live.cuts import Cut
from workbench.live.fields import AUTOMATIC, BARS, COEFFICIENT, COLOURS, NAMES, field_picture, is_logarithmic
from workbench.live.pictures import NONE, Outlines, Picture, Scene, blank, outlines, picture, scene
from workbench.recording import Record
from workbench.run import Look, Quantity, Result, Run, Session

NO_RUN = "the solution, the residual and the error are seen here as soon as a run has begun"


class FieldView(StreamView):
    """Shows one picture at a time. In 3D it is a section: `normal` to x, y or z, at the cell `index` along that side.

    `show(scene)` draws a problem before it is run; `follow(run)` looks at a run, and `quantity` says at what:
    `coefficient`, `solution`, `residual` or `error`. colours: `linear`, `logarithmic` or `automatic`, which is linear
    for a solution and logarithmic for residual and error. overlay: draw the deflation subdomains. height: of the
    picture, in pixels. At most ten pictures a second are sent, and while nobody sees them the run is not looked at.
    """

    _esm = module("field.js")

    height = traitlets.Int(300).tag(sync=True)
    normal = traitlets.Enum(("x", "y", "z"), "y").tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    quantity = traitlets.Enum(tuple(NAMES), COEFFICIENT).tag(sync=True)
    colours = traitlets.Enum(COLOURS, AUTOMATIC).tag(sync=True)
    overlay = traitlets.Bool(True).tag(sync=True)

    def __init__(self, publisher: Publisher | None = None, **traits: Any) -> None:
        self.scene: Scene | None = None
        self.look: Look | None = None
        """What was seen of the run last."""
        self._looker: Looker | None = None
        self._own = False
        self._drawing = LatestOnly("workbench-scene")
        self._sentence = blank("", "")
        self._told: dict[str, Any] = {}
        self._outlined: tuple[object, Outlines] = (None, NONE)
        self._changed = threading.Event()
        self._stale = False
        self._pace = Pace()
        super().__init__(publisher, **traits)
        self.observe(self._turn, ["normal"])
        self.observe(self._touch, ["index", "quantity", "colours", "overlay"])

    def show(self, scene: Scene) -> None:
        """Draw a scene; a section stays where it is as long as the number of cells does."""
        before = self.scene
        self.scene = scene
        if scene.cells and (before is None or before.cells != scene.cells):
            self._turn()
        self._touch()

    def say(self, title: str, note: str) -> None:
        """Show a sentence instead of the coefficient."""
        self.scene = None
        self._sentence = blank(title, note)
        self._touch()

    def follow(self, run: Session | Run | Result | Record, *, coefficient: bool = True) -> None:
        """Look at another run, live or at rest. coefficient: draw its coefficient too, for which a worker is asked."""
        self._looker, self.look = Looker(run, self.publisher.wake), None
        self._own = coefficient
        if coefficient:
            self.scene = None
        self._touch()

    def figure(self) -> Figure | None:
        """What is shown as a figure for print; None when nothing is."""
        if self.quantity != COEFFICIENT:
            return self._figure_of_look()
        scene = self.scene
        if scene is None:
            return None
        if scene.is_matrix:
            return figures.pattern(scene.values, scene.unknowns, title=scene.title)
        labels = None if scene.labels is None or not self.overlay else scene.labels.ravel()
        position = (self._place(scene.cells) + 0.5) / scene.cells["zyx".index(self.normal)] if scene.cells else 0.5
        grid = scene.values.shape
        return figures.subdomains(
            grid, scene.values.ravel(), labels, normal=self.normal, position=position, title=scene.title
        )

    def publish(self) -> bool:
        if self.link.restart():
            self._changed.set()
        if self._changed.is_set():
            self._changed.clear()
            self._stale = True
        if not self.link.free:
            return False
        if self.quantity == COEFFICIENT:
            goes_on, made = self._coefficient()
        else:
            goes_on, made = self._seen()
        if made is not None:
            self._stale = False
            self._deliver(*made)
        return goes_on or self._stale

    def _coefficient(self) -> tuple[bool, Picture | None]:
        """Whether it must be asked again, and what to send of the problem itself."""
        if self._own and self.scene is None:
            return self._draw_scene()
        if not self._stale or not self._pace.is_due():
            return False, None
        scene = self.scene
        if scene is None:
            return False, (self._sentence, b"")
        return False, picture(scene, self.normal, self._place(scene.cells), overlay=self.overlay)

    def _draw_scene(self) -> tuple[bool, Picture | None]:
        """Ask a worker for the scene of the run that is followed, as soon as its system is there."""
        looker = self._looker
        place = looker.where() if looker else None
        if looker is None or place is None:
            return looker is not None and looker.unplaced, self._waiting(looker)
        self._own = False
        if place.system is None:
            self.say(looker.title, NO_SYSTEM)
            return True, None
        system, labels = place.system, place.labels

        def draw() -> None:
            try:
                drawn = scene(looker.title, system)
                self.show(drawn.with_labels(None if labels is None else labels.ravel()))
            except InputError as error:
                self.say(looker.title, f"{error}.")

        self._drawing.ask(draw)
        return False, None

    def _seen(self) -> tuple[bool, Picture | None]:
        """Whether there may be more to see, and what is new of the run that is followed."""
        looker = self._looker
        place = looker.where() if looker else None
        if looker is None or place is None:
            return looker is not None and looker.unplaced, self._waiting(looker)
        quantity, cut = Quantity(self.quantity), self._cut(place.grid)
        look = looker.poll(quantity, cut, due=self._pace)
        if look is not None:
            self.look = look
        latest = self.look
        fits = latest is not None and (latest.quantity, latest.cut) == (quantity, cut)
        goes_on = looker.goes_on or looker.waiting
        if latest is None or not fits or (look is None and not self._stale):
            return goes_on, None
        labels = place.labels if self.overlay else None
        outlined = self._outlines(labels, cut)
        return goes_on, field_picture(latest, cut, self.colours, outlined, looker.title, place.unknowns)

    def _waiting(self, looker: Looker | None) -> Picture | None:
        """A sentence while there is nothing to see, once."""
        told = blank(looker.title, why_nothing(looker.watched) + ".") if looker else blank("", NO_RUN + ".")
        return (told, b"") if self._stale or told["note"] != self._told.get("note") else None

    def _deliver(self, message: dict[str, Any], buffer: bytes) -> None:
        looked = self._looker.place if self._looker else None
        drawn = self.scene.labels if self.quantity == COEFFICIENT and self.scene else looked and looked.labels
        matrix = self.scene is not None and self.scene.is_matrix
        self._told = message
        about = {"quantity": self.quantity, "matrix": matrix, "outlined": drawn is not None}
        self.link.send({**message, **about}, buffer)

    def _figure_of_look(self) -> Figure | None:
        look = self.look
        if look is None or look.values is None or look.quantity != self.quantity or not isinstance(look.cut, Cut):
            return None
        return figures.field(
            look.values,
            BARS[look.quantity],
            logarithmic=is_logarithmic(look.quantity, self.colours),
            sides=look.cut.sides,
            title=f"after iteration {look.iteration:,}",
        )

    def _cut(self, grid: tuple[int, ...] | None) -> Cut:
        """The plane that is shown: block maxima for what has hot spots."""
        drawn = grid if grid is not None and len(grid) in (2, 3) else None
        index = self._place(drawn) if drawn and len(drawn) == 3 else 0
        return Cut(drawn, self.normal, index, peaks=self.quantity != Quantity.SOLUTION)

    def _outlines(self, labels: Any, cut: Cut) -> Outlines:
        """Kept from one picture to the next, since they are found by a pass over the labels."""
        key = (labels is None, id(labels), cut)
        if self._outlined[0] != key:
            self._outlined = (key, outlines(labels, cut) if cut.grid is not None else NONE)
        return self._outlined[1]

    def _place(self, cells: tuple[int, ...]) -> int:
        """The plane of cells that is shown."""
        count = cells["zyx".index(self.normal)] if cells else 1
        return min(max(self.index, 0), count - 1)

    def _turn(self, _change: Any = None) -> None:
        # A quarter in, because the middle of a symmetric problem often lies between all that there is to see.
        cells = self.scene.cells if self.scene else ()
        if not cells and self._looker and self._looker.place:
            cells = self._looker.place.grid or ()
        if len(cells) == 3:
            self.index = cells["zyx".index(self.normal)] // 4
        self._touch()

    def _touch(self, _change: Any = None) -> None:
        self._changed.set()
        self.publisher.wake()
