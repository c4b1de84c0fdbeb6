"""Arnoldi for several terms: an orthonormal basis V on the device, and least squares in it.

With all terms Z in columns A Z = V H, so that x + Z y has the residual V (V^H r - H y). H and what follows from it are
small matrices in host memory, in double precision.

Source: Saad 2003, section 6.12; Greif, Rees and Szyld 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.pieces import ROWS_AT_ONCE, Couplings, Pieces
from workbench.lazy import sparse
from workbench.solvers.multi.basis import above_rounding

if TYPE_CHECKING:
    from workbench.devices.protocol import Device

SPANNED = 1e-13
"""A vector is in the span of others where less than this times its norm is left of it."""
FLAT = 1e-10
"""A combination of columns of H, each of norm 1, depends on others where its norm is below this times that of its
weights: what `SPANNED` leaves of A Z - V H, and rounding, are as large in it."""


class ArnoldiBasis:
    """Orthonormal vectors on the device. image: the vector that `add` makes orthogonal to them; its own memory."""

    def __init__(self, device: Device, size: int, dtype: np.dtype) -> None:
        self._device, self._size, self._dtype = device, size, np.dtype(dtype)
        whole = Pieces(size, [range(size)])
        self._whole = device.pieces(whole, dtype)
        # No vector that vanishes in places, and one that does not.
        nowhere = sparse.csc_array((size, 0), dtype=np.int32)
        self._products = self._whole.products(Couplings(whole, nowhere, np.zeros(0, np.int64)))
        self._panel = self._whole.panel(1)
        self.image = self._panel[0]
        self._spanned = above_rounding(SPANNED, self._dtype)
        self._wide = np.result_type(dtype, np.float64)
        self.vectors: list[DeviceVector] = []

    def begin(self, r: DeviceVector) -> None:
        """The only vector is r/||r|| from now on; zero for r = 0."""
        norm = self._norm_of(r)
        self.vectors = [self.sum([r], np.array([1 / norm if norm > 0 else 0.0]))]

    def add(self) -> np.ndarray:
        """Add what `image`, w, has beyond the basis; nothing where that is rounding. Returns h with w = V h.

        Gram-Schmidt, twice; `image` is overwritten. Cost: four passes over the basis.
        """
        power, found = self._scale_image(), np.zeros(len(self.vectors), self._wide)
        norm = self._norm_of(self.image)
        for _ in range(2):
            inner = self._with_image(self.vectors)
            found += inner
            self._combine(self.vectors, -inner, self.image, add=True)
        left = self._norm_of(self.image)
        if left <= self._spanned * norm:
            return found / power
        self.vectors.append(self.sum([self.image], np.array([1 / left])))
        return np.append(found, left) / power

    def inner(self, r: DeviceVector) -> np.ndarray:
        """V^H r, shape (m,). Cost: one pass over the basis."""
        self._device.assign(self.image, r)
        return self._with_image(self.vectors)

    def sum(self, rows: Sequence[DeviceVector], weights: np.ndarray) -> DeviceVector:
        """The weighted sum of vectors, as a new one."""
        target = self._device.zeros(self._size, self._dtype)
        self._combine(rows, weights, target, add=False)
        return target

    def _combine(self, rows: Sequence[DeviceVector], weights: np.ndarray, target: DeviceVector, *, add: bool) -> None:
        for first in range(0, len(rows), ROWS_AT_ONCE):
            group = slice(first, first + ROWS_AT_ONCE)
            self._whole.combine(rows[group], weights[group, np.newaxis], target, add=add or first > 0)

    def _norm_of(self, vector: DeviceVector) -> float:
        """||v||; v is copied to `image`."""
        if vector is not self.image:
            self._device.assign(self.image, vector)
        return float(np.sqrt(np.real(self._with_image([self.image])[0])))

    def _scale_image(self) -> float:
        """Multiply `image` by a power of two where its square leaves the range of numbers. Returns that power."""
        square, numbers = self._norm_of(self.image) ** 2, np.finfo(self._dtype)
        if numbers.tiny / numbers.eps < square < numbers.max:
            return 1.0
        power = 2.0 ** (numbers.maxexp // 2 * (-1 if square > 1 else 1))
        self._device.assign(self.image, self.sum([self.image], np.array([power])))
        return power

    def _with_image(self, rows: Sequence[DeviceVector]) -> np.ndarray:
        """(v, w) of all rows v with w, `image`, shape (rows,)."""
        found = np.zeros(len(rows), self._wide)
        for first in range(0, len(rows), ROWS_AT_ONCE):
            group = slice(first, first + ROWS_AT_ONCE)
            found[group] = self._products(rows[group], self._panel)[0]
        return found


class LeastSquares:
    """y that minimizes ||g - H y|| while H grows by rows and columns: H C = Q with orthonormal columns, y = C Q^H g.

    weights: C for columns of norm 1. newest: how many columns of Q the latest columns of H have added. condition: of
    these columns, scaled and without what older ones span; inf where they depend on them.
    """

    def __init__(self, dtype: np.dtype) -> None:
        wide = np.result_type(dtype, np.float64)
        self._most_weight = 1 / above_rounding(FLAT, dtype)
        self._norms = np.zeros(0)
        self.images, self.weights = np.zeros((0, 0), wide), np.zeros((0, 0), wide)
        self.condition, self.newest = np.nan, 0

    def grow(self, columns: np.ndarray) -> None:
        """Add columns of H, zeros having been added below the others. Cost: O(m^2) for each."""
        (rows, more), (before, known) = columns.shape, self.weights.shape
        images = np.pad(self.images, ((0, rows - self.images.shape[0]), (0, 0)))
        weights = np.pad(self.weights, ((0, more), (0, 0)))
        largest = np.abs(columns).max(axis=0)
        largest[largest == 0] = 1
        # The square of an entry itself might leave the range of numbers.
        norms = np.linalg.norm(columns / largest, axis=0)
        norms[norms == 0] = 1
        self._norms = np.append(self._norms, largest * norms)
        left, combined = columns / largest / norms, np.zeros((before + more, more), weights.dtype)
        combined[before:] = np.eye(more)
        for again in (False, True):
            for _ in range(2):
                inner = images.conj().T @ left
                left, combined = left - images @ inner, combined - weights @ inner
            vectors, values, turned = np.linalg.svd(left, full_matrices=False)
            combined = combined @ turned.conj().T
            kept = np.linalg.norm(combined, axis=0) < self._most_weight * values
            if not again:
                self.condition = float(values[0] / values[-1]) if kept.size and kept.all() else np.inf
            left, combined = vectors[:, kept], combined[:, kept] / values[kept]
        self.images, self.weights = np.hstack([images, left]), np.hstack([weights, combined])
        self.newest = self.weights.shape[1] - known

    def combinations(self, columns: np.ndarray) -> np.ndarray:
        """Combinations of columns of H whose images are columns of Q, or sums of these. columns: shape (columns of Q,
        any)."""
        return self.weights @ columns / self._norms[:, np.newaxis]

    def solve(self, g: np.ndarray) -> tuple[np.ndarray, float]:
        """y, and the share of ||g||^2 that it removes."""
        inner = self.images.conj().T @ g
        whole = float(np.real(np.vdot(g, g)))
        share = float(np.real(np.vdot(inner, inner))) / whole if whole > 0 else 0.0
        return self.combinations(inner[:, np.newaxis])[:, 0], share
