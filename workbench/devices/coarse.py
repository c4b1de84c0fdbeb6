"""Forms of E^-1 as plain arrays, so that a device can store it in its memory."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Dense:
    """E^-1 itself, shape (d, d)."""

    inverse: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Banded:
    """E = L L^H after a permutation: band[k, j] = L[j + k, j] of shape (w + 1, d), and the unknown at each place."""

    band: np.ndarray
    order: np.ndarray


Form = Dense | Banded
