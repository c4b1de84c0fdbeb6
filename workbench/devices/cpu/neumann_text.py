"""Generated numba kernels of a truncated Neumann series on a stencil.

K r = r - Lh (r - Lh (r - ..)) needs at row i only rows below i, K^H only rows above, and each term, a level, only the
level before it. So one pass over the unknowns computes all levels, a block of rows at a time, in the cache (temporal
blocking): those of K on the same rows, each of K^H one bandwidth behind the level before. At the ends of a chunk the
levels recompute the rows of neighbouring chunks that they need.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.devices.cpu.generated import over
from workbench.lines.types import accumulator

BLOCK = 2048
"""Rows a level advances at a time: 16 KiB of doubles, so that a few levels and bands share a core's own caches."""
ALIGNED = 64
"""Chunks begin at multiples of this many rows, so that stores do not straddle cache lines."""


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


@dataclasses.dataclass(frozen=True)
class Level:
    """One term: target = base - Lh source (upper: - Lh^H source) in the rows of a chunk and `reach` bandwidths beyond,
    `lag` bandwidths behind the first level."""

    bands: int
    dtype: np.dtype
    upper: bool
    reach: int
    base: Place
    source: Place
    target: Place
    lag: int = 0
    scaled: bool = False
    """Times D^-1 in the end."""
    summed: bool = False
    """With the dot products of r and the target."""

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

    def _long_loop(self, first: str, end: str) -> list[str]:
        sign = "+" if self.upper else "-"
        views = {"s_x": self.base.rows(first, end), "s_y": self.target.rows(first, end)}
        value = "s_x[i]"
        for k in range(self.bands):
            views[f"s_low{k}"] = Place(f"low{k}").rows(first, end, f" + d{k}" if self.upper else "")
            views[f"s_near{k}"] = self.source.rows(first, end, f" {sign} d{k}")
            value += f" - {self._entry(f's_low{k}[i]')}*s_near{k}[i]"
        views |= {"s_scale": Place("scale").rows(first, end)} if self.scaled else {}
        views |= {"s_paired": Place("r").rows(first, end)} if self.summed else {}
        return [
            f"if {end} > {first}:",
            *(f"    {name} = {view}" for name, view in views.items()),
            f"    for i in range({end} - {first}):",
            f"        v = {value}",
            *(f"        {line}" for line in self._finish("s_scale[i]", "s_paired[i]")),
            "        s_y[i] = v",
        ]

    def _edge(self, first: str, end: str) -> list[str]:
        text = [f"for i in range({first}, {end}):", f"    v = {self.base.at('i')}"]
        for k in range(self.bands):
            entry = self._entry(f"low{k}[i + d{k}]" if self.upper else f"low{k}[i]")
            text += [f"    if i + d{k} < n:" if self.upper else f"    if i >= d{k}:"]
            text += [f"        v -= {entry}*{self.source.at(f'i + d{k}' if self.upper else f'i - d{k}')}"]
        text += [f"    {line}" for line in self._finish("scale[i]", "r[i]")]
        return [*text, f"    {self.target.at('i')} = v"]

    def _entry(self, text: str) -> str:
        return f"np.conj({text})" if self.upper and self.dtype.kind == "c" else text

    def _finish(self, scale: str, paired: str) -> list[str]:
        text = [f"v *= {scale}"] if self.scaled else []
        if not self.summed:
            return text
        wide = accumulator(self.dtype)
        conj = "np.conj" if wide.kind == "c" else ""
        left, right = f"np.{wide.name}({paired})", f"np.{wide.name}(v)"
        return [
            *text,
            f"xy += {conj}({left})*{right}",
            f"yy += {conj}({right})*{right}",
            f"xx += {conj}({left})*{left}",
        ]


def lower_pass(bands: int, dtype: np.dtype, order: int, *, scaled: bool) -> str:
    """The kernel of `order` terms of K over all rows: y from base, starting from v = start."""
    dtype = np.dtype(dtype)
    levels = _levels(bands, dtype, order, False, Place("base"), Place("start"), Place("y"), scaled=scaled)
    return _kernel("base, start, y, r", levels, begin=order - 1, beyond=0)


def upper_pass(bands: int, dtype: np.dtype, order: int) -> str:
    """The same for K^H, with the dot products of r and y."""
    dtype = np.dtype(dtype)
    levels = _levels(bands, dtype, order, True, Place("base"), Place("start"), Place("y"), summed=True)
    return _kernel("base, start, y, r", levels, begin=0, beyond=0)


def both(bands: int, dtype: np.dtype, order: int) -> str:
    """The kernel of u = K^H D^-1 K r in one pass: the vector between the two factors never leaves the cache."""
    dtype = np.dtype(dtype)
    between = Place(f"mine[{2 * order - 2}]", "low")
    lower = _levels(bands, dtype, order, False, Place("r"), Place("r"), between, scaled=True)
    upper = _levels(bands, dtype, order, True, between, between, Place("u"), summed=True, scratch=order - 1)
    return _kernel("r, u", lower + upper, begin=order - 1, beyond=order)


def _levels(
    bands: int,
    dtype: np.dtype,
    order: int,
    upper: bool,
    base: Place,
    start: Place,
    target: Place,
    *,
    scaled: bool = False,
    summed: bool = False,
    scratch: int = 0,
) -> list[Level]:
    """All terms of one factor; intermediate vectors are kept in the rows of `mine` from `scratch` on."""
    origin = "low" if upper else "begin"
    places = [start, *(Place(f"mine[{scratch + k}]", origin) for k in range(order - 1)), target]
    return [
        Level(
            bands,
            dtype,
            upper,
            reach=order - k,
            base=base,
            source=places[k - 1],
            target=places[k],
            lag=k if upper else 0,
            scaled=scaled and k == order,
            summed=summed and k == order,
        )
        for k in range(1, order + 1)
    ]


def _kernel(vectors: str, levels: list[Level], *, begin: int, beyond: int) -> str:
    """All levels over each chunk, from `begin` bandwidths before it; the lower levels end `beyond` bandwidths after."""
    bands, dtype = levels[0].bands, levels[0].dtype
    lows = ", ".join(f"low{k}" for k in range(bands))
    text = [f"def kernel(taken, {vectors}, {lows}, scale, strides, scratch, partial, dots):", "    n = r.size"]
    text += [*(f"    d{k} = strides[{k}]" for k in range(bands)), f"    far = d{bands - 1}"]
    body = [f"low = n*chunk//chunks//{ALIGNED}*{ALIGNED}"]
    body += [f"high = n if chunk == chunks - 1 else n*(chunk + 1)//chunks//{ALIGNED}*{ALIGNED}"]
    body += [f"begin, beyond = max(0, low - {begin}*far), min(n, high + {beyond}*far)", "mine = scratch[thread]"]
    zero = "0j" if accumulator(dtype).kind == "c" else "0.0"
    body += [f"xy, yy, xx = {zero}, {zero}, {zero}"]
    body += [f"for bottom in range(begin, high + {max(level.lag for level in levels)}*far, {BLOCK}):"]
    body += [f"    top = bottom + {BLOCK}", *(f"    {line}" for level in levels for line in level.text())]
    body += [f"partial[chunk, {k}] = {name}" for k, name in enumerate(("xy", "yy", "xx"))]
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
