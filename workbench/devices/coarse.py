"""Forms of E^-1 as plain arrays, so that a device can store it in its memory."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector

    Stored = TypeVar("Stored", "Level", "Levels")

MOST_DENSE_ON_GPU = 4096
"""Most deflation vectors for which a GPU stores a band factor as two dense matrices, 268 MB in double precision."""


class HostCopies(Protocol):
    """A device whose vectors are copied to the host."""

    def to_host(self, vector: DeviceVector, /) -> np.ndarray:
        """The numbers of a vector; waits for the device."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class Dense:
    """E^-1 itself, shape (d, d)."""

    inverse: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Banded:
    """E = L L^H after a permutation: band[k, j] = L[j + k, j] of shape (w + 1, d), and the unknown at each place."""

    band: np.ndarray
    order: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Triangle:
    """E = L L^H, shape (d, d) in Fortran order; the upper triangle means nothing."""

    factor: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Level:
    """One level of `Levels` above the bottom, m rows.

    data, indices, indptr: D^-1/2 E D^-1/2 as CSR, D the diagonal of E. parents: the part that each row belongs to, a
    row of the next level, shape (m,); starts: the first row of each of those, and m. weights: sqrt(D) of a row
    over sqrt(D) of its parent, shape (m,). smoother: a and b of the smoothing x = a r - b E r.

    With several near-null vectors, `modes` of them, weights have the shape (m, modes), and part g is rows g modes to
    (g + 1) modes - 1 of the next level.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    parents: np.ndarray
    starts: np.ndarray
    weights: np.ndarray
    smoother: tuple[float, float]

    @property
    def size(self) -> int:
        return self.parents.size

    @property
    def parts(self) -> int:
        return self.starts.size - 1

    @property
    def modes(self) -> int:
        """Rows of the next level for each part."""
        return self.weights.size // self.parents.size

    @property
    def is_lifted(self) -> bool:
        """True if each row takes the correction of one row of the next level, with a real weight."""
        return self.modes == 1 and self.weights.dtype.kind == "f"


@dataclasses.dataclass(frozen=True, eq=False)
class Levels:
    """E^-1 approximately, as cycles over levels (see `cycles`).

    levels: finest first. order: the unknown of each row of the first, shape (d,). scale: D^-1/2 of the first, in that
    order. bottom: the inverse of the last, scaled as the others. scaling: the factor of corrections. steps: steps of
    flexible CG, 2 or 1, on each level from the first, 0 for the plain cycle; the last number holds for all levels
    below. singular: constants are in the null space. dimensions: of the grid of boxes that are merged by twos; 0 for
    vectors without boxes. repeats: solves of the first level, each for the residual of those before. width, children:
    couplings of most rows of the first level and rows of a parent, at most, where they are known.

    The arrays may be in the memory of a device.
    """

    levels: tuple[Level, ...]
    order: np.ndarray
    scale: np.ndarray
    bottom: np.ndarray
    scaling: float
    steps: tuple[int, ...]
    singular: bool
    dimensions: int = 0
    repeats: int = 1
    width: int = 0
    children: int = 0

    def on_host(self, device: HostCopies) -> Levels:
        """A copy in host memory of levels in the memory of the device, or themselves where they are in host memory."""
        if isinstance(self.order, np.ndarray):
            return self
        levels = tuple(_fetched(level, device) for level in self.levels)
        return dataclasses.replace(_fetched(self, device), levels=levels)

    @property
    def usual_width(self) -> int:
        """Couplings of most rows of the first level."""
        if self.width or self.dimensions:
            return self.width or 2 * self.dimensions
        return int(np.bincount(np.diff(self.levels[0].indptr)).argmax()) - 1 if self.levels else 0

    @property
    def most_children(self) -> int:
        """Rows of a parent, at most."""
        if self.children or self.dimensions:
            return self.children or 2**self.dimensions
        return max((int(np.diff(level.starts).max()) for level in self.levels), default=0)

    def steps_at(self, depth: int) -> int:
        """Steps of flexible CG on a level."""
        return self.steps[min(depth, len(self.steps) - 1)]

    @property
    def traffic(self) -> int:
        """Bytes that one solve reads and writes."""
        total, visits = 0, self.repeats
        for depth, level in enumerate(self.levels):
            item, steps = level.data.itemsize, self.steps_at(depth)
            visits *= max(1, steps)
            product = level.data.nbytes + level.indices.nbytes + level.indptr.nbytes + 3 * level.size * item
            total += visits * (4 * product + 6 * level.size * item) + visits * (product if steps else 0)
        return total + visits * self.bottom.nbytes + 4 * self.order.nbytes


def _fetched(form: Stored, device: HostCopies) -> Stored:
    """The form with copies of its vectors in host memory."""
    held = {field.name: getattr(form, field.name) for field in dataclasses.fields(form)}
    copied = {name: device.to_host(value) for name, value in held.items() if hasattr(value, "handle")}
    return dataclasses.replace(form, **copied)


Form = Dense | Banded | Triangle | Levels
