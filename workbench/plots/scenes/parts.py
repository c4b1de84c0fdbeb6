"""Parts of a matrix in colours: on its pattern, and at places of its unknowns. Neighbouring parts differ in colour."""

from __future__ import annotations

import numpy as np

from workbench.lazy import sparse
from workbench.plots.scenes.scene import Axis, PointsOf, Scene
from workbench.plots.scenes.style import COLOURS
from workbench.words.numbers import count

STYLES = (0, 1, 2, 3, 4, 6, 7)
"""Styles of parts; the grey one is that of couplings between parts."""
BETWEEN = len(STYLES) + 1
PALETTE = (*(COLOURS[style] for style in STYLES), "#b8bcc6")
"""Colours of the values 1, 2, .. of `parts_pattern`; the last is that of couplings between parts."""
CHUNK = 1 << 22
"""Entries that are looked at together."""
MOST_TOLD_APART = 1 << 15
"""Parts up to which neighbours have different colours; more are coloured in turn."""
SLANT = (0.45, 0.3)
"""Shares of y that are added to x and z in the view of points in space, so that a cube looks like one."""
MOST_POINTS = 20_000
"""Unknowns that are drawn at their places; of more, every k-th."""


def touching(matrix: sparse.csr_array, labels: np.ndarray) -> sparse.csr_array:
    """The pattern of E = Z^H A Z for parts with these labels, shape (d, d), entries 1. Cost: a pass over A."""
    parts, found = int(labels.max()) + 1, None
    for first in range(0, matrix.nnz, CHUNK):
        rows, columns = _entries(matrix, first)
        pairs = labels[rows], labels[columns]
        some = sparse.coo_array((np.ones(rows.size, np.float32), pairs), shape=(parts, parts)).tocsr()
        found = some if found is None else found + some
    made = sparse.csr_array((parts, parts), dtype=np.float32) if found is None else sparse.csr_array(found)
    made.data[:] = 1
    return made


def part_styles(neighbours: sparse.csr_array) -> np.ndarray:
    """The place in `STYLES` of each part, shape (d,): the first in turn that none of its neighbours before it has.

    neighbours: as `touching` returns them. Cost: one look at each pair of neighbours.
    """
    parts, turns = neighbours.shape[0], len(STYLES)
    styles = np.arange(parts, dtype=np.int8 if parts < 128 else np.int64) % turns
    if parts > MOST_TOLD_APART:
        return styles
    for part in range(parts):
        others = neighbours.indices[neighbours.indptr[part] : neighbours.indptr[part + 1]]
        taken = set(styles[others[others < part]].tolist())
        styles[part] = next(((part + k) % turns for k in range(turns) if (part + k) % turns not in taken), part % turns)
    return styles


def parts_pattern(
    matrix: sparse.csr_array, labels: np.ndarray, styles: np.ndarray, pixels: int = 256, rank: np.ndarray | None = None
) -> np.ndarray:
    """The pattern of a matrix as a picture of at most pixels x pixels, row 0 at the top: 0 where there is no entry, 1 +
    the style of a part where a pixel has an entry between two of its unknowns, else `BETWEEN`.

    rank: the place of each unknown in another order, shape (N,). Cost: one pass over the entries.
    """
    size = matrix.shape[0]
    side = min(size, pixels)
    picture = np.zeros(side * side, np.uint8)
    within = np.zeros(side * side, bool)
    for first in range(0, matrix.nnz, CHUNK):
        rows, columns = _entries(matrix, first)
        own = labels[rows]
        inside = own == labels[columns]
        if rank is not None:
            rows, columns = rank[rows], rank[columns]
        pixel = rows.astype(np.int64) * side // size * side + columns.astype(np.int64) * side // size
        crossing = pixel[~inside]
        picture[crossing[~within[crossing]]] = BETWEEN
        picture[pixel[inside]] = 1 + styles[own[inside]]
        within[pixel[inside]] = True
    return picture.reshape(side, side)


def by_part(labels: np.ndarray) -> np.ndarray:
    """The rank of each unknown once the unknowns are sorted by part, shape (N,)."""
    rank = np.empty(labels.size, np.int64)
    rank[np.argsort(labels, kind="stable")] = np.arange(labels.size)
    return rank


def parts_scene(places: np.ndarray, labels: np.ndarray, styles: np.ndarray, axes: tuple[str, str]) -> Scene:
    """The unknowns at their places in the colours of their parts; those in space in a slanted view, the near ones last.

    places: shape (N, 2) or (N, 3), NaN for unknowns without one. axes: what lies across and up. Of more than
    `MOST_POINTS` every k-th is drawn.
    """
    parts, placed = int(labels.max()) + 1, np.flatnonzero(np.isfinite(places).all(axis=1))
    every = -(-placed.size // MOST_POINTS)
    shown = placed[::every]
    size = np.clip(150 / np.sqrt(shown.size), 1.2, 4)
    if places.shape[1] == 3:
        # As large as hides what lies behind; several unknowns may lie at a place.
        size = np.clip(90 / np.cbrt(len(np.unique(places[shown], axis=0))), 1.2, 9)
        shown = shown[np.argsort(-places[shown, 1], kind="stable")]
        places = places[:, [0, 2]] + places[:, 1:2] * SLANT
    colours = [COLOURS[STYLES[place]] for place in styles[labels[shown]].tolist()]
    points = PointsOf(
        "", places[shown, 0], places[shown, 1], size=float(size), marker=".", colours=colours, word="unknown"
    )
    drawn = f"every {every}th of {count(placed.size)}" if every > 1 else count(placed.size)
    spoken = f"{drawn} unknowns at their places, in the colours of {count(parts)} parts."
    return Scene("parts", Axis(axes[0]), Axis(axes[1]), [points], spoken=spoken, ways="xy", square=True)


def _entries(matrix: sparse.csr_array, first: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of up to `CHUNK` entries."""
    columns = matrix.indices[first : first + CHUNK]
    rows = np.searchsorted(matrix.indptr, np.arange(first, first + columns.size), side="right") - 1
    return rows, columns
