"""The picture of a field: cells of a plane in colour, the entries of a matrix, or a band over the unknowns; and the
scales from numbers to colours.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

DECADES = 3
"""Decades below the largest value on a logarithmic scale of any sign; smaller values are on a linear scale."""
LARGE_CONTRAST = 50.0
"""Ratio of the largest to the smallest value from which positive values are logarithmic."""
LINEAR, LOG, SYMLOG = "linear", "log", "symlog"
TOO_WIDE = {LINEAR: 1.25, LOG: 1.25, SYMLOG: 5.0}
"""A scale that is this many times wider than needed is not kept for the next picture. Residuals go up and down by as
much, and of three powers of ten two and more remain."""


@dataclasses.dataclass(frozen=True)
class Colormap:
    """A scale from `low` to `high`. signed: the two are opposite, and colours part at zero.

    threshold: up to this magnitude `symlog` is linear; from there on `DECADES` powers of ten reach the end.
    """

    low: float
    high: float
    scale: str = LINEAR
    signed: bool = False
    threshold: float = 0.0

    @classmethod
    def of_magnitudes(cls, low: float, high: float) -> Colormap:
        """The scale for positive numbers: logarithmic where they spread far."""
        return cls(low, high, LOG if low > 0 and high / low >= LARGE_CONTRAST else LINEAR)

    @classmethod
    def of(cls, values: np.ndarray, *, logarithmic: bool) -> Colormap:
        """The scale for any numbers: about zero where some are negative, else from the least to the greatest.

        Bounds about zero and those of `symlog` are 1, 2 or 5 times a power of ten, so that they do not change with
        every iteration. Entries that are not finite do not count.
        """
        low, high = _bounds(values)
        if not (math.isfinite(low) and math.isfinite(high)):
            low, high = _bounds(values[np.isfinite(values)])
        largest = ceiling(max(-low, high))
        if largest == 0:
            return cls(0.0, 0.0)
        signed = low < 0
        if logarithmic:
            return cls(-largest if signed else 0.0, largest, SYMLOG, signed, largest / 10**DECADES)
        return cls(-largest, largest, LINEAR, signed=True) if signed else cls(low, high)

    def kept_from(self, last: Colormap | None) -> Colormap:
        """The scale of the picture before, as long as it suits this one: new numbers next to the picture cost more than
        the picture, and colours that mean something else each time cannot be compared."""
        if last is None or (self.scale, self.signed) != (last.scale, last.signed):
            return self
        holds = last.low <= self.low and self.high <= last.high
        return last if holds and last.high - last.low <= TOO_WIDE[self.scale] * (self.high - self.low) else self

    def share(self, values: np.ndarray) -> np.ndarray:
        """0 for low to 1 for high."""
        if self.high <= self.low:
            return np.zeros(values.shape)
        if self.scale == LOG:
            return np.log(values / self.low) / math.log(self.high / self.low)
        if self.scale == LINEAR:
            return (values - self.low) / (self.high - self.low)
        return _symlog(self._in_thresholds(values), signed=self.signed)

    def to_bytes(self, values: np.ndarray) -> np.ndarray:
        """0 for low to 255 for high; what is not finite is at an end or in the middle."""
        if self.scale == SYMLOG and self.high > self.low:
            return _symlog_bytes(self.signed).take(self._in_thresholds(values).view(np.uint32) >> 16)
        return _bytes(self.share(values))

    def reported(self) -> dict[str, Any]:
        """Its fields, for the browser."""
        return dict(vars(self))

    def _in_thresholds(self, values: np.ndarray) -> np.ndarray:
        return (values * (1 / self.threshold)).astype(np.float32)


def ceiling(value: float) -> float:
    """The smallest 1, 2 or 5 times a power of ten that is >= value; 0 for 0.

    The value itself if that number would overflow.
    """
    if not value > 0:
        return 0.0
    decade = 10.0 ** math.floor(math.log10(value))
    steps = (step * decade for step in (1, 2, 5, 10))
    return next((step for step in steps if value * (1 - 1e-12) <= step < math.inf), value)


def _bounds(values: np.ndarray) -> tuple[float, float]:
    """The least and the greatest; 0 without numbers."""
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def _symlog(scaled: np.ndarray, *, signed: bool) -> np.ndarray:
    """Shares of numbers in units of the threshold. The linear middle is as wide as a power of ten, to either side."""
    sizes = np.abs(scaled)
    reach = (np.minimum(sizes, 1) + np.log10(np.maximum(sizes, 1))) / (DECADES + 1)
    return 0.5 + 0.5 * np.copysign(reach, scaled) if signed else reach


@functools.cache
def _symlog_bytes(signed: bool) -> np.ndarray:
    """The byte of a number in units of the threshold, by the upper half of its bits in single precision: they tell
    numbers apart that differ by 0.8%, and colours differ by 3% at least."""
    upper = np.arange(1 << 16, dtype=np.uint32)
    bits = upper << 16
    # The number in the middle of all that begin with these bits; an infinite one would be none any more.
    bits |= np.where(upper & 0x7F80 == 0x7F80, 0, 1 << 15).astype(np.uint32)
    with np.errstate(invalid="ignore"):
        return _bytes(_symlog(bits.view(np.float32), signed=signed))


def _bytes(share: np.ndarray) -> np.ndarray:
    if not np.isfinite(share).all():
        share = np.nan_to_num(share, nan=0.5, posinf=1.0, neginf=0.0)
    return np.rint(255 * share.clip(0, 1)).astype(np.uint8)


COEFFICIENT = "coefficient 1/ρ (relative)"
ENTRIES = "entries per pixel"
NO_SEGMENTS = np.empty((0, 4), np.float32)


@dataclasses.dataclass(frozen=True, eq=False)
class Plane:
    """values: shape (rows, columns), row 0 at the bottom; of a matrix entries per pixel, row 0 at the top; of a band
    the least and greatest of k stretches of unknowns, shape (2, k).

    bar: the quantity. map: of colours, as for `CellsOf`. sides: what lies across and up, empty for a band. matrix: its
    number of rows, 0 for a grid. segments: lines between subdomains x0, y0, x1, y1 in side lengths, shape (k, 4), of
    which every `step`-th is there. title: of what, and when. where: the plane of a cube, as in y = 0.258. unit: of
    lengths. aspect: height over width; segments are in shares of both. palette: of values 1, 2, .. that are kinds, a
    colour each, in place of `colours` and `map`; 0 is nothing.
    """

    values: np.ndarray
    bar: str
    colours: Colormap
    map: str
    sides: tuple[str, str] = ("x", "y")
    matrix: int = 0
    segments: np.ndarray = dataclasses.field(default_factory=lambda: NO_SEGMENTS)
    step: int = 1
    title: str = ""
    where: str = ""
    unit: str = "side lengths"
    aspect: float = 1.0
    palette: Sequence[str] = ()
