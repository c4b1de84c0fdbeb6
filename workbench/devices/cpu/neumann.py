"""A truncated Neumann series on a stencil, up to three terms a sweep.

With Lh = L D^-1 the series K r = r - Lh (r - Lh (r - ..)) needs at row i only rows below i, so several terms can follow
one another through the unknowns, a block behind a block, in the cache. Level k of a block is ready when
level k + 1 asks for it, except at the start of a chunk, where the levels below are computed once more for the rows that
they reach back. The sweep for K^T is the same from the other end. Up to order 3 the memory traffic is that of two
products with L instead of 2*order: 2*(bands + 3) words a row.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.devices.cpu import generated
from workbench.devices.cpu.memory import vector
from workbench.devices.cpu.threads import cores, launch, prepare
from workbench.devices.lines.reference import accumulator

BLOCK = 2048
"""Rows a level advances at a time: 16 KiB of doubles, so that a few levels and bands share a first-level cache."""
MOST_LEVELS = 3
"""Terms in one sweep; each further one makes chunks longer and recomputes more at their ends."""
REACHES_PER_CHUNK = 8
"""How many times longer a chunk is than what it computes twice."""
MOST_CHUNKS = 256


class StencilSeries:
    """u = K^T D^-1 K r for the strictly lower bands of L D^-1, with (r, u), (u, u) and (r, r) in the last sweep.

    bands: entries (i, i - stride) at i, each of shape (N,); inverse_diagonal: shape (N,); order: terms after the
    identity. Work space: one vector up to order 3, two beyond, and a few chunks a core.
    """

    def __init__(
        self, bands: tuple[np.ndarray, ...], strides: tuple[int, ...], inverse_diagonal: np.ndarray, order: int
    ) -> None:
        size, dtype = inverse_diagonal.size, inverse_diagonal.dtype
        self._bands = bands
        self._levels = [min(MOST_LEVELS, order - done) for done in range(0, order, MOST_LEVELS)]
        self._order = order
        self._middle = vector(size, dtype)
        self._spare = vector(size if len(self._levels) > 1 else 0, dtype)
        self._dots = np.zeros(3, accumulator(dtype))
        reach = strides[-1] * (self._levels[0] - 1)
        chunks = max(1, min(MOST_CHUNKS, size // max(1, REACHES_PER_CHUNK * reach, 8 * BLOCK)))
        longest = -(-size // chunks) + reach
        scratch = np.zeros((cores(), max(1, self._levels[0] - 1), longest), dtype)
        partial = np.zeros((chunks, 3), self._dots.dtype)
        self._fixed = (*bands, inverse_diagonal, np.array(strides), scratch, partial, self._dots)
        last = len(self._levels) - 1
        self._lower = [
            sweep(len(bands), dtype, levels, upper=False, scaled=k == last) for k, levels in enumerate(self._levels)
        ]
        self._upper = [sweep(len(bands), dtype, levels, upper=True, scaled=False) for levels in self._levels]
        for kernel in (*self._lower, *self._upper):
            prepare(kernel, *[self._middle] * 4, *self._fixed)

    def apply(self, r: np.ndarray, u: np.ndarray) -> np.ndarray:
        """u = M^-1 r; returns (r, u), (u, u) and (r, r). The two may not be the same vector."""
        self._series(self._lower, r, self._middle, r, u)
        self._series(self._upper, self._middle, u, r, u)
        return self._dots

    def _series(
        self, kernels: list[Callable[..., None]], base: np.ndarray, target: np.ndarray, r: np.ndarray, u: np.ndarray
    ) -> None:
        """One triangular factor; no sweep may write what it reads, so u and the spare vector take turns."""
        start = base
        for left, kernel in zip(reversed(range(len(kernels))), kernels, strict=True):
            y = target if left == 0 else self._spare if left % 2 else u
            launch(r.size, kernel, base, start, y, r, *self._fixed)
            start = y

    @property
    def traffic(self) -> int:
        sweeps = len(self._levels)
        return (2 * sweeps * (len(self._bands) + 3) + sweeps - 1) * self._middle.nbytes

    @property
    def flops(self) -> int:
        multiply_add = 8 if self._middle.dtype.kind == "c" else 2
        return (2 * self._order * len(self._bands) * multiply_add + 1) * self._middle.size


def sweep(bands: int, dtype: np.dtype, order: int, *, upper: bool, scaled: bool) -> Callable[..., None]:
    """The kernel of `order` terms of one factor; its text is unrolled over the levels."""
    return generated.kernel(source(bands, np.dtype(dtype), order, upper=upper, scaled=scaled))


def source(bands: int, dtype: np.dtype, order: int, *, upper: bool, scaled: bool) -> str:
    """The Python text of one sweep: from v = start, `order` times v = base - Lh v (upper: - Lh^H v), then y = v.

    scaled: times D^-1 in the end. The dot products are those of `paired` and y.
    """
    lows = [f"low{k}" for k in range(bands)]
    head = f"def kernel(x, start, y, paired, {', '.join(lows)}, scale, strides, levels, partial, dots):"
    text = [head, "    n = x.size", *(f"    d{k} = strides[{k}]" for k in range(bands))]
    text += [f"    far = d{bands - 1}", "    chunks = partial.shape[0]", "    for chunk in prange(chunks):"]
    text += ["        low, high = n*np.int64(chunk)//chunks, n*(np.int64(chunk) + 1)//chunks"]
    text += ["        mine = levels[get_thread_id()]"]
    if accumulator(dtype).kind == "c":
        text += ["        xy, yy, xx = 0j, 0j, 0j"]
    else:
        text += ["        xy, yy, xx = 0.0, 0.0, 0.0"]
    # Level k covers [low, high) and what the levels above it reach beyond; level `order` is y itself.
    if upper:
        text += [f"        end = min(n, high + {order - 1}*far)", f"        for top in range(end, low, -{BLOCK}):"]
        text += [f"            bottom = max(low, top - {BLOCK})"]
    else:
        text += [
            f"        begin = max(0, low - {order - 1}*far)",
            f"        for bottom in range(begin, high, {BLOCK}):",
        ]
        text += [f"            top = min(high, bottom + {BLOCK})"]
    for level in range(1, order + 1):
        text += [f"            {line}" for line in _level(level, order, bands, dtype, upper, scaled)]
    text += [f"        partial[chunk, {k}] = {name}" for k, name in enumerate(("xy", "yy", "xx"))]
    if upper:
        for k in range(3):
            text += [
                f"    dots[{k}] = 0",
                "    for chunk in range(chunks):",
                f"        dots[{k}] += partial[chunk, {k}]",
            ]
    return "\n".join(text) + "\n"


def _level(level: int, order: int, bands: int, dtype: np.dtype, upper: bool, scaled: bool) -> list[str]:
    """One level of one block: rows a to b, a branch-free loop and one for the rows whose neighbours may be outside."""
    last = level == order
    beyond = f"{order - level}*far"
    base = "low" if upper else "begin"
    text = [f"a, b = bottom, min(top, high + {beyond})" if upper else f"a, b = max(bottom, low - {beyond}, 0), top"]
    source_name, shift = ("start", "") if level == 1 else (f"mine[{level - 2}]", f" - {base}")
    target, place = ("y", "") if last else (f"mine[{level - 1}]", f" - {base}")
    text += [f"source, target = {source_name}, {target}"]
    # Rows from `inner` on (up to it, for the upper sweep) have all their neighbours.
    text += ["inner = max(a, min(b, n - far))" if upper else "inner = min(b, max(a, far))"]
    ranges = ("a, inner", "inner, b") if upper else ("inner, b", "a, inner")
    start, stop = ranges[0].split(", ")
    sign = "+" if upper else "-"
    views = {"s_x": f"x[{start}:{stop}]", "s_y": f"target[{start}{place}:{stop}{place}]"}
    value = "s_x[i]"
    for k in range(bands):
        views[f"s_low{k}"] = f"low{k}[{start} + d{k}:{stop} + d{k}]" if upper else f"low{k}[{start}:{stop}]"
        views[f"s_near{k}"] = f"source[{start} {sign} d{k}{shift}:{stop} {sign} d{k}{shift}]"
        value += f" - {_entry(f's_low{k}[i]', dtype, upper)}*s_near{k}[i]"
    if last:
        views |= {"s_scale": f"scale[{start}:{stop}]", "s_paired": f"paired[{start}:{stop}]"}
    text += [f"if {stop} > {start}:"]
    text += [f"    {name} = {view}" for name, view in views.items()]
    text += [f"    for i in range({stop} - {start}):", f"        v = {value}"]
    text += [f"        {line}" for line in _finish(last, upper, scaled, dtype, "s_scale[i]", "s_paired[i]")]
    text += ["        s_y[i] = v"]
    start, stop = ranges[1].split(", ")
    text += [f"for i in range({start}, {stop}):", "    v = x[i]"]
    for k in range(bands):
        entry = _entry(f"low{k}[i + d{k}]" if upper else f"low{k}[i]", dtype, upper)
        text += [f"    if i + d{k} < n:" if upper else f"    if i >= d{k}:"]
        text += [f"        v -= {entry}*source[i {sign} d{k}{shift}]"]
    text += [f"    {line}" for line in _finish(last, upper, scaled, dtype, "scale[i]", "paired[i]")]
    text += [f"    target[i{place}] = v"]
    return text


def _entry(text: str, dtype: np.dtype, upper: bool) -> str:
    return f"np.conj({text})" if upper and dtype.kind == "c" else text


def _finish(last: bool, upper: bool, scaled: bool, dtype: np.dtype, scale: str, paired: str) -> list[str]:
    """What the last level adds: the diagonal where asked for, and the dot products in the upper factor."""
    if not last:
        return []
    text = [f"v *= {scale}"] if scaled else []
    if not upper:
        return text
    wide = accumulator(dtype)
    conj = "np.conj" if wide.kind == "c" else ""
    left, right = f"np.{wide.name}({paired})", f"np.{wide.name}(v)"
    return [*text, f"xy += {conj}({left})*{right}", f"yy += {conj}({right})*{right}", f"xx += {conj}({left})*{left}"]
