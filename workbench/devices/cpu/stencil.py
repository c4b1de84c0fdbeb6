"""Matrix-vector products with Hermitian stencils on the cores, as kernels generated for 1, 2 or 3 lower bands.

The matrix is a diagonal and lower bands at distances d0 < d1 < ..; row i of A x is main[i] x[i] + sum_k low_k[i] x[i -
d_k] + conj(low_k[i + d_k]) x[i + d_k]. Indices beyond the vector occur only in the first and the last d_max rows, which
have separate loops, so the long loop has no branch; it runs over slices, so that it vectorizes. At all other walls of
the grid the bands are zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.devices.cpu import generated
from workbench.devices.cpu.block_products import BlockStencilProduct
from workbench.devices.cpu.stencil_residual import RestrictedResidual
from workbench.devices.cpu.subdomains import SUBDOMAINS, Subdomains
from workbench.devices.cpu.threads import chunks_of, launch, prepare
from workbench.devices.traffic import product_flops
from workbench.lines.types import accumulator

SUMS = ("xy", "yy", "xx")
"""The dot products (x, y), (y, y) and (x, x), as a kernel names and orders them."""
RESTRICT_CHUNK = """
for run in range(cuts[chunk], cuts[chunk + 1]):
    piece = y[bounds[run]:bounds[run + 1]]
    run_sum = coarse.dtype.type(0)
    for i in range(piece.size):
        run_sum += piece[i]
    mine[labels[run]] += run_sum
""".strip().split("\n")
"""Add the sum of each run of equal labels in a chunk of y to the coarse vector of the group."""


class StencilProduct:
    """out = A x for a Hermitian stencil, with (x, out), (out, out) and (x, x) in the same pass."""

    def __init__(self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]) -> None:
        self._size, self._dtype, self._lower = main.size, main.dtype, lower
        # A constant diagonal, as in Poisson problems, is stored as one number, which saves reading a vector.
        self._constant = bool(np.all(main == main[0]))
        self._kernel = generated.kernel(product_text(len(lower), main.dtype, constant_main=self._constant))
        self._dots = np.zeros(3, accumulator(main.dtype))
        partial = np.zeros((chunks_of(main.size), 3), self._dots.dtype)
        diagonal = main[:1].copy() if self._constant else main
        self._fixed = (diagonal, *lower, np.array(strides, dtype=np.int64), partial, self._dots)
        vector = np.empty(0, main.dtype)
        prepare(self._kernel, vector, vector, *self._fixed)

    def apply(self, x: np.ndarray, out: np.ndarray, *_: str) -> np.ndarray:
        launch(x.size, self._kernel, x, out, *self._fixed)
        return self._dots

    def block(self, columns: int) -> BlockStencilProduct:
        """The product with N x columns block vectors."""
        main, *lower, strides, _, _ = self._fixed
        return BlockStencilProduct(self._size, main, lower, strides, columns)

    def restricted(self, subdomains: Subdomains) -> RestrictedStencilProduct:
        """The product that also computes Z^T out, from each chunk of out while that is in the cache."""
        text = product_text(len(self._lower), self._dtype, constant_main=self._constant, restricted=True)
        residual = RestrictedResidual(self._fixed[:-2], subdomains)
        return RestrictedStencilProduct(generated.kernel(text), self._fixed, subdomains, residual)

    @property
    def traffic(self) -> int:
        return (len(self._lower) + 2 + (not self._constant)) * self._size * self._dtype.itemsize

    @property
    def flops(self) -> int:
        return product_flops((2 * len(self._lower) + 1) * self._size, self._dtype)


class RestrictedStencilProduct:
    """out = A x and Z^T out in one pass, for piecewise constant Z: the restriction reads no further memory."""

    def __init__(
        self,
        kernel: Callable[..., None],
        fixed: tuple[np.ndarray, ...],
        subdomains: Subdomains,
        residual: RestrictedResidual,
    ) -> None:
        self._kernel, self._fixed, self._subdomains = kernel, (*fixed, *subdomains.stored), subdomains
        self._residual = residual
        self._dots = fixed[-1]
        vector = np.empty(0, fixed[0].dtype)
        prepare(kernel, vector, vector, *self._fixed)

    def apply(self, x: np.ndarray, out: np.ndarray, *_: str) -> tuple[np.ndarray, np.ndarray]:
        """The three dot products of the product, and Z^T out; the arrays are reused by the next call."""
        launch(x.size, self._kernel, x, out, *self._fixed)
        return self._dots, self._subdomains.coarse

    def residual(self, b: np.ndarray, x: np.ndarray, work: np.ndarray) -> np.ndarray:
        """Z^T (b - A x); `work` is not used."""
        return self._residual.apply(b, x)

    @property
    def saved(self) -> int:
        """Bytes saved compared with a separate restriction."""
        return self._subdomains.size * self._fixed[0].itemsize


def product_text(bands: int, dtype: np.dtype, *, constant_main: bool = False, restricted: bool = False) -> str:
    """Python source of the kernel of the product: a branch-free loop for the middle, and one for each end.

    restricted: chunks come in groups, each with separate sums for the coarse vector.
    """
    dtype, wide = np.dtype(dtype), accumulator(dtype)
    zero = "0j" if wide.kind == "c" else "0.0"
    lows = [f"low{k}" for k in range(bands)]
    more = f", {SUBDOMAINS}" if restricted else ""
    text = [f"def kernel(taken, x, y, main, {', '.join(lows)}, strides, partial, dots{more}):", "    n = x.size"]
    text += [f"    d{k} = strides[{k}]" for k in range(bands)]
    text += [f"    first = min(n, d{bands - 1})", f"    last = max(first, n - d{bands - 1})"]
    text += ["    constant = main[0]"] if constant_main else []
    text += ["    chunks = partial.shape[0]"]
    body = _chunk(lows, dtype, constant_main)
    if restricted:
        whole = ["mine = sums[group]", "for k in range(mine.size):", "    mine[k] = 0"]
        whole += ["for chunk in range(groups[group], groups[group + 1]):"]
        whole += [f"    {line}" for line in (*body, *RESTRICT_CHUNK)]
        text += [f"    {line}" for line in generated.over("sums.shape[0]", whole, "group")]
        # Plain loops: numba would start its threads for an expression over arrays.
        text += ["    for k in range(coarse.size):", "        coarse[k] = 0"]
        text += ["    for group in range(sums.shape[0]):", "        for k in range(coarse.size):"]
        text += ["            coarse[k] += sums[group, k]"]
    else:
        text += [f"    {line}" for line in generated.over("chunks", body)]
    for k in range(len(SUMS)):
        text += ["    total = " + zero, "    for chunk in range(chunks):", f"        total += partial[chunk, {k}]"]
        text += [f"    dots[{k}] = total"]
    return "\n".join(text) + "\n"


def _chunk(lows: list[str], dtype: np.dtype, constant_main: bool) -> list[str]:
    """Lines for the product on one chunk, with its part of the dot products."""
    wide = accumulator(dtype)
    zero = "0j" if wide.kind == "c" else "0.0"
    inner = "constant*s_x[i]" if constant_main else "s_main[i]*s_x[i]"
    views = {"s_x": "x[a:b]", "s_y": "y[a:b]"} | ({} if constant_main else {"s_main": "main[a:b]"})
    edge = ["v = constant*x[i]" if constant_main else "v = main[i]*x[i]"]
    for k, low in enumerate(lows):
        views |= {f"s_{low}": f"{low}[a:b]", f"s_{low}_up": f"{low}[a + d{k}:b + d{k}]"}
        views |= {f"s_below{k}": f"x[a - d{k}:b - d{k}]", f"s_above{k}": f"x[a + d{k}:b + d{k}]"}
        inner += f" + s_{low}[i]*s_below{k}[i] + {_conj(f's_{low}_up[i]', dtype)}*s_above{k}[i]"
        edge += [f"if i >= d{k}:", f"    v += {low}[i]*x[i - d{k}]"]
        edge += [f"if i + d{k} < n:", f"    v += {_conj(f'{low}[i + d{k}]', dtype)}*x[i + d{k}]"]
    text = ["low = n*chunk//chunks", "high = n*(chunk + 1)//chunks", *(f"{name} = {zero}" for name in SUMS)]
    text += ["a = max(low, first)", "b = max(a, min(high, last))"]
    text += [f"{name} = {view}" for name, view in views.items()]
    text += ["for i in range(b - a):", f"    v = np.{dtype.name}({inner})", "    s_y[i] = v"]
    text += [f"    {line}" for line in _sums("s_x[i]", wide)]
    for start, stop in (("low", "min(high, first)"), ("max(low, last)", "high")):
        text += [f"for i in range({start}, {stop}):", *(f"    {line}" for line in edge)]
        text += ["    y[i] = v", *(f"    {line}" for line in _sums("x[i]", wide))]
    return [*text, *(f"partial[chunk, {k}] = {name}" for k, name in enumerate(SUMS))]


def _conj(text: str, dtype: np.dtype) -> str:
    return f"np.conj({text})" if dtype.kind == "c" else text


def _sums(x: str, wide: np.dtype) -> list[str]:
    """Lines that add the terms of a row, y being `v`, to the dot products, in double precision."""
    x, y = f"np.{wide.name}({x})", f"np.{wide.name}(v)"
    pairs = ((x, y), (y, y), (x, x))
    return [f"{name} += {_conj(left, wide)}*{right}" for name, (left, right) in zip(SUMS, pairs, strict=True)]
