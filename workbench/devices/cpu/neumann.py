"""Truncated Neumann series on a stencil, u = K^H D^-1 K r, blocked for the caches."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from workbench.devices.bound import Request
from workbench.devices.cpu import neumann_text
from workbench.devices.cpu.neumann_text import Coefficients, FaceSeries, ScaledBands
from workbench.devices.on_cores import OnCores
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.ops.faces import diagonal
from workbench.devices.ops.stencil import scaled_band
from workbench.devices.traffic import product_flops
from workbench.host import face_coding
from workbench.host.face_codes import FaceCodes
from workbench.host.memory import vector
from workbench.host.series_sizes import MOST_LEVELS, chunks_of, row_length, stores_bands
from workbench.jit import generated
from workbench.jit.threads import cores, launch, prepare
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
    """What a series reads, from bands."""
    arrays = (*bands, inverse_diagonal, np.array(strides))
    return Stored(ScaledBands(len(bands), inverse_diagonal.dtype), arrays, strides[-1], len(bands) + 1)


def face_series(faces: FaceCodes, dtype: np.dtype, order: int) -> OnePassSeries | SeveralPassSeries:
    """The same for codes of faces, on vectors of that dtype. Stores D^-1, and L D^-1 where `stores_bands`."""
    scale = diagonal(faces, dtype, inverse=True)
    if stores_bands(faces.directions, dtype.itemsize):
        # One band at a time, so that no more than one waits for its scale.
        bands = tuple(_scaled(face_coding.band(faces, k), scale, stride) for k, stride in enumerate(faces.strides))
        return stencil_series(bands, faces.strides, scale, order)
    arrays = (faces.codes, faces.values, faces.walls, scale, np.array(faces.strides))
    words = 1 + faces.codes.itemsize / scale.itemsize
    return _series(Stored(FaceSeries(faces.directions, scale.dtype), arrays, faces.strides[-1], words), order)


def _series(stored: Stored, order: int) -> OnePassSeries | SeveralPassSeries:
    return (OnePassSeries if order <= MOST_LEVELS else SeveralPassSeries)(stored, order)


def _scaled(low: np.ndarray, inverse: np.ndarray, stride: int) -> np.ndarray:
    """A lower band of L D^-1, from that of L and from D^-1, all of shape (N,)."""
    band = vector(low.size, low.dtype)
    OnCores(Request(scaled_band, low.size, low.dtype, {"low": low, "inverse": inverse, "step": stride}))(band)
    return band


@dataclasses.dataclass(frozen=True, eq=False)
class Stored:
    """What a series reads: the text of its coefficients, their arrays, the largest stride, and words per row."""

    of: Coefficients
    arrays: tuple[np.ndarray, ...]
    far: int
    words: float

    @property
    def size(self) -> int:
        """N."""
        return self.arrays[0].size


class _Series(OperatorTraits):
    """Base of both: the arrays of the series, the sums, and the cost."""

    def __init__(self, stored: Stored, order: int) -> None:
        self._stored, self._order = stored, order
        self._size, self._dtype = stored.size, stored.of.dtype
        self._dots = np.zeros(3, accumulator(self._dtype))

    def _chunks(self, reach: int) -> int:
        return chunks_of(self._size, reach)

    def _scratch(self, levels: int, chunks: int, reach: int) -> np.ndarray:
        """For each core, `levels` rows as long as a chunk with its neighbours, and a margin (see `memory.vector`)."""
        length = row_length(self._size, chunks, reach)
        return vector(cores() * max(1, levels) * length, self._dtype).reshape(cores(), -1, length)

    @property
    def flops(self) -> int:
        return product_flops(2 * self._order * self._stored.of.bands * self._size, self._dtype) + self._size


class OnePassSeries(_Series):
    """Both factors in one pass. Reads r, the coefficients and D^-1 and writes u once. Intermediate vectors stay in the
    cache and are recomputed where chunks meet; work space: 2*order - 1 chunks per core."""

    def __init__(self, stored: Stored, order: int) -> None:
        super().__init__(stored, order)
        reach = order * stored.far
        chunks = self._chunks(reach)
        scratch = self._scratch(2 * order - 1, chunks, 2 * reach)
        self._fixed = (*stored.arrays, scratch, np.zeros((chunks, 3), self._dots.dtype), self._dots)
        self._kernel = generated.kernel(neumann_text.both(stored.of, order))
        some = np.empty(0, self._dtype)
        prepare(self._kernel, some, some, *self._fixed)

    def apply(self, r: np.ndarray, u: np.ndarray, *_: str) -> np.ndarray:
        """u = M^-1 r; computes all three dot products. The two may not be the same vector."""
        launch(r.size, self._kernel, r, u, *self._fixed)
        return self._dots

    @property
    def traffic(self) -> int:
        return int((self._stored.words + 2) * self._size * self._dtype.itemsize)


class SeveralPassSeries(_Series):
    """One pass for up to three terms of a factor, which reads the coefficients, D^-1 and two vectors and writes one.
    Work space: two vectors and a few chunks per core."""

    def __init__(self, stored: Stored, order: int) -> None:
        super().__init__(stored, order)
        self._levels = [min(MOST_LEVELS, order - done) for done in range(0, order, MOST_LEVELS)]
        self._middle = vector(self._size, self._dtype)
        self._spare = vector(self._size, self._dtype)
        reach = stored.far * (self._levels[0] - 1)
        chunks = self._chunks(reach)
        scratch = self._scratch(self._levels[0] - 1, chunks, reach)
        self._fixed = (*stored.arrays, scratch, np.zeros((chunks, 3), self._dots.dtype), self._dots)
        last = len(self._levels) - 1
        self._lower = [
            generated.kernel(neumann_text.lower_pass(stored.of, levels, first=k == 0, last=k == last))
            for k, levels in enumerate(self._levels)
        ]
        self._upper = [generated.kernel(neumann_text.upper_pass(stored.of, levels)) for levels in self._levels]
        for text in (*self._lower, *self._upper):
            prepare(text, *[self._middle] * 4, *self._fixed)

    def apply(self, r: np.ndarray, u: np.ndarray, *_: str) -> np.ndarray:
        """u = M^-1 r; computes all three dot products. The two may not be the same vector."""
        self._series(self._lower, r, self._middle, r, u)
        self._series(self._upper, self._middle, u, r, u)
        return self._dots

    def _series(self, kernels: list[Any], base: np.ndarray, target: np.ndarray, r: np.ndarray, u: np.ndarray) -> None:
        """One triangular factor; no pass may write what it reads, so u and the spare vector alternate."""
        start = base
        for left, text in zip(reversed(range(len(kernels))), kernels, strict=True):
            y = target if left == 0 else self._spare if left % 2 else u
            launch(r.size, text, base, start, y, r, *self._fixed)
            start = y

    @property
    def traffic(self) -> int:
        passes = len(self._levels)
        return int((2 * passes * (self._stored.words + 2) + passes - 1) * self._middle.nbytes)
