"""Positions of bubbles (on a grid, random without overlap, or from a list), and the phase of each cell."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import numpy as np

from workbench.errors import InputError

ROUNDING = 1e-12
CANDIDATES = 64
ROUNDS = 64
RANDOM_GAP = 0.1
"""Minimum gap between random bubbles in radii, so that grid refinement separates them."""
RANDOM_SHARE = 0.8
"""Ratio of the default radius of random bubbles to that of bubbles on a grid, which leaves space to place them."""
KNOWN = 8
"""Geometries that are kept, read-only: a page asks for those that it shows many times."""


@dataclasses.dataclass(frozen=True, eq=False)
class Geometry:
    """Bubbles in the unit square or cube, in side lengths, or in a box of another height.

    centres: shape (k, dimensions), x first; radii: shape (k,). height: along the last direction. Raises
    InputError for bubbles that extend beyond the box or overlap, and for mismatched shapes. Cost: k^2 distances.
    """

    centres: np.ndarray
    radii: np.ndarray
    height: float = 1.0

    def __post_init__(self) -> None:
        if self.centres.ndim != 2 or self.radii.shape != self.centres.shape[:1] or not self.radii.size:
            raise InputError(
                f"bubbles need centres of shape (k, dimensions) and radii of shape (k,) with k at least 1, "
                f"got {self.centres.shape} and {self.radii.shape}"
            )
        top = np.ones(self.centres.shape[1])
        top[-1] = self.height
        sized, reach = (self.radii > 0) & (self.radii <= 0.5), self.radii[:, None]
        inside = (self.centres - reach >= -ROUNDING) & (self.centres + reach <= top + ROUNDING)
        wrong = np.flatnonzero(~(sized & inside.all(axis=1)))
        if wrong.size:
            k = int(wrong[0])
            centre, radius = self.centres[k], self.radii[k]
            if not sized[k]:
                raise InputError(f"bubble {k + 1} has radius {radius:g}; a radius must be above 0 and at most 0.5")
            raise InputError(
                f"bubble {k + 1} at {_point(centre)} with radius {radius:.3g} extends beyond the "
                f"{'unit ' * (self.height == 1)}box; move it inwards or make it smaller"
            )
        self._check_overlap()

    def _check_overlap(self) -> None:
        for k in range(1, self.radii.size):
            distance = np.linalg.norm(self.centres[:k] - self.centres[k], axis=1)
            near = np.flatnonzero(distance < self.radii[:k] + self.radii[k] - ROUNDING)
            if near.size:
                raise InputError(f"bubbles {near[0] + 1} and {k + 1} overlap; move them apart or make one smaller")

    def holds_cells(self, n: int) -> np.ndarray:
        """True for each bubble that contains the centre of a cell, for n cells per side; bool, shape (k,).

        Cost: k distances.
        """
        centres = self.centres * n - 0.5
        nearest = np.clip(np.rint(centres), 0, n - 1)
        return ((centres - nearest) ** 2).sum(axis=1) <= (self.radii * n) ** 2 * (1 + ROUNDING)

    def check_cells(self, n: int) -> None:
        """Raise InputError for a bubble that contains no cell centre, for n cells per side. Cost: k distances."""
        missed = np.flatnonzero(~self.holds_cells(n))
        if missed.size:
            k = int(missed[0])
            raise InputError(
                f"bubble {k + 1} with radius {self.radii[k]:g} contains no cell centre of {n} cells per side; "
                f"use a radius of at least {np.sqrt(self.centres.shape[1]) / (2 * n):.3g} or more cells"
            )

    def paint(self, n: int, planes: slice = slice(None)) -> np.ndarray:
        """The phase of each cell, shape (n, ..., n): the number 1..k of the bubble with the cell centre, else 0.

        planes: those to paint, of the slowest side.

        uint8 for up to 255 bubbles, else uint16.

        Raises InputError for a bubble that contains no cell centre. Cost: the bubbles' bounding boxes.
        """
        self.check_cells(n)
        begin, end, _ = planes.indices(n)
        shape = (end - begin, *(n,) * (self.centres.shape[1] - 1))
        phase = np.zeros(shape, dtype=np.uint8 if self.radii.size < 256 else np.uint16)
        for k, (centre, radius) in enumerate(zip(self.centres * n - 0.5, self.radii * n, strict=True), start=1):
            first = np.maximum(np.ceil(centre - radius - ROUNDING * n).astype(int), 0)
            last = np.minimum(np.floor(centre + radius + ROUNDING * n).astype(int), n - 1)
            first[-1], last[-1] = max(first[-1], begin), min(last[-1], end - 1)
            if first[-1] > last[-1]:
                continue
            axes = [np.arange(low, high + 1) - middle for low, high, middle in zip(first, last, centre, strict=True)]
            squares = np.meshgrid(*(axis**2 for axis in axes[::-1]), indexing="ij", sparse=True)
            # The tolerance includes cell centres exactly on the boundary, so that rounding cannot break symmetry.
            inside = sum(squares) <= radius**2 * (1 + ROUNDING)
            first[-1], last[-1] = first[-1] - begin, last[-1] - begin
            box = tuple(slice(low, high + 1) for low, high in zip(first[::-1], last[::-1], strict=True))
            phase[box][inside] = k
        return phase


def default_radius(count: int, dimensions: int) -> float:
    """0.35 divided by the bubbles per side: 0.35 for 1 bubble, 0.175 for 4 in 2D and 8 in 3D (fitted to the paper)."""
    per_side = 1
    while per_side**dimensions < count:
        per_side += 1
    return 0.35 / per_side


def on_grid(count: int, radius: float, dimensions: int) -> Geometry:
    """Equal bubbles at the centres of k x .. x k boxes. Raises InputError unless count = k^dimensions and they fit."""
    per_side = round(count ** (1 / dimensions))
    if per_side**dimensions != count:
        allowed = ", ".join(str(k**dimensions) for k in range(1, 5))
        raise InputError(f"a grid of bubbles needs a count of {allowed}, ..., got {count}; use one, or layout random")
    if radius > 0.5 / per_side:
        raise InputError(f"{count} bubbles on a grid need a radius of at most {0.5 / per_side:g}, got {radius:g}")
    middles = (np.arange(per_side) + 0.5) / per_side
    centres = np.array([point[::-1] for point in itertools.product(middles, repeat=dimensions)])
    return Geometry(centres, np.full(count, radius))


@functools.lru_cache(maxsize=KNOWN)
def at_random(count: int, radius: float, dimensions: int, seed: int) -> Geometry:
    """Equal bubbles placed one by one, uniformly at random without overlap, independent of the cells.

    Raises InputError with the number of bubbles placed if there is not enough space. Cost: at most 4096 x count^2
    distances.
    """
    stream = np.random.default_rng(seed)
    centres = np.empty((0, dimensions))
    for placed in range(count):
        for _ in range(ROUNDS):
            candidates = radius + (1 - 2 * radius) * stream.random((CANDIDATES, dimensions))
            distance = np.linalg.norm(candidates[:, None] - centres, axis=2)
            free = np.flatnonzero((distance >= (2 + RANDOM_GAP) * radius).all(axis=1))
            if free.size:
                centres = np.vstack([centres, candidates[free[:1]]])
                break
        else:
            raise InputError(
                f"only {placed} of {count} bubbles with radius {radius:g} could be placed (layout seed {seed}); "
                "use fewer or smaller bubbles, or another seed"
            )
    radii = np.full(count, radius)
    for kept in (centres, radii):
        kept.setflags(write=False)
    return Geometry(centres, radii)


@functools.lru_cache(maxsize=KNOWN)
def from_text(text: str, dimensions: int, height: float = 1.0) -> Geometry:
    """Parse bubbles written as "x,y,r; x,y,r" or "x,y,z,r; ...", in a box of a height. Raises InputError for others."""
    form = "x,y,r" if dimensions == 2 else "x,y,z,r"
    rows = []
    for k, entry in enumerate(filter(None, (part.strip() for part in text.split(";"))), start=1):
        try:
            row = [float(word) for word in entry.split(",")]
        except ValueError:
            row = []
        if len(row) != dimensions + 1:
            raise InputError(f"bubble {k} must be written {form}, got {entry!r}")
        rows.append(row)
    if not rows:
        raise InputError(f"layout list needs bubbles written {form}; {form}; ..., got none")
    values = np.array(rows)
    values.setflags(write=False)
    return Geometry(values[:, :-1], values[:, -1], height)


def to_text(geometry: Geometry) -> str:
    """The inverse of `from_text`, without loss of digits."""
    rows = np.column_stack([geometry.centres, geometry.radii]).tolist()
    return "; ".join(",".join(repr(value) for value in row) for row in rows)


def _point(centre: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:.3g}" for value in centre) + ")"
