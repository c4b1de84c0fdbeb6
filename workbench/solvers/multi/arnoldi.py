"""Block Arnoldi: an orthonormal basis V on the device that grows by the images of terms, and least squares in it.

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
from workbench.solvers.multi.basis import above_rounding, orthonormal

if TYPE_CHECKING:
    from workbench.devices.protocol import Device

SPANNED = 1e-14
"""A vector is in the span of others where less than this times its norm is left of it."""
ALIKE = 1e-12
"""New vectors depend on one another where an eigenvalue of their Gram matrix, of unit diagonal, is below it."""
FLAT = 1e-10
"""A column of H depends on others where a singular value of what is left of it, scaled, is below it."""


class ArnoldiBasis:
    """Orthonormal vectors, and a panel of `width` vectors to be added with another one behind them, r.

    inner: V^H r after the latest `extend`, shape (m,).
    """

    def __init__(self, device: Device, size: int, dtype: np.dtype, width: int) -> None:
        self._device, self._size, self._dtype, self._width = device, size, np.dtype(dtype), width
        whole = Pieces(size, [range(size)])
        self._whole = device.pieces(whole, dtype)
        everywhere = sparse.csc_array(np.ones((size, width), np.int32))
        self._products = self._whole.products(Couplings(whole, everywhere, np.arange(width)))
        self.panel = self._whole.panel(width + 1)
        self._spanned, self._alike = (above_rounding(bound, self._dtype) for bound in (SPANNED, ALIKE))
        self._wide = np.result_type(dtype, np.float64)
        self.vectors: list[DeviceVector] = []
        self.inner = np.zeros(0, self._wide)

    def begin(self, r: DeviceVector) -> None:
        """The only vector is r/||r|| from now on; zero for r = 0."""
        self._device.assign(self.panel[-1], r)
        square = float(np.real(self._with_panel([r])[0, -1]))
        self.vectors = [self.sum([r], np.array([1 / np.sqrt(square) if square > 0 else 0.0]))]
        self.inner = np.array([np.sqrt(square)], self._wide)

    def extend(self) -> np.ndarray:
        """Add what the panel's vectors W have beyond the basis. Returns H with W = V H, shape (m, width), m with the
        new ones.

        Gram-Schmidt by blocks, twice; vectors that depend on others add none. Cost: width + 1 passes over the basis,
        twice.
        """
        known, width = len(self.vectors), self._width
        coefficients, factor, fresh = np.zeros((known, width), self._wide), np.eye(width, dtype=self._wide), []
        for again in (False, True):
            count = len(fresh) if again else width
            found = self._with_panel(self.vectors)
            inner, coefficients = found[:, -1], coefficients + found[:, :count] @ factor
            for column in range(count):
                self._add(self.vectors, -found[:, column], self.panel[column], add=True)
            gram = self._with_panel(self.panel[:count])[:, :count]
            left = np.real(np.diag(gram)).copy()
            if not again:
                # A vector in the span of the basis is left out by its part of zero.
                whole = np.sum(np.abs(found[:, :count]) ** 2, axis=0) + left
                left[left <= self._spanned**2 * whole] = 0
            basis = orthonormal(gram, left, self._alike).basis
            factor = basis.conj().T @ gram @ factor
            fresh = [self.sum(self.panel[:count], column) for column in basis.T]
            for place, vector in enumerate(fresh):
                self._device.assign(self.panel[place], vector)
        self.vectors += fresh
        newest = self._with_panel(fresh)[:, -1] if fresh else np.zeros(0, self._wide)
        self.inner = np.concatenate([inner, newest])
        return np.vstack([coefficients, factor])

    def sum(self, rows: Sequence[DeviceVector], weights: np.ndarray) -> DeviceVector:
        """The weighted sum of vectors, as a new one."""
        target = self._device.zeros(self._size, self._dtype)
        self._add(rows, weights, target, add=False)
        return target

    def _add(self, rows: Sequence[DeviceVector], weights: np.ndarray, target: DeviceVector, *, add: bool) -> None:
        for first in range(0, len(rows), ROWS_AT_ONCE):
            group = slice(first, first + ROWS_AT_ONCE)
            self._whole.combine(rows[group], weights[group, np.newaxis], target, add=add or first > 0)

    def _with_panel(self, rows: Sequence[DeviceVector]) -> np.ndarray:
        """(v, w) of all rows v with the vectors w of the panel, shape (rows, width + 1)."""
        found = np.zeros((len(rows), self._width + 1), self._wide)
        for first in range(0, len(rows), ROWS_AT_ONCE):
            group = slice(first, first + ROWS_AT_ONCE)
            found[group] = self._products(rows[group], self.panel).T
        return found


class LeastSquares:
    """y that minimizes ||g - H y|| while H grows by rows and columns: H C = Q with orthonormal columns, y = C Q^H g.

    condition: that of the newest columns of H, scaled and without what older ones span; inf where they depend on them.
    """

    def __init__(self, dtype: np.dtype) -> None:
        wide = np.result_type(dtype, np.float64)
        self._flat = above_rounding(FLAT, dtype)
        self.images, self.weights = np.zeros((0, 0), wide), np.zeros((0, 0), wide)
        self.condition, self.newest = np.nan, 0

    def grow(self, columns: np.ndarray) -> None:
        """Add columns of H, zeros having been added below the others. Cost: O(m^2) for each."""
        (rows, more), (before, known) = columns.shape, self.weights.shape
        images = np.pad(self.images, ((0, rows - self.images.shape[0]), (0, 0)))
        weights = np.pad(self.weights, ((0, more), (0, 0)))
        norms = np.linalg.norm(columns, axis=0)
        used = np.flatnonzero(norms > 0)
        left, combined = columns[:, used] / norms[used], np.zeros((before + more, used.size), weights.dtype)
        combined[before + used, np.arange(used.size)] = 1 / norms[used]
        for again in (False, True):
            for _ in range(2):
                inner = images.conj().T @ left
                left, combined = left - images @ inner, combined - weights @ inner
            vectors, values, turned = np.linalg.svd(left, full_matrices=False)
            kept = values > self._flat
            if not again:
                self.condition = float(values[0] / values[-1]) if kept.size and kept.all() else np.inf
            left, combined = vectors[:, kept], combined @ turned[kept].conj().T / values[kept]
        self.images, self.weights = np.hstack([images, left]), np.hstack([weights, combined])
        self.newest = self.weights.shape[1] - known

    def solve(self, g: np.ndarray) -> tuple[np.ndarray, float]:
        """y, and the share of ||g||^2 that it removes."""
        inner = self.images.conj().T @ g
        whole = float(np.real(np.vdot(g, g)))
        return self.weights @ inner, float(np.real(np.vdot(inner, inner))) / whole if whole > 0 else 0.0
