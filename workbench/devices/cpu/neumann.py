"""Truncated Neumann series on a stencil, u = K^H D^-1 K r, blocked for the caches.

K r = r - Lh (r - Lh (r - ..)) needs at row i only rows below i, K^H only rows above, and each term only the one before
it. So one pass over the unknowns computes several terms, a block of rows at a time, in the cache (temporal blocking):
those of K on the same rows, each of K^H one bandwidth behind the term before. At the ends of a chunk the terms
recompute the rows of neighbouring chunks that they need. A term is a kernel of rows, the same as on any other device.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from workbench.compiler.words import counted_from, shared, threads, unrolled
from workbench.devices.bound import Request
from workbench.devices.host import face_coding
from workbench.devices.host.face_codes import FaceCodes
from workbench.devices.host.memory import vector
from workbench.devices.host.series_sizes import ALIGNED, BLOCK, MOST_LEVELS, chunks_of, row_length, stores_bands
from workbench.devices.on_cores import OnCores
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.ops.faces import diagonal, face_term
from workbench.devices.ops.stencil import LOWER, UPPER, scaled_band, stencil
from workbench.devices.traffic import product_flops
from workbench.jit.compiled import REORDERED, Kernel, kernel
from workbench.jit.dot_sums import total, with_row
from workbench.jit.threads import cores, launch, prepare
from workbench.kernel_language.row_kernels import RowKernel
from workbench.lines.types import accumulator


def stencil_series(
    bands: tuple[np.ndarray, ...], strides: tuple[int, ...], inverse_diagonal: np.ndarray, order: int
) -> OnePassSeries | SeveralPassSeries:
    """u = K^H D^-1 K r for the strictly lower bands of L D^-1: in one pass up to order 3, in several beyond.

    bands: entries (i, i - stride) at i, each of shape (N,); inverse_diagonal: shape (N,); order: terms after the
    identity.
    """
    return _series(bands_of_series(bands, strides, inverse_diagonal), order)


def bands_of_series(bands: tuple[np.ndarray, ...], strides: tuple[int, ...], inverse_diagonal: np.ndarray) -> Stored:
    """The arrays of a series, from bands. D^-1 multiplies the last term of K."""

    def constants(*, upper: bool, first: bool, last: bool) -> Mapping[str, object]:
        return {"bands": len(bands)} | (UPPER if upper else LOWER | {"scaled": last})

    return Stored(stencil, constants, ((), tuple(bands), tuple(strides)), inverse_diagonal, len(bands) + 1)


def face_series(faces: FaceCodes, dtype: np.dtype, order: int) -> OnePassSeries | SeveralPassSeries:
    """u = K^H D^-1 K r for codes of faces, on vectors of that dtype. Stores D^-1, and L D^-1 where `stores_bands`."""
    scale = diagonal(faces, dtype, inverse=True)
    if stores_bands(faces.directions, dtype.itemsize):
        # One band at a time, so that no more than one waits for its scale.
        bands = tuple(_scaled(face_coding.band(faces, k), scale, stride) for k, stride in enumerate(faces.strides))
        return stencil_series(bands, faces.strides, scale, order)

    def constants(*, upper: bool, first: bool, last: bool) -> Mapping[str, object]:
        # All terms of K are kept times D^-1, so that a coefficient needs no second factor.
        return {"directions": faces.directions, "upper": upper, "raw": first and not upper}

    arrays = faces.codes, tuple(map(scale.dtype.type, faces.values)), faces.strides
    return _series(Stored(face_term, constants, arrays, scale, 1 + faces.codes.itemsize / scale.itemsize), order)


def _series(stored: Stored, order: int) -> OnePassSeries | SeveralPassSeries:
    return (OnePassSeries if order <= MOST_LEVELS else SeveralPassSeries)(stored, order)


def _scaled(low: np.ndarray, inverse: np.ndarray, stride: int) -> np.ndarray:
    """A lower band of L D^-1, from that of L and from D^-1, all of shape (N,)."""
    band = vector(low.size, low.dtype)
    OnCores(Request(scaled_band, low.size, low.dtype, {"low": low, "inverse": inverse, "step": stride}))(band)
    return band


@dataclasses.dataclass(frozen=True, eq=False)
class Stored:
    """The arrays of a series. term: the kernel of rows of a term; constants: its constants for a term of K, perhaps its
    first or last, or of K^H (`upper`); arrays: its arguments before the vectors, the last being the strides; scale:
    D^-1; words: read per row."""

    term: RowKernel
    constants: Callable[..., Mapping[str, object]]
    arrays: tuple[np.ndarray | tuple[()], tuple[np.ndarray | np.generic, ...], tuple[int, ...]]
    scale: np.ndarray
    words: float

    @property
    def strides(self) -> tuple[int, ...]:
        """The distances of the neighbours."""
        return self.arrays[-1]


class _Series(OperatorTraits):
    """Base of both: the arrays of the series, its kernels, and the cost.

    levels: rows of the work space of a core; reach: bandwidths that a chunk recomputes at each end; room: those by
    which a row is longer than a chunk.
    """

    def __init__(self, stored: Stored, order: int, levels: int, reach: int, room: int) -> None:
        self._stored, self._order, far = stored, order, stored.strides[-1]
        self._size, self._dtype = stored.scale.size, stored.scale.dtype
        self._dots = np.zeros(3, accumulator(self._dtype))
        chunks = chunks_of(self._size, reach * far)
        # Rows have a margin, see `memory.vector`.
        length = row_length(self._size, chunks, room * far)
        scratch = vector(cores() * max(1, levels) * length, self._dtype).reshape(cores(), -1, length)
        partial = np.zeros((chunks, 3), self._dots.dtype)
        self._fixed = stored.arrays, stored.scale, scratch, partial, self._dots

    def _kernel(self, lower: range, upper: range) -> Kernel:
        """The kernel of these terms of K and of K^H, prepared."""
        of, wide = self._stored, self._dots.dtype

        def rows(k: int, *, upper: bool) -> tuple[object, object]:
            constants = of.constants(upper=upper, first=k == 0, last=k == self._order - 1)
            functions = of.term.rows(constants, self._dtype, wide, returns=upper)
            return functions.inner, functions.edge

        made = _terms.of(
            lower=tuple(rows(k, upper=False) for k in lower),
            upper=tuple(rows(k, upper=True) for k in upper),
            dtype=wide,
        )
        prepare(made, *[of.scale] * 4, *self._fixed)
        return made

    @property
    def flops(self) -> int:
        bands = len(self._stored.strides)
        return product_flops(2 * self._order * bands * self._size, self._dtype) + self._size


class OnePassSeries(_Series):
    """Both factors in one pass. Reads r, the coefficients and D^-1 and writes u once. Intermediate vectors stay in the
    cache and are recomputed where chunks meet; work space: 2*order - 1 chunks per core."""

    def __init__(self, stored: Stored, order: int) -> None:
        super().__init__(stored, order, 2 * order - 1, order, 2 * order)
        self._both = self._kernel(range(order), range(order))

    def apply(self, r: np.ndarray, u: np.ndarray, *_: str) -> np.ndarray:
        """u = M^-1 r; computes all three dot products. The two may not be the same vector."""
        launch(r.size, self._both, r, r, u, r, *self._fixed)
        return self._dots

    @property
    def traffic(self) -> int:
        return int((self._stored.words + 2) * self._size * self._dtype.itemsize)


class SeveralPassSeries(_Series):
    """One pass for up to three terms of a factor, which reads the coefficients, D^-1 and two vectors and writes one.
    Work space: two vectors and a few chunks per core."""

    def __init__(self, stored: Stored, order: int) -> None:
        more = min(MOST_LEVELS, order) - 1
        super().__init__(stored, order, more, more, more)
        passes = [range(done, min(done + MOST_LEVELS, order)) for done in range(0, order, MOST_LEVELS)]
        self._middle = vector(self._size, self._dtype)
        self._spare = vector(self._size, self._dtype)
        self._lower = [self._kernel(terms, range(0)) for terms in passes]
        self._upper = [self._kernel(range(0), terms) for terms in passes]

    def apply(self, r: np.ndarray, u: np.ndarray, *_: str) -> np.ndarray:
        """u = M^-1 r; computes all three dot products. The two may not be the same vector."""
        self._series(self._lower, r, self._middle, r, u)
        self._series(self._upper, self._middle, u, r, u)
        return self._dots

    def _series(self, passes: list[Kernel], base: np.ndarray, target: np.ndarray, r: np.ndarray, u: np.ndarray) -> None:
        """One triangular factor; no pass may write what it reads, so u and the spare vector alternate."""
        start = base
        for left, terms in zip(reversed(range(len(passes))), passes, strict=True):
            y = target if left == 0 else self._spare if left % 2 else u
            launch(r.size, terms, base, start, y, r, *self._fixed)
            start = y

    @property
    def traffic(self) -> int:
        passes = len(self._lower)
        return int((2 * passes * (self._stored.words + 2) + passes - 1) * self._middle.nbytes)


@kernel(*REORDERED)
def _terms(taken, base, start, y, r, arrays, scale, scratch, partial, dots, *, lower, upper, dtype):  # pragma: no cover
    """Terms of K, then terms of K^H: y is the result of the last one, and the first is applied to `start`.

    base: what K is applied to, or, without terms of K, what K^H is applied to. lower, upper: for each term the function
    of rows that have all their neighbours, and that of any row. With terms of K^H: the dot products of r and y.
    """
    n, chunks, far = scale.size, partial.shape[0], arrays[2][-1]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            low = n * chunk // chunks // ALIGNED * ALIGNED
            high = n if chunk == chunks - 1 else n * (chunk + 1) // chunks // ALIGNED * ALIGNED
            begin = max(0, low - max(0, len(lower) - 1) * far)
            # What each term is applied to, and y. Those between are in the cache, from row `begin` or `low` on.
            x = (start,)
            for k in unrolled(len(lower) + len(upper) - 1):
                x += (counted_from(scratch[thread, k], begin if k < len(lower) - 1 else low),)
            x += (y,)
            between = x[len(lower)] if len(lower) > 0 else base
            found = (dtype(0),) * 3
            for bottom in range(begin, high + len(upper) * far, BLOCK):
                top = bottom + BLOCK
                for k in unrolled(len(lower)):
                    more = (len(lower) - 1 - k) * far
                    first, end = max(0, low - more, bottom), min(n, high + len(upper) * far, top)
                    given = *arrays, base, scale, x[k], x[k + 1], r
                    _lower(first, end, n, far, given, inner=lower[k][0], edge=lower[k][1])
                for k in unrolled(len(upper)):
                    more, back = (len(upper) - 1 - k) * far, (k + 1) * far
                    first, end = max(low, bottom - back), min(n, high + more, top - back)
                    given = *arrays, between, scale, x[len(lower) + k], x[len(lower) + k + 1], r
                    found = _upper(
                        *(first, end, n, far, given, found),
                        inner=upper[k][0],
                        edge=upper[k][1],
                        last=k == len(upper) - 1,
                        dtype=dtype,
                    )
            partial[chunk, 0], partial[chunk, 1], partial[chunk, 2] = found
    if len(upper) > 0:
        total(partial, dots)


def _lower(first, end, n, far, arguments, *, inner, edge):  # pragma: no cover
    """A term of K in some rows; the first ones of all lack neighbours."""
    middle = max(first, min(end, far))
    for row in range(first, middle):
        edge(row, *arguments, n)
    for row in range(middle, end):
        inner(row, *arguments)


def _upper(first, end, n, far, arguments, dots, *, inner, edge, last, dtype):  # pragma: no cover
    """A term of K^H in some rows; the last ones of all lack neighbours.

    Returns the dot products, if it is the last term with those of r and its result.
    """
    middle, found = max(first, min(end, n - far)), dots
    for row in range(first, middle):
        found = with_row(found, *inner(row, *arguments), dtype=dtype)
    for row in range(middle, end):
        found = with_row(found, *edge(row, *arguments, n), dtype=dtype)
    return found if last else dots
