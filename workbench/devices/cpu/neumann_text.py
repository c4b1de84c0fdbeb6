"""Generated kernels of a truncated Neumann series on a stencil.

K r = r - Lh (r - Lh (r - ..)) needs at row i only rows below i, K^H only rows above, and each term, a level, only the
level before it. So one pass over the unknowns computes all levels, a block of rows at a time, in the cache (temporal
blocking): those of K on the same rows, each of K^H one bandwidth behind the level before. At the ends of a chunk the
levels recompute the rows of neighbouring chunks that they need.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Protocol

import numpy as np

from workbench.devices.cpu.face_text import Faces, sums
from workbench.host.series_sizes import ALIGNED, BLOCK
from workbench.jit.generated import over
from workbench.lines.types import OperatorDot


@dataclasses.dataclass(frozen=True)
class Place:
    """An array and the row that its first entry belongs to."""

    name: str
    origin: str = ""

    def at(self, row: str) -> str:
        return f"{self.name}[{row} - {self.origin}]" if self.origin else f"{self.name}[{row}]"

    def rows(self, first: str, last: str, shift: str = "") -> str:
        back = f" - {self.origin}" if self.origin else ""
        return f"{self.name}[{first}{shift}{back}:{last}{shift}{back}]"


class Coefficients(Protocol):
    """How the text of a series names L D^-1 and D^-1. bands: the number of directions; dtype: of the vectors."""

    @property
    def bands(self) -> int: ...

    @property
    def dtype(self) -> np.dtype: ...

    @property
    def arguments(self) -> str:
        """The arrays of the operator in the head of a kernel, the last being `strides`."""
        ...

    def head(self) -> list[str]:
        """Lines before the loops."""
        ...

    def views(self, level: Level, first: str, end: str) -> dict[str, str]:
        """Slices for the rows first to end of a level, by the names that `row` uses."""
        ...

    def row(self, level: Level) -> list[str]:
        """Lines of the long loop that set v from s_x, the base."""
        ...

    def edge_row(self, level: Level) -> list[str]:
        """The same for any row i, with tests whether its neighbours exist."""
        ...


@dataclasses.dataclass(frozen=True)
class Level:
    """One term in the rows of a chunk and `reach` bandwidths beyond, `lag` bandwidths behind the first level.

    target = base - Lh source (upper: - Lh^H source). raw: the source is a vector that no term has been applied to.
    last: of its factor. summed: with the dot products of r and the target.
    """

    of: Coefficients
    upper: bool
    reach: int
    base: Place
    source: Place
    target: Place
    lag: int = 0
    raw: bool = False
    last: bool = False
    summed: bool = False

    def text(self) -> list[str]:
        """The lines for one block: rows a to b, in a branch-free loop and one for rows that may lack neighbours."""
        if self.upper:
            text = [f"a, b = max(low, bottom - {self.lag}*far), min(top - {self.lag}*far, high + {self.reach}*far, n)"]
        else:
            text = [f"a, b = max(bottom, low - {self.reach}*far, 0), min(top, beyond)"]
        # Rows from `inner` on (up to it, for the upper factor) have all their neighbours.
        inner = "max(a, min(b, n - far))" if self.upper else "min(b, max(a, far))"
        within, across = (("a", "inner"), ("inner", "b")) if self.upper else (("inner", "b"), ("a", "inner"))
        text += ["if b > a:", f"    inner = {inner}"]
        return [*text, *(f"    {line}" for line in (*self._long_loop(*within), *self._edge(*across)))]

    def near(self, first: str, end: str) -> dict[str, str]:
        """Slices of the neighbours in the source."""
        sign = "+" if self.upper else "-"
        return {f"s_near{k}": self.source.rows(first, end, f" {sign} d{k}") for k in range(self.of.bands)}

    def _long_loop(self, first: str, end: str) -> list[str]:
        views = {"s_x": self.base.rows(first, end), "s_y": self.target.rows(first, end)}
        views |= self.near(first, end) | self.of.views(self, first, end)
        views |= {"s_paired": Place("r").rows(first, end)} if self.summed else {}
        return [
            f"if {end} > {first}:",
            *(f"    {name} = {view}" for name, view in views.items()),
            f"    for i in range({end} - {first}):",
            *(f"        {line}" for line in (*self.of.row(self), *self._sums("s_paired[i]"))),
            "        s_y[i] = v",
        ]

    def _edge(self, first: str, end: str) -> list[str]:
        text = [f"for i in range({first}, {end}):"]
        text += [f"    {line}" for line in (*self.of.edge_row(self), *self._sums("r[i]"))]
        return [*text, f"    {self.target.at('i')} = v"]

    def _sums(self, paired: str) -> list[str]:
        return sums(paired, self.of.dtype) if self.summed else []


@dataclasses.dataclass(frozen=True)
class ScaledBands:
    """The bands of L D^-1; D^-1 multiplies the last term of K."""

    bands: int
    dtype: np.dtype

    @property
    def arguments(self) -> str:
        return ", ".join([*(f"low{k}" for k in range(self.bands)), "scale", "strides"])

    def head(self) -> list[str]:
        return []

    def views(self, level: Level, first: str, end: str) -> dict[str, str]:
        views = {f"s_low{k}": Place(f"low{k}").rows(first, end, self._up(level, k)) for k in range(self.bands)}
        return views | ({"s_scale": Place("scale").rows(first, end)} if self._scaled(level) else {})

    def row(self, level: Level) -> list[str]:
        value = "s_x[i]"
        for k in range(self.bands):
            value += f" - {self._entry(level, f's_low{k}[i]')}*s_near{k}[i]"
        return [f"v = {value}", *(["v *= s_scale[i]"] if self._scaled(level) else [])]

    def edge_row(self, level: Level) -> list[str]:
        text = [f"v = {level.base.at('i')}"]
        for k in range(self.bands):
            text += [f"if i + d{k} < n:" if level.upper else f"if i >= d{k}:"]
            entry = self._entry(level, f"low{k}[i{self._up(level, k)}]")
            text += [f"    v -= {entry}*{level.source.at(f'i + d{k}' if level.upper else f'i - d{k}')}"]
        return [*text, *(["v *= scale[i]"] if self._scaled(level) else [])]

    def _scaled(self, level: Level) -> bool:
        return level.last and not level.upper

    def _up(self, level: Level, k: int) -> str:
        return f" + d{k}" if level.upper else ""

    def _entry(self, level: Level, text: str) -> str:
        return f"np.conj({text})" if level.upper and self.dtype.kind == "c" else text


@dataclasses.dataclass(frozen=True)
class FaceSeries:
    """Codes of faces, and D^-1. All terms of K are kept times D^-1, so that a coefficient needs no second factor."""

    bands: int
    dtype: np.dtype

    @property
    def arguments(self) -> str:
        return "codes, values, walls, scale, strides"

    @property
    def _faces(self) -> Faces:
        return Faces(self.bands, walled=False, dtype=self.dtype)

    def head(self) -> list[str]:
        return self._faces.head()

    def views(self, level: Level, first: str, end: str) -> dict[str, str]:
        views = {"s_scale": Place("scale").rows(first, end)}
        if level.upper:
            return views | {f"s_codes{k}": Place("codes").rows(first, end, f" + d{k}") for k in range(self.bands)}
        views["s_codes"] = Place("codes").rows(first, end)
        if level.raw:
            views |= {f"s_far{k}": Place("scale").rows(first, end, f" - d{k}") for k in range(self.bands)}
        return views

    def row(self, level: Level) -> list[str]:
        terms = [
            self._faces.face(k, f"code{k}" if level.upper else "code") + f"*s_near{k}[i]" for k in range(self.bands)
        ]
        if level.upper:
            codes = [f"code{k} = {self._faces.integer}(s_codes{k}[i])" for k in range(self.bands)]
            return [*codes, f"v = s_x[i] + s_scale[i]*({' + '.join(terms)})"]
        terms = [term + f"*s_far{k}[i]" * level.raw for k, term in enumerate(terms)]
        return [f"code = {self._faces.integer}(s_codes[i])", f"v = s_scale[i]*(s_x[i] + {' + '.join(terms)})"]

    def edge_row(self, level: Level) -> list[str]:
        zero = f"np.{self.dtype.name}(0)"
        text = [f"v = {zero}" if level.upper else f"v = {level.base.at('i')}"]
        for k in range(self.bands):
            place, test = (f"i + d{k}", f"i + d{k} < n") if level.upper else (f"i - d{k}", f"i >= d{k}")
            text += [f"if {test}:", f"    code = {self._faces.integer}(codes[{place if level.upper else 'i'}])"]
            raw = f"*scale[{place}]" if level.raw and not level.upper else ""
            text += [f"    v += {self._faces.face(k, 'code')}*{level.source.at(place)}{raw}"]
        return [*text, f"v = {level.base.at('i')} + scale[i]*v" if level.upper else "v *= scale[i]"]


@functools.cache
def lower_pass(of: Coefficients, order: int, *, first: bool, last: bool) -> str:
    """The kernel of `order` terms of K over all rows: y from base, starting from v = start; first, last: of K."""
    levels = _levels(of, order, False, Place("base"), Place("start"), Place("y"), raw=first, last=last)
    return _kernel("base, start, y, r", levels, begin=order - 1, beyond=0)


@functools.cache
def upper_pass(of: Coefficients, order: int) -> str:
    """The same for K^H, with the dot products of r and y."""
    levels = _levels(of, order, True, Place("base"), Place("start"), Place("y"), summed=True)
    return _kernel("base, start, y, r", levels, begin=0, beyond=0)


@functools.cache
def both(of: Coefficients, order: int) -> str:
    """The kernel of u = K^H D^-1 K r in one pass: the vector between the two factors never leaves the cache."""
    between = Place(f"mine[{2 * order - 2}]", "low")
    lower = _levels(of, order, False, Place("r"), Place("r"), between, raw=True, last=True)
    upper = _levels(of, order, True, between, between, Place("u"), summed=True, scratch=order - 1)
    return _kernel("r, u", lower + upper, begin=order - 1, beyond=order)


def _levels(
    of: Coefficients,
    order: int,
    upper: bool,
    base: Place,
    start: Place,
    target: Place,
    *,
    raw: bool = False,
    last: bool = False,
    summed: bool = False,
    scratch: int = 0,
) -> list[Level]:
    """All terms of one factor; intermediate vectors are kept in the rows of `mine` from `scratch` on."""
    origin = "low" if upper else "begin"
    places = [start, *(Place(f"mine[{scratch + k}]", origin) for k in range(order - 1)), target]
    return [
        Level(
            of,
            upper,
            reach=order - k,
            base=base,
            source=places[k - 1],
            target=places[k],
            lag=k if upper else 0,
            raw=raw and k == 1,
            last=last and k == order,
            summed=summed and k == order,
        )
        for k in range(1, order + 1)
    ]


def _kernel(vectors: str, levels: list[Level], *, begin: int, beyond: int) -> str:
    """All levels over each chunk, from `begin` bandwidths before it; the lower levels end `beyond` bandwidths after."""
    of = levels[0].of
    text = [f"def kernel(taken, {vectors}, {of.arguments}, scratch, partial, dots):", "    n = r.size"]
    text += [*(f"    d{k} = strides[{k}]" for k in range(of.bands)), f"    far = d{of.bands - 1}"]
    text += [f"    {line}" for line in of.head()]
    body = [f"low = n*chunk//chunks//{ALIGNED}*{ALIGNED}"]
    body += [f"high = n if chunk == chunks - 1 else n*(chunk + 1)//chunks//{ALIGNED}*{ALIGNED}"]
    body += [f"begin, beyond = max(0, low - {begin}*far), min(n, high + {beyond}*far)", "mine = scratch[thread]"]
    zero = "0j" if of.dtype.kind == "c" else "0.0"
    body += [f"{dot} = {zero}" for dot in OperatorDot]
    body += [f"for bottom in range(begin, high + {max(level.lag for level in levels)}*far, {BLOCK}):"]
    body += [f"    top = bottom + {BLOCK}", *(f"    {line}" for level in levels for line in level.text())]
    body += [f"partial[chunk, {k}] = {name}" for k, name in enumerate(OperatorDot)]
    text += ["    chunks = partial.shape[0]", *(f"    {line}" for line in over("chunks", body))]
    if any(level.summed for level in levels):
        text += [
            "    for k in range(3):",
            "        dots[k] = 0",
            "    for chunk in range(chunks):",
            "        for k in range(3):",
        ]
        text += ["            dots[k] += partial[chunk, k]"]
    return "\n".join(text) + "\n"
