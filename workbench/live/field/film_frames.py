"""The frames of a run's film as the field shows them; where no solution is known, x is compared with the last one."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.plots.scenes.cuts import Cut
from workbench.records.film import Film
from workbench.run.results.filming import CELLS, PIXELS, film_cut
from workbench.run.results.snapshots import Quantity, Snapshot
from workbench.words.numbers import amount, count

LATER = (
    "the exact solution is not known; once the run has ended, the {count} states of x kept so far are compared with "
    "its final x"
)
NONE_KEPT = (
    "the exact solution is not known, and no x was kept to compare with the final one; run it again in Solve or by "
    "“Run again with timings”, which keep some, or choose the right-hand side ones-scaled"
)
BAR = "final x − x"
AGAINST = "final x of this run − x, in place of the error, since the exact solution is not known"


def reported(film: Film | None) -> dict[str, Any]:
    """The message to the page on a film: the iterations of its frames, and how much it keeps."""
    if film is None or not film.frames:
        return {"iterations": [], "words": ""}
    kept = f"{count(len(film.frames))} states kept, {amount(film.bytes)} of at most {amount(film.memory)}"
    return {"iterations": film.iterations, "words": kept}


def film_look(
    film: Film | None, place: int, quantity: Quantity, unknowns: int, grid: tuple[int, ...] | None, cut: Cut
) -> Snapshot:
    """A quantity in one of the frames, the first being 0; a sentence where there is none. place: -1 for the last frame,
    or the first where x is compared with the last. cut: the plane."""
    look = Snapshot(quantity, cut)
    frames = film.frames if film else ()
    # Without a known solution there is no error in the frames.
    compared = quantity is Quantity.ERROR and not (frames and quantity.value in frames[0].vectors)
    if film is None or not frames or (compared and (not film.over or len(frames) < 2)):
        look.words = LATER.format(count=len(frames)) if film and not film.over else NONE_KEPT
        return look
    frame = frames[min(place, len(frames) - 1) if place >= 0 else 0 if compared else -1]
    taken = Quantity.SOLUTION if compared else quantity
    shape = film_cut(unknowns, grid, taken).shape
    vectors = [one.vectors.get(taken.value) for one in (frame, frames[-1])]
    if any(vector is None or vector.shape != shape for vector in vectors):
        look.words = "the film of this run does not fit its grid"
        return look
    shown, last = (_plane(vector, cut) for vector in vectors if vector is not None)
    look.iteration, look.words = frame.iteration, AGAINST if compared else ""
    look.values = last - shown if compared else shown
    return look


def film_plane(normal: str, index: int, quantity: Quantity, grid: tuple[int, ...] | None, *, peaks: bool) -> Cut:
    """The cut of a frame that is shown."""
    most = CELLS if grid is not None and len(grid) == 3 else PIXELS
    return Cut(grid, normal, index, peaks and quantity is not Quantity.SOLUTION, most)


def _plane(vector: np.ndarray, cut: Cut) -> np.ndarray:
    """The plane of a frame that is drawn; frames of a cube have fewer planes than the cube has cells along a side."""
    values = vector.astype(np.float64)
    if cut.grid is None:
        return cut(values)
    if len(cut.grid) == 2:
        return values
    axis = "zyx".index(cut.normal)
    return np.take(values, cut.index * values.shape[axis] // cut.grid[axis], axis=axis)
