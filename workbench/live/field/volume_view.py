"""The 3D view: bubbles, slices, isosurfaces and subdomains of a cube of cells, at rest and while a run is active."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import traitlets

from workbench.errors import InputError
from workbench.live.field.frame_batch import Frame, FrameBatch
from workbench.live.field.pictures import (
    AUTOMATIC,
    BARS,
    COEFFICIENT,
    COLOURS,
    NAMES,
    Picture,
    Scene,
    blank,
    scene,
    shades_of,
)
from workbench.live.field.run_field import BAR, film_look, reported
from workbench.live.field.snapshot_source import NO_SYSTEM, Place, SnapshotSource, why_nothing
from workbench.live.field.volume_still import LIVE_CELLS, MOST_CELLS, Still, VolumeCut
from workbench.live.transport.publisher import PollAgain, Publisher
from workbench.live.transport.rate_limit import PERIOD, RateLimit
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.assets import script
from workbench.live.ui.run_handle import RunSource
from workbench.live.ui.stream_view import StreamView
from workbench.plots.scenes.plane import Colormap
from workbench.run.results.filming import cells_per_side
from workbench.run.results.snapshots import Quantity, Snapshot, SnapshotRequests
from workbench.words.numbers import count as grouped

SHARE = 0.03
"""Share of the solver's time that snapshots may take."""
MOST_SECONDS = 0.06
"""Seconds that one snapshot counts at most, so that there is a picture every two seconds. A first one may compile."""
NO_RUN = "the solution, the residual and the error are shown here as soon as a run has begun"
FLAT = "the 3D view needs a grid with three dimensions; the field view shows this problem"


class ShareLimit(RateLimit):
    """A pace whose period grows with the measured cost of a snapshot."""

    def __init__(self) -> None:
        super().__init__()
        self._count, self._seconds, self._cost = 0, 0.0, 0.0

    @property
    def period(self) -> float:
        """Seconds between two snapshots."""
        return self._period

    def keep(self, rate: float, requests: SnapshotRequests | None) -> None:
        """At most `rate` snapshots per second, and fewer where one of those in `requests` takes long."""
        if requests is None:
            self._count, self._seconds, self._cost = 0, 0.0, 0.0
        elif requests.count > self._count:
            # The time is added after the count, so that a snapshot may be counted with the next one.
            count, seconds = requests.count, requests.seconds
            self._cost = min((seconds - self._seconds) / (count - self._count), MOST_SECONDS)
            self._count, self._seconds = count, seconds
        self._period = max(PERIOD, 0.95 / rate, self._cost / SHARE)


class VolumeView(StreamView):
    """A cube of cells in WebGL: slices, surfaces of the phases, an isosurface, and the subdomains drawn apart.

    `show(scene)` draws a problem; `follow(run)` shows a run, active or at rest, and `quantity` what of it:
    `coefficient`, `solution`, `residual` or `error`. colours: `linear`, `logarithmic` or `automatic`, as in the field
    view. position: of the slices normal to x, y and z, in side lengths. slices, surface, phases, subdomains: what is
    drawn. level: of the isosurface, as a share of the scale; of a signed quantity the surfaces of both signs are drawn.
    apart: how far the subdomains are drawn apart, 0 to 1. frame: which frame of the run's film, -1 for its present
    state; of an error without a known solution, which x is compared with the last. height: in pixels, 0 follows the
    window. rate: pictures per second that the page can paint, set by the page.

    During a run the solver thread reduces the vector to at most 64^3 cells, at most ten times a second and for at most
    3% of its time; at rest to at most 128^3. Frames of a film have at most 64^3. Without WebGL2 the page draws the
    three slices in 2D.

    Examples:
        >>> from workbench.live import VolumeView
        >>> view = VolumeView()
        >>> view.close()
    """

    _script = script("field/volume.js")

    height = traitlets.Int(460, min=0).tag(sync=True)
    quantity = traitlets.Enum(tuple(NAMES), COEFFICIENT).tag(sync=True)
    colours = traitlets.Enum(COLOURS, AUTOMATIC).tag(sync=True)
    position = traitlets.List(traitlets.Float(), [0.25, 0.75, 0.25], 3, 3).tag(sync=True)
    slices = traitlets.Bool(True).tag(sync=True)
    surface = traitlets.Bool(True).tag(sync=True)
    phases = traitlets.Bool(True).tag(sync=True)
    subdomains = traitlets.Bool(True).tag(sync=True)
    level = traitlets.Float(0.5, min=0, max=1).tag(sync=True)
    apart = traitlets.Float(0.0, min=0, max=1).tag(sync=True)
    frame = traitlets.Int(-1).tag(sync=True)
    rate = traitlets.Float(10.0, min=0.1, max=60).tag(sync=True)
    column = traitlets.Int(0, min=0)
    """The right-hand side that is shown, of several; known to the kernel alone."""
    flat = traitlets.Bool(False)
    """Set while the run that is followed has no cube; only the field view can show it."""

    def __init__(self, publisher: Publisher | None = None, **traits: Any) -> None:
        self.still: Still | None = None
        self.look: Snapshot | None = None
        self._present: Snapshot | None = None
        """The last snapshot of the present state."""
        self._frames = (0, False)
        """The number of frames of the film at the last look, and whether it had ended."""
        self._looker: SnapshotSource | None = None
        self._sentence = ("", "")
        self._waiting = ""
        """The last sentence shown while the place of the unknowns was not known."""
        self._following = threading.RLock()
        self._drawing = LatestOnly("workbench-volume")
        self._changed = threading.Event()
        self._stale = self._still_due = True
        self._asked_scene = self._live = False
        self._pace = ShareLimit()
        self._reel = FrameBatch()
        self._shades: Colormap | None = None
        super().__init__(publisher, **traits)
        self.observe(self._touch, ["quantity", "colours", "column", "frame"])

    def show(self, scene: Scene, *, live: bool = False) -> None:
        """Draw a problem; its volumes are made in the background. One that is not in 3D gets a sentence.

        live: another follows soon, so that the page draws this one coarsely and stays free for its user.
        """
        self._live = live
        with self._following:
            self._looker, self._sentence = None, ("", "")
        self._draw(None, lambda: scene)

    def follow(self, run: RunSource) -> None:
        """Show another run, active or at rest."""
        looker = SnapshotSource(run, self.publisher.wake)
        with self._following:
            self.still, self.look, self._present, self._shades, self._asked_scene = None, None, None, None, False
            self._looker, self._sentence, self._live = looker, ("", ""), False
        self.flat, self.frame = False, -1
        self._touch()

    def close(self) -> None:
        self._drawing.close()
        self._looker = None
        super().close()

    def publish(self) -> PollAgain:
        if self.link.restart():
            self._still_due = True
            self._changed.set()
        if self._changed.is_set():
            self._changed.clear()
            self._stale = True
        if not self.link.free:
            return False
        looker = self._looker
        if looker is not None:
            self._prepare(looker)
        if self._still_due and self.still is not None:
            self._still_due = False
            self.link.send(*self.still.message())
        goes_on, shot = self._news(looker)
        made = None
        if shot is not None:
            self._stale = False
            made = self._reel.add(self._annotated(shot), (looker, self.quantity, self.colours, self.column, self.frame))
        made = made or self._reel.due()
        if made is not None:
            self.link.send(*made)
        if goes_on and not self._stale:
            return self._pace.wait or True
        return goes_on or self._reel.waits

    def _news(self, looker: SnapshotSource | None) -> tuple[bool, Frame | None]:
        """True while there may be more to show; a picture if there is a new one, or the old one is stale."""
        title, sentence = self._sentence
        if sentence:
            return False, self._words(title, sentence)
        if looker is not None and looker.place is None:
            # Before the sentence: a run that ends meanwhile is then looked at once more.
            goes_on, waiting = looker.unplaced, f"{why_nothing(looker.watched)}."
            self._stale |= waiting != self._waiting
            self._waiting = waiting
            return goes_on, self._words(looker.title, waiting)
        if self.quantity == COEFFICIENT:
            return False, self._if_stale(self.still.coefficient_message) if self.still else None
        if looker is None:
            return False, self._words("", f"{NO_RUN}.")
        return self._seen(looker)

    def _seen(self, looker: SnapshotSource) -> tuple[bool, Frame | None]:
        """A picture of a vector of the run, as it is or in a frame of its film."""
        place, quantity = looker.where(), Quantity(self.quantity)
        assert place is not None
        assert place.grid is not None
        layers, rows, columns = place.grid
        live, run, film = looker.watched.busy, looker.watched.run, looker.watched.film
        goes_on = looker.goes_on
        # Without a known solution only the frames of a film can be compared, with the last of them.
        compared = quantity is Quantity.ERROR and not looker.knows_solution and film is not None and bool(film.frames)
        filmed = film is not None and (0 <= self.frame < len(film.frames) or looker.holds_film_only)
        peaks = quantity is not Quantity.SOLUTION and not compared
        if compared or filmed:
            live = False
            of = self.column, looker.columns
            cut = VolumeCut((layers, rows, columns), peaks, cells_per_side(3, of[1]))
            given = of, place.unknowns, place.grid, cut
            frames = (len(film.frames), film.over) if film is not None else (0, False)
            new = self._stale or self.look is None or (compared and frames != self._frames)
            self._frames = frames
            look = film_look(film, self.frame, quantity, *given) if new else None
        else:
            cut = VolumeCut((layers, rows, columns), peaks, LIVE_CELLS if live else MOST_CELLS)
            self._pace.keep(self.rate, run.snapshots if run is not None and live else None)
            look = looker.poll(quantity, cut, self.column, due=self._pace)
            goes_on = looker.goes_on or looker.waiting
            self._present = look or self._present
        latest = self.look = look or (self.look if compared or filmed else self._present)
        fits = latest is not None and (latest.quantity, latest.cut) == (quantity, cut)
        if latest is None or not fits or (look is None and not self._stale):
            return goes_on, None
        stale = self._stale

        def make() -> Picture:
            shades = shades_of(latest, self.colours)
            self._shades = shades.kept_from(self._shades) if shades and live and not stale else shades
            message, buffer = picture(latest, self._shades, cut, looker.title_of(latest), place)
            return {**message, "film": reported(film), **({"bar": BAR} if compared else {})}, buffer

        return goes_on, Frame(make, live)

    def _prepare(self, looker: SnapshotSource) -> None:
        """Ask a worker for the volumes of the problem, as soon as its system is there."""
        place = looker.where()
        if place is None or self._asked_scene:
            return
        self._asked_scene = True
        if place.system is None:
            self._say(looker.title, NO_SYSTEM)
        elif place.grid is None or len(place.grid) != 3:
            self._say(looker.title, FLAT)
            self.flat = True
        else:
            system, labels = place.system, place.labels
            with_labels = None if labels is None else labels.ravel()
            self._draw(looker, lambda: scene(looker.title, system).with_labels(with_labels))

    def _draw(self, looker: SnapshotSource | None, make: Callable[[], Scene]) -> None:
        """Make a scene and its volumes in the background; they are dropped if another run is followed by then."""

        def draw() -> None:
            still, title, sentence = None, "", ""
            try:
                found = make()
                title = found.title
                if found.is_matrix or found.values.ndim != 3:
                    sentence = FLAT
                else:
                    still = Still.of(found)
            except InputError as error:
                sentence = str(error)
            with self._following:
                if looker is not self._looker:
                    return
                if still is not None:
                    self.still, self._still_due = still, True
                    self._touch()
                else:
                    self._say(title, sentence)

        self._drawing.ask(draw)

    def _say(self, title: str, sentence: str) -> None:
        self._sentence = (title, f"{sentence}.")
        self._touch()

    def _words(self, title: str, sentence: str) -> Frame | None:
        """A sentence in place of a picture, once."""
        return self._if_stale(lambda: (volume_blank(title, sentence), b""))

    def _if_stale(self, make: Callable[[], Picture]) -> Frame | None:
        return Frame(make) if self._stale else None

    def _annotated(self, shot: Frame) -> Frame:
        quantity, live = self.quantity, shot.live or self._live

        def make() -> Picture:
            message, buffer = shot.make()
            return {**message, "quantity": quantity, "live": live}, buffer

        return Frame(make, live)

    def _touch(self, _change: object = None) -> None:
        self._changed.set()
        self.publisher.wake()


def picture(look: Snapshot, shades: Colormap | None, cut: VolumeCut, title: str, place: Place) -> Picture:
    """The message of a snapshot and its buffer, a byte per cell, z slowest; a sentence where nothing is to be shown."""
    quantity, values = look.quantity, look.values
    if values is None or shades is None:
        return {**volume_blank(f"{quantity.value}: {title}", f"{look.words}."), "iteration": look.iteration}, b""
    notes = [look.words, f"{grouped(place.unknowns)} unknowns", cut.words()]
    if not np.isfinite(values).all():
        notes.append("there are values that are not finite")
    return {
        "part": "values",
        "title": f"{quantity.value} after iteration {grouped(look.iteration)}: {title}",
        "note": "; ".join(filter(None, notes)),
        "bar": BARS[quantity],
        "size": values.shape[::-1],
        "reach": cut.reach,
        "cells": cut.grid[::-1],
        "iteration": look.iteration,
        **shades.reported(),
    }, np.ascontiguousarray(shades.to_bytes(values)).tobytes()


def volume_blank(title: str, note: str) -> dict[str, Any]:
    """The message for a picture that cannot be drawn, with a sentence that says why."""
    return {**blank(title, note), "part": "values", "size": [0, 0, 0], "reach": [1, 1, 1], "cells": [0, 0, 0]}
