"""Coefficients from codes of faces, and terms of dot products, in the text of kernels on the cores."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.host.face_codes import BITS, CHOICES
from workbench.lines.types import accumulator


@dataclasses.dataclass(frozen=True)
class Faces:
    """Codes of faces (see `face_codes`). Arithmetic is in double precision, whatever the vectors are stored in.

    A coefficient is selected from registers: an indexed load would not vectorize well.
    """

    bands: int
    walled: bool
    dtype: np.dtype = dataclasses.field(default=np.dtype(np.float64), kw_only=True)
    """Of the arithmetic."""

    @property
    def arguments(self) -> str:
        return "codes, values, walls, strides"

    def head(self) -> list[str]:
        return [f"f{k} = np.{self.dtype.name}(values[{k}])" for k in range(CHOICES)] + [
            f"w{k} = np.{self.dtype.name}(walls[{k}])" for k in range(CHOICES) if self.walled
        ]

    @property
    def integer(self) -> str:
        """The integers to which codes are widened: as wide as the numbers that they select."""
        return f"np.int{8 * self.dtype.itemsize}"

    def face(self, k: int, code: str) -> str:
        """The coefficient of the face in direction k."""
        return selected("f", code, BITS * k)

    def wall(self, code: str) -> str:
        """The wall term."""
        return selected("w", code, BITS * self.bands)


def selected(name: str, code: str, shift: int) -> str:
    """One of four numbers by two bits of a code, without a branch."""
    low, high = f"{code} & {1 << shift}", f"{code} & {2 << shift}"
    return f"(({name}3 if {low} else {name}2) if {high} else ({name}1 if {low} else {name}0))"


def sums(x: str, dtype: np.dtype) -> list[str]:
    """Lines that add the terms of a row, y being `v`, to the dot products, in double precision."""
    wide = accumulator(dtype)
    x, y = f"np.{wide.name}({x})", f"np.{wide.name}(v)"
    pairs = {"xy": (x, y), "yy": (y, y), "xx": (x, x)}
    conj = "np.conj" if wide.kind == "c" else ""
    return [f"{name} += {conj}({left})*{right}" for name, (left, right) in pairs.items()]
