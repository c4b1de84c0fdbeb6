"""Nearest-neighbour operators whose face coefficients take few values, as one byte per cell."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

BITS = 2
"""Bits of a code for each direction, and for the wall."""
CHOICES = 1 << BITS


@dataclasses.dataclass(frozen=True, eq=False)
class FaceCodes:
    """(A x)_i = walls_i x_i + sum over the faces of cell i of f (x_i - x_j), f being one of four numbers.

    codes: uint8, shape (N,). Bits 2k and 2k + 1 select the coefficient of the face towards the lower neighbour in
        direction k, x first; the two bits above those of the last direction select the wall term.
    values: the face coefficients, float64, shape (4,): within the first phase, between the two, within the second, and
        0 for a face at the edge of the grid. So no cell has faces of both the first and the third.
    walls: the wall terms, float64, shape (4,); the first is 0.
    strides: distance of the neighbours in x, y and z.
    """

    codes: np.ndarray
    values: np.ndarray
    walls: np.ndarray
    strides: tuple[int, ...]

    @property
    def stored(self) -> Any:
        """The codes where they lie, in host memory or that of a device."""
        return self.codes

    @property
    def size(self) -> int:
        """N."""
        return self.codes.size

    @property
    def directions(self) -> int:
        """1, 2 or 3."""
        return len(self.strides)

    @property
    def walled(self) -> bool:
        """True if a wall term is not zero."""
        return bool(self.walls.any())

    @property
    def flops(self) -> int:
        """Operations of one product: a subtraction, a multiplication and an addition for each face of each cell."""
        return (6 * self.directions + 2 * self.walled) * self.size
