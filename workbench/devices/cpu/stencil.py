"""Products with symmetric stencils and with their triangular halves, generated for 1, 2 or 3 lower bands.

The matrix is a diagonal and lower bands at distances d1 < d2 < ..; row i reads main[i] x[i] + sum_k low_k[i] x[i - d_k]
+ conj(low_k[i + d_k]) x[i + d_k]. Only the first and the last d_max rows have neighbours outside; they are a loop of
their own, so the long loop has no branch, and it runs over slices, so that it vectorizes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.devices.cpu import generated
from workbench.devices.cpu.threads import chunks_of, launch, prepare
from workbench.devices.lines.reference import accumulator


class StencilProduct:
    """out = A x for a symmetric stencil, with (x, out), (out, out) and (x, x) in the same pass."""

    def __init__(self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]) -> None:
        self._main, self._lower = main, lower
        self._strides = np.array(strides, dtype=np.int64)
        self._kernel = product_kernel(len(lower), main.dtype)
        self._dots = np.zeros(3, accumulator(main.dtype))
        self._fixed = (main, *lower, self._strides, np.zeros((chunks_of(main.size), 3), self._dots.dtype), self._dots)
        vector = np.empty(0, main.dtype)
        prepare(self._kernel, vector, vector, *self._fixed)

    def apply(self, x: np.ndarray, out: np.ndarray) -> np.ndarray:
        launch(x.size, self._kernel, x, out, *self._fixed)
        return self._dots

    @property
    def traffic(self) -> int:
        return (len(self._lower) + 3) * self._main.nbytes

    @property
    def flops(self) -> int:
        multiply_add = 8 if self._main.dtype.kind == "c" else 2
        return (2 * len(self._lower) + 1) * multiply_add * self._main.size


class HalfProduct:
    """One term of a truncated Neumann series: out = base - L x, or base - L^H x, optionally times a diagonal.

    L is the strictly lower triangle held as bands.
    """

    def __init__(
        self, bands: tuple[np.ndarray, ...], strides: tuple[int, ...], *, upper: bool, scale: np.ndarray | None = None
    ) -> None:
        self._bands = bands
        self._strides = np.array(strides, dtype=np.int64)
        self._scale = scale
        self._kernel = half_kernel(len(bands), bands[0].dtype, upper=upper, scaled=scale is not None)
        self._dots = np.zeros(3, accumulator(bands[0].dtype))
        partial = np.zeros((chunks_of(bands[0].size), 3), self._dots.dtype)
        self._fixed = (*bands, *(() if scale is None else (scale,)), self._strides, partial, self._dots)
        prepare(self._kernel, *[np.empty(0, bands[0].dtype)] * 4, *self._fixed)

    def apply(self, base: np.ndarray, x: np.ndarray, out: np.ndarray, paired: np.ndarray) -> np.ndarray:
        """out = (base - L x)*scale; the dot products are those of `paired` and out. `out` must not be x."""
        launch(x.size, self._kernel, base, x, out, paired, *self._fixed)
        return self._dots

    @property
    def traffic(self) -> int:
        return (len(self._bands) + 3 + (self._scale is not None)) * self._bands[0].nbytes

    @property
    def flops(self) -> int:
        multiply_add = 8 if self._bands[0].dtype.kind == "c" else 2
        return (len(self._bands) * multiply_add + (self._scale is not None)) * self._bands[0].size


def product_kernel(bands: int, dtype: np.dtype) -> Callable[..., None]:
    """The kernel of a full symmetric product."""
    lows = [f"low{k}" for k in range(bands)]
    inner = "s_main[i]*s_x[i]"
    edge = "main[i]*x[i]"
    views = {"s_x": "x[a:b]", "s_y": "y[a:b]", "s_main": "main[a:b]"}
    extra = []
    for k, low in enumerate(lows):
        views |= {f"s_{low}": f"{low}[a:b]", f"s_{low}_up": f"{low}[a + d{k}:b + d{k}]"}
        views |= {f"s_below{k}": f"x[a - d{k}:b - d{k}]", f"s_above{k}": f"x[a + d{k}:b + d{k}]"}
        inner += f" + s_{low}[i]*s_below{k}[i] + {_conj(f's_{low}_up[i]', dtype)}*s_above{k}[i]"
        extra += [f"if i >= d{k}:", f"    v += {low}[i]*x[i - d{k}]"]
        extra += [f"if i + d{k} < n:", f"    v += {_conj(f'{low}[i + d{k}]', dtype)}*x[i + d{k}]"]
    return _generate(["x", "y", "main", *lows], bands, dtype, inner, edge, extra, views, paired="x", reach=(True, True))


def half_kernel(bands: int, dtype: np.dtype, *, upper: bool, scaled: bool) -> Callable[..., None]:
    """The kernel of one Neumann term: y = (base - L x)*scale, or with L^H."""
    lows = [f"low{k}" for k in range(bands)]
    inner, edge = "s_base[i]", "base[i]"
    views = {"s_base": "base[a:b]", "s_y": "y[a:b]", "s_paired": "paired[a:b]"}
    extra = []
    for k, low in enumerate(lows):
        shift = f"+ d{k}" if upper else f"- d{k}"
        views[f"s_near{k}"] = f"x[a {shift}:b {shift}]"
        views[f"s_{low}"] = f"{low}[a + d{k}:b + d{k}]" if upper else f"{low}[a:b]"
        inner += f" - {_conj(f's_{low}[i]', dtype) if upper else f's_{low}[i]'}*s_near{k}[i]"
        entry = _conj(f"{low}[i + d{k}]", dtype) if upper else f"{low}[i]"
        extra += [f"if i + d{k} < n:" if upper else f"if i >= d{k}:", f"    v -= {entry}*x[i {shift}]"]
    arguments = ["base", "x", "y", "paired", *lows]
    if scaled:
        arguments.append("scale")
        views["s_scale"] = "scale[a:b]"
        inner = f"({inner})*s_scale[i]"
        extra.append("v *= scale[i]")
    return _generate(arguments, bands, dtype, inner, edge, extra, views, paired="paired", reach=(not upper, upper))


def _conj(text: str, dtype: np.dtype) -> str:
    return f"np.conj({text})" if dtype.kind == "c" else text


def _generate(
    arguments: list[str],
    bands: int,
    dtype: np.dtype,
    inner: str,
    edge: str,
    extra: list[str],
    views: dict[str, str],
    *,
    paired: str,
    reach: tuple[bool, bool],
) -> Callable[..., None]:
    """A sweep with a branch-free middle; `reach` says whether rows look down and up: which ends need the slow loop."""
    dtype, wide = np.dtype(dtype), accumulator(dtype)
    zero = "0j" if wide.kind == "c" else "0.0"
    conj = "np.conj" if wide.kind == "c" else ""

    def sums(pair: str, value: str) -> list[str]:
        left, right = f"np.{wide.name}({pair})", f"np.{wide.name}({value})"
        return [
            f"xy += {conj}({left})*{right}",
            f"yy += {conj}({right})*{right}",
            f"xx += {conj}({left})*{left}",
        ]

    text = [f"def kernel({', '.join(arguments)}, strides, partial, dots):", "    n = x.size"]
    text += [f"    d{k} = strides[{k}]" for k in range(bands)]
    text += [f"    first = min(n, d{bands - 1})" if reach[0] else "    first = 0"]
    text += [f"    last = max(first, n - d{bands - 1})" if reach[1] else "    last = n"]
    text += ["    chunks = partial.shape[0]", "    for chunk in prange(chunks):"]
    text += ["        low = n*chunk//chunks", "        high = n*(chunk + 1)//chunks"]
    text += [f"        {name} = {zero}" for name in ("xy", "yy", "xx")]
    text += ["        a = max(low, first)", "        b = max(a, min(high, last))"]
    text += [f"        {name} = {view}" for name, view in views.items()]
    text += ["        for i in range(b - a):", f"            v = np.{dtype.name}({inner})", "            s_y[i] = v"]
    text += [f"            {line}" for line in sums(f"s_{paired}[i]", "v")]
    for start, stop in (("low", "min(high, first)"), ("max(low, last)", "high")):
        text += [f"        for i in range({start}, {stop}):", f"            v = {edge}"]
        text += [f"            {line}" for line in extra]
        text += ["            y[i] = v", *(f"            {line}" for line in sums(f"{paired}[i]", "v"))]
    text += [f"        partial[chunk, {k}] = {name}" for k, name in enumerate(("xy", "yy", "xx"))]
    for k in range(3):
        text += ["    total = " + zero, "    for chunk in range(chunks):", f"        total += partial[chunk, {k}]"]
        text += [f"    dots[{k}] = total"]
    return generated.kernel("\n".join(text) + "\n")
