"""The text of (A x)_i in kernels on the cores: for stencils stored as bands, and for those with codes of faces.

A kernel has a long loop over slices, without a branch so that it vectorizes, for rows that have all neighbours, and
loops with tests for the others.
"""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np

from workbench.host.face_codes import BITS, CHOICES
from workbench.lines.types import accumulator


class Entries(Protocol):
    """How the text of a kernel names the entries of A. bands: the number of directions."""

    @property
    def bands(self) -> int: ...

    @property
    def arguments(self) -> str:
        """The arrays of the operator in the head of a kernel; the last is `strides`."""
        ...

    def head(self) -> list[str]:
        """Lines before the loops."""
        ...

    def views(self, first: str, end: str) -> dict[str, str]:
        """Slices for rows first to end, by the names that `row` uses."""
        ...

    def row(self) -> list[str]:
        """Lines of the long loop that set v = (A x)_i, in which i counts from its first row."""
        ...

    def edge_row(self) -> list[str]:
        """The same for any row i, with tests whether its neighbours exist."""
        ...


def distances(bands: int) -> list[str]:
    """d0, d1, .. and the rows between which all neighbours exist."""
    return [
        *(f"d{k} = strides[{k}]" for k in range(bands)),
        f"first = min(n, d{bands - 1})",
        f"last = max(first, n - d{bands - 1})",
    ]


def _neighbours(bands: int, first: str, end: str) -> dict[str, str]:
    views = {"s_x": f"x[{first}:{end}]"}
    for k in range(bands):
        views |= {f"s_below{k}": f"x[{first} - d{k}:{end} - d{k}]", f"s_above{k}": f"x[{first} + d{k}:{end} + d{k}]"}
    return views


@dataclasses.dataclass(frozen=True)
class Bands:
    """A diagonal and lower bands; constant: all entries of the diagonal are its first."""

    bands: int
    dtype: np.dtype
    constant: bool = False

    @property
    def arguments(self) -> str:
        return ", ".join(["main", *(f"low{k}" for k in range(self.bands)), "strides"])

    def head(self) -> list[str]:
        return ["constant = main[0]"] if self.constant else []

    def views(self, first: str, end: str) -> dict[str, str]:
        views = _neighbours(self.bands, first, end)
        views |= {} if self.constant else {"s_main": f"main[{first}:{end}]"}
        for k in range(self.bands):
            views |= {f"s_low{k}": f"low{k}[{first}:{end}]", f"s_low{k}_up": f"low{k}[{first} + d{k}:{end} + d{k}]"}
        return views

    def row(self) -> list[str]:
        value = "constant*s_x[i]" if self.constant else "s_main[i]*s_x[i]"
        for k in range(self.bands):
            value += f" + s_low{k}[i]*s_below{k}[i] + {self._conj(f's_low{k}_up[i]')}*s_above{k}[i]"
        return [f"v = {value}"]

    def edge_row(self) -> list[str]:
        text = ["v = constant*x[i]" if self.constant else "v = main[i]*x[i]"]
        for k in range(self.bands):
            text += [f"if i >= d{k}:", f"    v += low{k}[i]*x[i - d{k}]"]
            text += [f"if i + d{k} < n:", f"    v += {self._conj(f'low{k}[i + d{k}]')}*x[i + d{k}]"]
        return text

    def _conj(self, text: str) -> str:
        return f"np.conj({text})" if self.dtype.kind == "c" else text


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

    def views(self, first: str, end: str) -> dict[str, str]:
        views = _neighbours(self.bands, first, end) | {"s_codes": f"codes[{first}:{end}]"}
        return views | {f"s_codes{k}": f"codes[{first} + d{k}:{end} + d{k}]" for k in range(self.bands)}

    def row(self) -> list[str]:
        # Codes are widened at once: narrow masks would be widened again for each selection.
        text = [f"here, code = {self._wide('s_x[i]')}, {self.integer}(s_codes[i])"]
        text += [f"v = {self.wall('code')}*here" if self.walled else f"v = np.{self.dtype.name}(0)"]
        for k in range(self.bands):
            text += [f"v += {self.face(k, 'code')}*(here - {self._wide(f's_below{k}[i]')})"]
            text += [f"code{k} = {self.integer}(s_codes{k}[i])"]
            text += [f"v += {self.face(k, f'code{k}')}*(here - {self._wide(f's_above{k}[i]')})"]
        return text

    def edge_row(self) -> list[str]:
        text = [f"here, code = {self._wide('x[i]')}, {self.integer}(codes[i])"]
        text += [f"v = {self.wall('code')}*here" if self.walled else f"v = np.{self.dtype.name}(0)"]
        for k in range(self.bands):
            text += [f"if i >= d{k}:", f"    v += {self.face(k, 'code')}*(here - {self._wide(f'x[i - d{k}]')})"]
            text += [f"if i + d{k} < n:", f"    code{k} = {self.integer}(codes[i + d{k}])"]
            text += [f"    v += {self.face(k, f'code{k}')}*(here - {self._wide(f'x[i + d{k}]')})"]
        return text

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

    def _wide(self, text: str) -> str:
        return f"np.{self.dtype.name}({text})"


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
