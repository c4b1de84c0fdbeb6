"""How numbers become colours: linear, logarithmic, or logarithmic to both sides of a linear middle."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from workbench.figures.field import DECADES, ceiling
from workbench.figures.subdomains import is_wide

LINEAR, LOG, SYMLOG = "linear", "log", "symlog"


@dataclasses.dataclass(frozen=True)
class Shades:
    """A scale from `low` to `high`. signed: the two are opposite, and colours part at zero.

    threshold: up to this magnitude `symlog` is linear; from there on `DECADES` powers of ten reach the end.
    """

    low: float
    high: float
    scale: str = LINEAR
    signed: bool = False
    threshold: float = 0.0

    @classmethod
    def of_magnitudes(cls, low: float, high: float) -> Shades:
        """For positive numbers: logarithmic where they spread far."""
        return cls(low, high, LOG if is_wide(low, high) else LINEAR)

    @classmethod
    def of(cls, values: np.ndarray, *, logarithmic: bool) -> Shades:
        """For any numbers: about zero where some are negative, else from the least to the greatest.

        Bounds about zero and those of `symlog` are 1, 2 or 5 times a power of ten, so that they do not change with
        every iteration. Entries that are not finite do not count.
        """
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        largest = ceiling(max(-low, high))
        if largest == 0:
            return cls(0.0, 0.0)
        signed = low < 0
        if logarithmic:
            return cls(-largest if signed else 0.0, largest, SYMLOG, signed, largest / 10**DECADES)
        return cls(-largest, largest, LINEAR, signed=True) if signed else cls(low, high)

    def share(self, values: np.ndarray) -> np.ndarray:
        """0 for low to 1 for high."""
        if self.high <= self.low:
            return np.zeros(values.shape)
        if self.scale == LOG:
            return np.log(values / self.low) / math.log(self.high / self.low)
        if self.scale == LINEAR:
            return (values - self.low) / (self.high - self.low)
        # Single precision is finer than 256 colours, and a third of the time.
        scaled = (values * (1 / self.threshold)).astype(np.float32)
        sizes = np.abs(scaled)
        # The linear middle is as wide as a power of ten, to either side.
        reach = (np.minimum(sizes, 1) + np.log10(np.maximum(sizes, 1))) / (DECADES + 1)
        return 0.5 + 0.5 * np.copysign(reach, scaled) if self.signed else reach

    def to_bytes(self, values: np.ndarray) -> np.ndarray:
        """0 for low to 255 for high; what is not finite is at an end or in the middle."""
        share = self.share(values)
        if not np.isfinite(share).all():
            share = np.nan_to_num(share, nan=0.5, posinf=1.0, neginf=0.0)
        return np.rint(255 * share.clip(0, 1)).astype(np.uint8)

    def told(self) -> dict[str, Any]:
        """What the browser is told of it."""
        return dataclasses.asdict(self)
