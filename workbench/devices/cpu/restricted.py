"""Products that restrict in the same pass on the cores: A x with Z^T (A x), and Z^T (b - A x), Z piecewise constant.

The text is that of the product, chunk by chunk; each chunk of the result is added to the sums of its subdomains while
it is in the cache, so the restriction reads no further memory.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from workbench.devices.bound import Request
from workbench.devices.cpu.subdomain_text import GROUPS, Labelling, bounds, over_groups
from workbench.devices.cpu.subdomains import Subdomains
from workbench.devices.on_cores import RowForm, fixed_on_cores
from workbench.devices.ops.faces import FaceProduct
from workbench.devices.ops.stencil import StencilProduct
from workbench.jit import generated
from workbench.jit.threads import chunks_of, cores, launch, prepare
from workbench.lines.types import accumulator


class RestrictedProduct:
    """out = A x and Z^T out in one pass."""

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
        of = request.typed(fixed_on_cores(request, wide), wide)
        form = RowForm.of(request, of, fixed_on_cores(request, wide))
        self.dots = np.zeros(of.sums, wide)
        room: tuple[np.ndarray, ...]
        if of.sums:
            room = np.zeros((chunks, of.sums), wide), self.dots
        else:
            room = (np.zeros((cores(), -(-rows // chunks) + 1 + subdomains.labelling.align), request.dtype),)
        self._rows, self._last = rows, (rows, *room, *subdomains.stored)
        made, place = generated.kernel(_text(subdomains.labelling, summed=of.sums > 0)), form.places.pop("y")
        more = {"dots": True, "dtype": wide, "count": of.sums} if of.sums else {"tiles": ()}
        self._form, self._place, self._kernel = form, place, made.of(**form.constants, **more)
        some = np.empty(0, request.dtype)
        prepare(self._kernel, *self._arguments(*[some] * 2), *self._last)

    def __call__(self, *vectors: np.ndarray) -> None:
        launch(self._rows, self._kernel, *self._arguments(*vectors), *self._last)

    def _arguments(self, *vectors: np.ndarray) -> tuple[Any, ...]:
        """Those of a row before y, y if it is kept, and those behind it."""
        read, kept = vectors[: len(self._form.places)], vectors[len(self._form.places) :]
        filled = self._form.filled(read)
        return filled[: self._place], *kept, filled[self._place + 1 :]


@functools.lru_cache(64)
def _text(labelling: Labelling, *, summed: bool) -> str:
    """Python source of a kernel of the arguments of a row, and those of the restriction."""
    form = "inner=inner, edge=edge, reach=reach, halo=halo, "
    body = [*bounds(labelling.align)]
    if summed:
        body += [f"found = sums_between(low, high, n, (*before, y, *after), {form}dots=dots, dtype=dtype, count=count)"]
        body += ["for k in unrolled(count):", "    partial[chunk, k] = found[k]", *labelling.restrict("y", "0")]
        head, constants = "before, y, after, n, partial, products", "dots, dtype, count"
    else:
        body += ["y = room[thread]", "arguments = *before, counted_from(y, low), *after"]
        body += [f"rows_between(low, high, n, arguments, {form}tiles=tiles)", *labelling.restrict("y", "low")]
        head, constants = "before, after, n, room", "tiles"
    text = [f"def kernel(taken, {head}, {labelling.arguments}, {GROUPS}, *, inner, edge, reach, halo, {constants}):"]
    text += [f"    {line}" for line in over_groups(body)]
    return "\n".join([*text, *(["    total(partial, products)"] if summed else [])]) + "\n"
