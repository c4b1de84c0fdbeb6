"""Products that restrict in the same pass on the cores: A x with Z^T (A x), and Z^T (b - A x), Z piecewise constant.

The text is that of the product, chunk by chunk; each chunk of the result is added to the sums of its subdomains while
it is in the cache, so the restriction reads no further memory.
"""

from __future__ import annotations

import functools

import numpy as np

from workbench.devices.bound import Request
from workbench.devices.cpu.subdomain_text import GROUPS, Labelling, bounds, over_groups
from workbench.devices.cpu.subdomains import Subdomains
from workbench.devices.on_cores import fixed_on_cores
from workbench.devices.ops.faces import FaceProduct
from workbench.devices.ops.stencil import StencilProduct
from workbench.jit import generated
from workbench.jit.threads import chunks_of, cores, launch, prepare
from workbench.kernel_language import Typed
from workbench.kernel_language.numba_text import chunk
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
        fixed = fixed_on_cores(request, wide)
        of = request.typed(fixed, wide)
        self.dots, own = np.zeros(of.sums, wide), "room_"
        room: tuple[np.ndarray, ...]
        if of.sums:
            own, room = "partial_, sums_", (np.zeros((chunks, of.sums), wide), self.dots)
        else:
            room = (np.zeros((cores(), -(-rows // chunks) + 1 + subdomains.labelling.align), request.dtype),)
        vectors = ["x", "y"] if of.sums else ["base", "x"]
        arguments = [name for name in of.arguments if name in fixed]
        self._kernel = generated.kernel(_text(of, (*arguments, *vectors, "rows_", own), subdomains.labelling))
        self._rows, self._head = rows, [fixed[name] for name in arguments]
        self._last = (rows, *room, *subdomains.stored)
        some = np.empty(0, request.dtype)
        prepare(self._kernel, *self._head, some, some, *self._last)

    def __call__(self, *vectors: np.ndarray) -> None:
        launch(self._rows, self._kernel, *self._head, *vectors, *self._last)


@functools.lru_cache(64)
def _text(of: Typed, arguments: tuple[str, ...], labelling: Labelling) -> str:
    """Python source. arguments: in front of those of the restriction."""
    origin = "" if of.sums else "low_"
    body = [*bounds(labelling.align), "chunk_, low_, high_ = chunk, low, high"]
    body += [] if of.sums else ["y = room_[thread]"]
    body += [*chunk(of, origin=origin), *labelling.restrict("y", origin or "0")]
    text = [f"def kernel({', '.join(['taken', *arguments, labelling.arguments, GROUPS])}):", "    n = rows_"]
    text += [f"    {line}" for line in over_groups(body)]
    return "\n".join([*text, *(["    total(partial_, sums_)"] if of.sums else [])]) + "\n"
