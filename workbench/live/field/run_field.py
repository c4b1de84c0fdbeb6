"""The pictures of one run's vectors, as a view asks for them: of its present state, or a frame of its film."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from workbench.live.field.frame_batch import Frame
from workbench.live.field.pictures import NONE, Picture, blank, field_picture, outlines, plane_of_look, shades_of
from workbench.live.field.snapshot_source import Nesting, Place, SnapshotSource, why_nothing
from workbench.live.field.volume_still import VolumeCut
from workbench.live.transport.publisher import PollAgain
from workbench.live.transport.rate_limit import RateLimit
from workbench.live.ui.run_handle import RunSource
from workbench.plots import figures
from workbench.plots.figures import Boundaries
from workbench.plots.scenes.cuts import LIVE_PIXELS, MOST_PIXELS, Cut
from workbench.plots.scenes.plane import Colormap
from workbench.records.film import Film
from workbench.run.results.filming import PIXELS, cells_per_side, film_cut
from workbench.run.results.snapshots import Quantity, Snapshot
from workbench.words.numbers import amount, count, counted

LATER = (
    "the exact solution is not known. At the end of the run its {count} states of x so far are compared with the final "
    "one"
)
NONE_KEPT = (
    "the exact solution is not known, and no earlier x was kept. Run it again in Solve, which keeps some, or choose "
    "the right-hand side ones-scaled"
)
BAR = "final x − x"
AGAINST = "final x of this run − x: the exact solution is not known"


def reported(film: Film | None) -> dict[str, Any]:
    """The message to the page on a film: the iterations of its frames, and how much it keeps."""
    if film is None or not film.frames:
        return {"iterations": [], "words": ""}
    kept = f"{counted(len(film.frames), 'state')} kept, {amount(film.bytes)} of at most {amount(film.memory)}"
    return {"iterations": film.iterations, "words": kept}


def film_look(
    film: Film | None,
    place: int,
    quantity: Quantity,
    of: tuple[int, int],
    unknowns: int,
    grid: tuple[int, ...] | None,
    cut: Cut | VolumeCut,
) -> Snapshot:
    """A quantity in one of the frames, the first being 0; a sentence where there is none. place: -1 for the last frame,
    or the first where x is compared with the last. of: the column, and the number of them. cut: the plane, or the whole
    cube."""
    (column, columns), look = of, Snapshot(quantity, cut, of[0])
    frames = film.frames if film else ()
    # Without a known solution there is no error in the frames.
    compared = quantity is Quantity.ERROR and not (frames and quantity.value in frames[0].vectors)
    if film is None or not frames or (compared and (not film.over or len(frames) < 2)):
        look.words = LATER.format(count=len(frames)) if film and not film.over else NONE_KEPT
        return look
    frame = frames[min(place, len(frames) - 1) if place >= 0 else 0 if compared else -1]
    taken = Quantity.SOLUTION if compared else quantity
    shape = film_cut(unknowns, grid, taken, columns).shape
    vectors = [one.vectors.get(taken.value) for one in (frame, frames[-1])]
    if any(vector is None or vector.shape != shape for vector in vectors):
        look.words = "the film of this run does not fit its grid"
        return look
    kept = [vector for vector in vectors if vector is not None]
    shown, last = (_part(vector if columns == 1 else vector[column], cut) for vector in kept)
    look.iteration, look.words = frame.iteration, AGAINST if compared else ""
    look.values = last - shown if compared else shown
    return look


def film_plane(
    normal: str, index: int, quantity: Quantity, grid: tuple[int, ...] | None, columns: int, *, peaks: bool
) -> Cut:
    """The cut of a frame of one of these columns that is shown."""
    most = cells_per_side(len(grid), columns) if grid is not None else PIXELS
    return Cut(grid, normal, index, peaks and quantity is not Quantity.SOLUTION, most)


def _part(vector: np.ndarray, cut: Cut | VolumeCut) -> np.ndarray:
    """The part of a frame that is drawn; frames of a cube have fewer planes than the cube has cells along a side."""
    values = vector.astype(np.float64)
    if cut.grid is None:
        return cut(values)
    if isinstance(cut, VolumeCut) or len(cut.grid) == 2:
        return values
    axis = "zyx".index(cut.normal)
    return np.take(values, cut.index * values.shape[axis] // cut.grid[axis], axis=axis)


@dataclasses.dataclass(frozen=True)
class Choice:
    """The choices of a user. frame: which one of the run's film, -1 for the present state. level: of the coarse solver,
    whose parts are outlined. column: of several right-hand sides."""

    quantity: Quantity
    normal: str
    index: int
    frame: int
    colours: str
    overlay: bool
    level: int
    column: int = 0


class RunField:
    """Takes snapshots of a run and makes pictures of them; the last snapshot is `look`."""

    def __init__(self, run: RunSource, wake: Callable[[], None]) -> None:
        self.looker = SnapshotSource(run, wake)
        self.look: Snapshot | None = None
        self._pace = RateLimit()
        self._present: Snapshot | None = None
        """The last snapshot of the present state."""
        self._note = ""
        self._frames: tuple[int, bool] | None = None
        """The number of frames of the film at the last look, and whether it had ended."""
        self._shades: Colormap | None = None
        self._outlined: tuple[object, Boundaries] = (None, NONE)
        self._compared: tuple[object, bool] = (None, False)

    @property
    def again(self) -> PollAgain:
        """When there may be more to see of an active run: with the next picture's turn."""
        return self._pace.wait or True

    @property
    def place(self) -> Place | None:
        """The place of the unknowns; None while it is not known."""
        return self.looker.place

    def nesting(self, labels: np.ndarray | None) -> Nesting | None:
        """The levels of subdomains with labels of the shape of the grid; None for others than those of the run."""
        nesting = self.looker.nesting
        if nesting is None or labels is None or labels.shape != nesting.labels.shape:
            return None
        if self._compared[0] is not labels:
            self._compared = labels, labels is nesting.labels or np.array_equal(labels, nesting.labels)
        return nesting if self._compared[1] else None

    def news(self, choice: Choice, *, stale: bool) -> tuple[bool, Frame | None]:
        """True while there may be more to see; a picture if there is a new one, or the old one is `stale`."""
        looker = self.looker
        place = looker.where()
        if place is None:
            return looker.unplaced, self.waiting(stale=stale)
        # Without a known solution only the frames of a film can be compared, with the last of them.
        compared = choice.quantity is Quantity.ERROR and not looker.knows_solution
        live, film = looker.watched.busy, looker.watched.film
        peaked = choice.quantity is not Quantity.SOLUTION and not compared
        # Before the film is looked at: what is added meanwhile is drawn in the next turn.
        goes_on = looker.goes_on
        filmed = film is not None and (0 <= choice.frame < len(film.frames) or looker.holds_film_only)
        if compared or filmed:
            of = choice.column, looker.columns
            cut = film_plane(choice.normal, _index(choice, place), choice.quantity, _grid(place), of[1], peaks=peaked)
            frames = (len(film.frames), film.over) if film else (0, False)
            new = stale or self._frames is None or (compared and frames != self._frames)
            self._frames = frames
            look = film_look(film, choice.frame, choice.quantity, of, place.unknowns, cut.grid, cut) if new else None
        else:
            most = LIVE_PIXELS if live else MOST_PIXELS
            cut = Cut(_grid(place), choice.normal, _index(choice, place), peaked, most)
            look = looker.poll(choice.quantity, cut, choice.column, due=self._pace)
            goes_on = looker.goes_on or looker.waiting
            self._present = look or self._present
        latest = self.look = look or (self.look if filmed or compared else self._present)
        fits = latest is not None and (latest.quantity, latest.cut) == (choice.quantity, cut)
        if latest is None or not fits or (look is None and not stale):
            return goes_on, None
        self._note = ""
        outlined = self._outlines(place.labels if choice.overlay else None, cut, choice.level)

        def make() -> Picture:
            shades = shades_of(latest, choice.colours)
            # What was chosen last or is at rest has a scale of its own.
            self._shades = shades.kept_from(self._shades) if shades and live and not stale else shades
            title = looker.title_of(latest)
            message, buffer = field_picture(latest, self._shades, cut, outlined, title, place.unknowns)
            return {**message, "film": reported(film), **({"bar": BAR} if compared else {})}, buffer

        return goes_on, Frame(make, live)

    def waiting(self, *, stale: bool) -> Frame | None:
        """A sentence while the place of the unknowns is not known, returned once."""
        reported = blank(self.looker.title, f"{why_nothing(self.looker.watched)}.")
        if not stale and reported["note"] == self._note:
            return None
        self._note = reported["note"]
        return Frame(lambda: (reported, b""))

    @property
    def plane(self) -> str:
        """The plane of a cube that was drawn last, in words; empty where there is none."""
        cut: Any = self.look.cut if self.look is not None else None
        return cut.where if cut is not None else ""

    def figure(self, choice: Choice) -> Figure | None:
        """The last snapshot as a figure for print; None where it is not of the chosen quantity."""
        look = self.look
        if look is None or look.values is None or look.quantity is not choice.quantity:
            return None
        cut: Any = look.cut
        column = f", column {look.column + 1}" if self.looker.columns > 1 else ""
        title, bar = f"after iteration {count(look.iteration)}{column}", BAR if look.words == AGAINST else ""
        shades = shades_of(look, choice.colours)
        return figures.draw_plane(plane_of_look(look, shades, cut, title=title, bar=bar)) if shades else None

    def _outlines(self, labels: np.ndarray | None, cut: Cut, level: int) -> Boundaries:
        """The boundaries of the subdomains, kept from one picture to the next, since finding them is a pass over the
        labels."""
        parts = self.looker.nesting.parts(level) if self.looker.nesting else None
        key = (labels is None, cut, -1 if parts is None else level)
        if self._outlined[0] != key:
            self._outlined = (key, outlines(labels, cut, parts) if cut.grid is not None else NONE)
        return self._outlined[1]


def _grid(place: Place) -> tuple[int, ...] | None:
    """The grid of a plane that is shown; None for a vector that lies on none that can be drawn."""
    return place.grid if place.grid is not None and len(place.grid) in (2, 3) else None


def _index(choice: Choice, place: Place) -> int:
    """The plane of cells of a cube that is shown, 0 where there is no cube."""
    grid = _grid(place)
    cells = grid["zyx".index(choice.normal)] if grid and len(grid) == 3 else 1
    return min(max(choice.index, 0), cells - 1)
