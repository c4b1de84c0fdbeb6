"""Products that restrict in the same pass on the cores: A x with Z^T (A x), and Z^T (b - A x), Z piecewise constant.

A product is computed chunk by chunk, as by itself; each chunk is added to the sums of its subdomains while
it is in the cache, so the restriction reads no further memory.
"""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import counted_from, shared, threads, unrolled
from workbench.devices.bound import Request
from workbench.devices.cpu.subdomains import Subdomains, add_groups, bounds, restrict
from workbench.devices.on_cores import filling, fixed_on_cores
from workbench.devices.ops.faces import FaceProduct
from workbench.devices.ops.stencil import StencilProduct
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total
from workbench.jit.frames import rows_between, sums_between
from workbench.jit.threads import chunks_of, cores, launch, prepare
from workbench.lines.types import accumulator


class RestrictedProduct:
    """out = A x and Z^T out in one pass."""

    pairs = False

    def __init__(self, product: StencilProduct | FaceProduct, subdomains: Subdomains) -> None:
        self._subdomains, self._dtype = subdomains, product.request().dtype
        self._pass = _Pass(product.request(), subdomains)
        self._residual = _Pass(product.residual(), subdomains)

    def apply(self, x: np.ndarray, out: np.ndarray, *_: str) -> tuple[np.ndarray, np.ndarray]:
        """The three dot products of the product, and Z^T out; the arrays are reused by the next call."""
        self._pass(x, out)
        return self._pass.dots, self._subdomains.coarse

    def residual(self, b: np.ndarray, x: np.ndarray, work: np.ndarray) -> np.ndarray:
        """Z^T (b - A x), in double precision, shape (d,); no vector is written, and `work` is not used."""
        self._residual(b, x)
        return self._subdomains.coarse

    @property
    def saved(self) -> int:
        """Bytes saved compared with a separate restriction."""
        return self._subdomains.size * self._dtype.itemsize


class _Pass:
    """The kernel of a request, and the restriction of what it writes: y.

    A request without sums does not keep y, but a chunk of it for each core.
    """

    def __init__(self, request: Request, subdomains: Subdomains) -> None:
        wide, rows, chunks = accumulator(request.dtype), request.rows, chunks_of(request.rows)
        fixed = fixed_on_cores(request, wide)
        of = request.form(fixed, wide)
        self.dots = np.zeros(of.sums, wide)
        room: tuple[np.ndarray, ...]
        if of.sums:
            room = np.zeros((chunks, of.sums), wide), self.dots
        else:
            room = (np.zeros((cores(), -(-rows // chunks) + 1 + max(1, subdomains.width)), request.dtype),)
        self._rows, self._last = rows, (rows, *room, *subdomains.stored)
        constants = {"width": subdomains.width, **of.loop}
        self._kernel = _product.of(**constants, dtype=wide, count=of.sums) if of.sums else _residual.of(**constants)
        self._filled, self._place, self._keeps_y = filling(of, fixed), of.parameters.index("y"), of.sums > 0
        some = np.empty(0, request.dtype)
        prepare(self._kernel, *self._arguments(*[some] * 2), *self._last)

    def __call__(self, *vectors: np.ndarray) -> None:
        launch(self._rows, self._kernel, *self._arguments(*vectors), *self._last)

    def _arguments(self, *vectors: np.ndarray) -> tuple[object, ...]:
        """The arguments of a row before y, y if it is kept, and those behind it."""
        place = self._place
        if not self._keeps_y:
            filled = self._filled(*vectors, ())
            return filled[:place], filled[place + 1 :]
        filled = self._filled(*vectors)
        return filled[:place], filled[place], filled[place + 1 :]


@kernel(*REORDERED)
def _product(
    taken, before, y, after, n, partial, products, pieces, groups, spans, sums, coarse, *,
    inner, edge, reach, halo, dtype, count, width,
):  # fmt: skip  # pragma: no cover
    """y = A x, its dot products, and Z^T y. before, after: the arguments of a row before and behind y."""
    chunks = groups[groups.size - 1]
    for thread in threads(taken):
        for group in shared(taken, thread, sums.shape[0]):
            mine = sums[group]
            mine[spans[group, 0] : spans[group, 1]] = 0
            for chunk in range(groups[group], groups[group + 1]):
                low, high = bounds(n, chunk, chunks, width=width)
                of = low, high, n, (*before, y, *after)
                found = sums_between(
                    *of, inner=inner, edge=edge, reach=reach, halo=halo, dots=True, dtype=dtype, count=count
                )
                for k in unrolled(count):
                    partial[chunk, k] = found[k]
                restrict(y, mine, low, high, chunk, pieces, width=width)
    add_groups(sums, spans, coarse)
    total(partial, products)


@kernel(*REORDERED)
def _residual(
    taken, before, after, n, room, pieces, groups, spans, sums, coarse, *, inner, edge, reach, halo, width
):  # pragma: no cover
    """Z^T (b - A x). room: a chunk of the residual for each thread."""
    chunks = groups[groups.size - 1]
    for thread in threads(taken):
        for group in shared(taken, thread, sums.shape[0]):
            mine = sums[group]
            mine[spans[group, 0] : spans[group, 1]] = 0
            for chunk in range(groups[group], groups[group + 1]):
                low, high = bounds(n, chunk, chunks, width=width)
                y = counted_from(room[thread], low)
                of = low, high, n, (*before, y, *after)
                rows_between(*of, inner=inner, edge=edge, reach=reach, halo=halo, tiles=())
                restrict(y, mine, low, high, chunk, pieces, width=width)
    add_groups(sums, spans, coarse)
