"""Collective operations of a device: numbers and arrays of all ranks of a run, summed, compared or gathered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from workbench.devices.host.slab import Slab

T = TypeVar("T")


class Collectives(Protocol):
    """This rank among those of a run, and operations that all of them call together.

    The defaults are those of a run in one process.
    """

    rank: int = 0
    """The number of this rank, the first being 0."""
    ranks: int = 1
    """Processes that make the run together."""
    share: float = 1.0
    """The fraction of the run's memory that this machine provides."""
    slab: Any = None
    """The `Slab` of rows of this rank, None for all."""

    def total(self, value: T) -> T:
        """The sum of a number, or of an array, over the ranks."""
        return value

    def largest(self, value: float) -> float:
        """The largest of a number over the ranks."""
        return value

    def agreed(self, value: T) -> T:
        """The value of the first rank."""
        return value

    def gathered(self, value: T) -> list[T]:
        """The value of each rank, in order."""
        return [value]

    def with_ghosts(self, values: np.ndarray, slab: Slab) -> np.ndarray:
        """A copy of values of the rows with those of their ghosts around: a plane on each side, or what the pattern of
        A has, see `MatrixRows`."""
        return np.array(values)

    def common(self, value: T) -> T | None:
        """The value that all ranks have, None where they differ."""
        return value if all(other == value for other in self.gathered(value)) else None
