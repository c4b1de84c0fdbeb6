"""Solvers of the boxes of a Schwarz method, for all boxes at once on a local vector."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import linalg

from workbench.devices.cpu.blas import side_by_side
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device
from workbench.errors import InputError


class Box(NamedTuple):
    """A box: its matrix, and its grid (.., ny, nx), None where the unknowns have none."""

    matrix: sparse.csr_array
    grid: tuple[int, ...] | None


class ExactSolver:
    """A direct solve in every box, on the host.

    Boxes whose matrix is a Kronecker sum, as with constant coefficients, are solved by the eigenvectors of its factors
    (Lynch, Rice and Thomas 1964): 4 n^3 multiply-adds for n^2 unknowns. Others by a sparse LDL^T factorization in
    minimum-degree order. Boxes with equal matrices share a factor.

    precision: dtype of the factors and solves; the residual of each box is scaled by its largest entry before.
    Raises InputError for a box that is not positive definite.
    """

    def __init__(self, boxes: Sequence[Box], device: Device, dtype: np.dtype, precision: np.dtype) -> None:
        self._device = device
        made: dict[bytes, _Factor] = {}
        self._factors = [_factor_of(box, precision, made) for box in boxes]
        self._ends = np.cumsum([0, *(box.matrix.shape[0] for box in boxes)])
        self._precision, self._scaled = precision, precision != dtype
        self._result = np.zeros(self._ends[-1], dtype)
        self.waits = device.name != "cpu"
        separable = sum(isinstance(factor, _Separable) for factor in self._factors)
        place = "" if device.name == "cpu" else ", on the host"
        how = [(separable, "by eigenvectors of a Kronecker sum"), (len(boxes) - separable, "by sparse factorization")]
        counts = " and ".join(f"{count} {by}" for count, by in how if count)
        self.notes = (f"schwarz solves {counts}, with {len(made)} different factors{place}",)

    def apply(self, r: DeviceVector, z: DeviceVector) -> None:
        """z = the solutions for r, boxes side by side."""
        right = self._device.to_host(r)
        target = z if isinstance(z, np.ndarray) else self._result

        def solve(place: int) -> None:
            part = slice(self._ends[place], self._ends[place + 1])
            target[part] = self._solve(self._factors[place], right[part])

        side_by_side(solve, range(len(self._factors)))
        if target is not z:
            self._device.assign(z, self._device.array(target, target.dtype))

    def _solve(self, factor: _Factor, r: np.ndarray) -> np.ndarray:
        if not self._scaled:
            return factor.solve(r)
        largest = np.abs(r).max()
        if not largest:
            return np.zeros_like(r)
        return largest * factor.solve((r / largest).astype(self._precision)).astype(r.dtype)

    @property
    def traffic(self) -> int:
        """Bytes of the factors, each as often as it is used, and of both local vectors."""
        return sum(factor.nbytes for factor in self._factors) + 2 * self._result.nbytes

    @property
    def flops(self) -> int:
        return sum(factor.flops for factor in self._factors)


class _Factor:
    """A factorized box. nbytes, flops: of one solve."""

    nbytes: int
    flops: int

    def solve(self, r: np.ndarray) -> np.ndarray:
        raise TypeError


class _Separable(_Factor):
    """(A_1 (x) I + I (x) A_2 + ..)^-1 for tridiagonal A_k, by their eigenvectors."""

    def __init__(self, parts: Sequence[tuple[np.ndarray, np.ndarray]], precision: np.dtype) -> None:
        pairs = [eigh_tridiagonal(main, below) if main.size > 1 else (main, np.ones((1, 1))) for main, below in parts]
        # Axes in the order of the grid: the last part is the fastest.
        sums = np.zeros(())
        for values, _ in pairs:
            sums = np.add.outer(sums, values)
        if not sums.min() > 0:
            raise InputError(f"schwarz: a box is not positive definite: its smallest eigenvalue is {sums.min():.3g}")
        self._inverse = (1 / sums).astype(precision)
        self._vectors = [vectors.astype(precision) for _, vectors in pairs]
        self.nbytes = self._inverse.nbytes + 2 * sum(vectors.nbytes for vectors in self._vectors)
        self.flops = 4 * sums.size * sum(sums.shape) + sums.size

    def solve(self, r: np.ndarray) -> np.ndarray:
        shape = self._inverse.shape
        found = self._along(r.reshape(shape), transposed=True) * self._inverse
        return self._along(found, transposed=False).ravel()

    def _along(self, values: np.ndarray, *, transposed: bool) -> np.ndarray:
        """The matrices of eigenvectors, or their transposes, applied along every axis."""
        for axis, vectors in enumerate(self._vectors):
            matrix = vectors.T if transposed else vectors
            before, length = math.prod(values.shape[:axis]), values.shape[axis]
            if axis == values.ndim - 1:
                values = (values.reshape(-1, length) @ matrix.T).reshape(values.shape)
            else:
                values = (matrix @ values.reshape(before, length, -1)).reshape(values.shape)
        return values


class _Sparse(_Factor):
    """L D L^T in minimum-degree order, by SuperLU without pivoting."""

    def __init__(self, matrix: sparse.csr_array, precision: np.dtype) -> None:
        options = {"SymmetricMode": True}
        columns = sparse.csc_matrix(matrix, dtype=precision)
        try:
            self._lu = linalg.splu(columns, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:
            raise InputError(f"schwarz: a box cannot be factorized: {error}; A must be positive definite") from None
        pivot = float(np.real(self._lu.U.diagonal()).min())
        if not pivot > 0:
            raise InputError(f"schwarz: a box is not positive definite: a pivot of its factorization is {pivot:.3g}")
        entries = int(self._lu.nnz)
        self.nbytes = entries * (4 + np.dtype(precision).itemsize)
        self.flops = 2 * entries

    def solve(self, r: np.ndarray) -> np.ndarray:
        return self._lu.solve(r)


def _factor_of(box: Box, precision: np.dtype, made: dict[bytes, _Factor]) -> _Factor:
    """The factor of a box, the same one for equal matrices."""
    matrix = box.matrix
    key = b"".join(part.tobytes() for part in (matrix.data, matrix.indices, matrix.indptr)) + repr(box.grid).encode()
    if key not in made:
        parts = _kronecker_sum(box)
        made[key] = _Separable(parts, precision) if parts else _Sparse(matrix, precision)
    return made[key]


def _kronecker_sum(box: Box) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Diagonal and subdiagonal of each factor, slowest axis first, of a box that is a Kronecker sum of them exactly;
    else None."""
    matrix, grid = box.matrix, box.grid
    if grid is None or matrix.dtype.kind == "c":
        return None
    main = matrix.diagonal().reshape(grid)
    parts, sums, strides = [], np.zeros(()), np.cumprod([1, *grid[:0:-1]])[::-1]
    for axis, points in enumerate(grid):
        lower = np.zeros(main.size)
        stride = int(strides[axis])
        lower[stride:] = matrix.diagonal(-stride)
        lines = np.moveaxis(lower.reshape(grid), axis, 0).reshape(points, -1)
        along = np.moveaxis(main, axis, 0).reshape(points, -1)[:, 0]
        if (lines != lines[:, :1]).any():
            return None
        # The corner belongs to the first factor alone.
        parts.append((along - (main.flat[0] if axis else 0), lines[1:, 0]))
        sums = np.add.outer(sums, parts[-1][0])
    expected = main.size + 2 * sum((points - 1) * main.size // points for points in grid)
    return parts if (sums == main).all() and matrix.nnz <= expected else None


class SweepSolver:
    """Sweeps of Jacobi's method in every box from zero, z = z + D^-1 (r - A z), all boxes in one launch per pass.

    Source: Chen, section 3 (5 M N sweeps).
    """

    def __init__(self, matrix: Any, device: Device, sweeps: int) -> None:
        size, dtype = matrix.shape[0], matrix.dtype
        self._bound, self._sweeps = matrix.bind(device), sweeps
        vectors = {
            "r": device.zeros(size, dtype),
            "z": device.zeros(size, dtype),
            "e": device.array(1 / matrix.diagonal(), dtype),
        }
        self._space = device.workspace(size, dtype, vectors=vectors, operators={"A": self._bound})
        first = "z = e*r"
        sweep = "s = A(z)\nz = z + e*(r - s)"
        self._first, self._sweep = self._space.lines(first, sweep)

    def apply(self, r: DeviceVector, z: DeviceVector) -> None:
        """z = the result of all sweeps."""
        self._space.rebind({"r": r, "z": z})
        self._first.bind()
        self._sweep.bind()
        self._first()
        for _ in range(self._sweeps - 1):
            self._sweep()

    @property
    def traffic(self) -> int:
        return self._first.bytes + (self._sweeps - 1) * self._sweep.bytes

    @property
    def flops(self) -> int:
        return self._first.flops + (self._sweeps - 1) * self._sweep.flops
