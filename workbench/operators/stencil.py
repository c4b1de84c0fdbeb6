"""Matrix-free symmetric nearest-neighbour stencils on a box grid: the diagonal and the lower faces, nothing else."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from scipy import sparse

from workbench.errors import InputError
from workbench.operators.base import BoundOperator


@dataclasses.dataclass(frozen=True, eq=False)
class Stencil:
    """A 3-, 5- or 7-point operator on a box of cells in 1, 2 or 3 dimensions.

    shape_of_grid: cells per side, (ny, nx) or (nz, ny, nx); unknown i = x + nx*(y + ny*z).
    main: the diagonal, shape (N,).
    lower: one array of shape (N,) per dimension, fastest (x) first; lower[k][i] = A[i, i - stride_k], zero where that
        neighbour does not exist. The upper half is the same array shifted, so 2D stores 3 arrays and 3D stores 4.

    One product reads dimensions + 2 arrays of N words and writes one. Raises InputError for arrays of a wrong shape, for
    values that are not finite, and for a coupling across the edge of the box.
    """

    shape_of_grid: tuple[int, ...]
    main: np.ndarray
    lower: tuple[np.ndarray, ...]

    def __post_init__(self) -> None:
        count = math.prod(self.shape_of_grid)
        if count == 0:
            raise InputError(f"a stencil needs at least one cell per side, got the grid {self.shape_of_grid}")
        if len(self.lower) != len(self.shape_of_grid):
            raise InputError(
                f"a grid of {len(self.shape_of_grid)} dimensions needs as many lower arrays, got {len(self.lower)}"
            )
        for name, values in (("main", self.main), *((f"lower[{k}]", low) for k, low in enumerate(self.lower))):
            if values.shape != (count,) or values.dtype != self.main.dtype:
                raise InputError(
                    f"stencil array {name} must have shape ({count},) and dtype {self.main.dtype}, "
                    f"got {values.shape} and {values.dtype}"
                )
            if not np.isfinite(values).all():
                raise InputError(f"stencil array {name} holds NaN or infinity at unknown {_first_bad(values)}")
        for k, low in enumerate(self.lower):
            edge = np.moveaxis(low.reshape(self.shape_of_grid), -1 - k, 0)[0]
            if np.any(edge):
                raise InputError(
                    f"stencil array lower[{k}] couples across the edge of the box; those entries must be 0"
                )

    @property
    def shape(self) -> tuple[int, int]:
        return self.main.size, self.main.size

    @property
    def dtype(self) -> np.dtype:
        return self.main.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance in unknowns to the neighbour in x, y, z."""
        sizes = self.shape_of_grid[::-1]
        return tuple(math.prod(sizes[:k]) for k in range(len(sizes)))

    @property
    def nnz(self) -> int:
        """Non-zero entries of the assembled matrix, zero couplings not counted."""
        return int(np.count_nonzero(self.main) + 2 * sum(np.count_nonzero(low) for low in self.lower))

    def diagonal(self) -> np.ndarray:
        return self.main

    def to_csr(self) -> sparse.csr_array:
        lowers = [low[stride:] for low, stride in zip(self.lower, self.strides, strict=True) if stride < self.main.size]
        strides = [stride for stride in self.strides if stride < self.main.size]
        bands = [self.main, *lowers, *(low.conj() for low in lowers)]
        offsets = [0, *(-stride for stride in strides), *strides]
        # A side of one cell gives two equal strides; summing duplicates in COO form keeps that case right.
        assembled = sparse.dia_array(self.shape, dtype=self.dtype).tocsr()
        for band, offset in zip(bands, offsets, strict=True):
            assembled = assembled + sparse.diags_array([band], offsets=[offset], shape=self.shape).tocsr()
        assembled.eliminate_zeros()
        return sparse.csr_array(assembled)

    def bind(self, device: Any) -> BoundOperator:
        return device.stencil(self.main, self.lower, self.strides)


def _first_bad(values: np.ndarray) -> int:
    return int(np.flatnonzero(~np.isfinite(values))[0])
