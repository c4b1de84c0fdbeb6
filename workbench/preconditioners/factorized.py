"""Factorized preconditioners M = (E + L) E^-1 (E + L^H): what IC(0), modified IC, block IC and SSOR have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator, Stencil

FIRST_SHIFT = 1e-3
LAST_SHIFT = 1e3


class Factorized:
    """u = M^-1 r on a device.

    pivots: E, shape (N,), in host memory and double precision; shift: A + shift*D was factorized; notes: sentences
    about what was done differently from what was asked.
    """

    def __init__(self, solve: Any, pivots: np.ndarray, shift: float = 0.0, notes: list[str] | None = None) -> None:
        self._solve = solve
        self.pivots, self.shift, self.notes = pivots, shift, notes or []

    def apply(self, r: Any, u: Any) -> Any:
        """u = M^-1 r; returns (r, u), (u, u) and (r, r). The two may not be the same vector."""
        return self._solve.apply(r, u)

    @property
    def traffic(self) -> int:
        return self._solve.traffic

    @property
    def flops(self) -> int:
        return self._solve.flops


def need_whole_triangles(name: str, device: Device) -> None:
    """Refuse a device on which a recurrence through the whole matrix would keep one work-item busy."""
    if not device.whole_triangles:
        raise InputError(
            f"{name} solves with one triangle of the whole matrix, unknown after unknown, which device {device.name} "
            "cannot share out; use block-ic, or device cpu"
        )


def incomplete_cholesky(name: str, operator: Operator, device: Device, block: int, omega: float = 0.0) -> Factorized:
    """IC(0) of every block of `block` consecutive unknowns, modified with relaxation omega.

    A pivot that is not positive is met by factorizing A + shift*D instead, with the shift doubled until it works
    (Manteuffel 1980). The last pivot of a singular block is about zero and is replaced by its diagonal entry. Both are
    noted. Setup: one sweep over the matrix, blocks in parallel. Raises InputError when no shift up to 1000 helps, or
    when A does not show its entries.
    """
    size = operator.shape[0]
    block = min(block, size)
    width = operator.shape_of_grid[-1] if isinstance(operator, Stencil) else 1
    on_grid = isinstance(operator, Stencil) and block % width == 0
    matrix = operator.to_csr() if not on_grid else None
    if matrix is not None and block < size:
        matrix = _within_blocks(matrix, block)
    shift = 0.0
    while True:
        if matrix is None:
            assert isinstance(operator, Stencil)
            found = device.stencil_pivots(operator.main, operator.lower, operator.strides, block, omega, shift)
            values, (pivots, replaced, failed) = None, found
        else:
            found = device.csr_pivots(matrix.data, matrix.indices, matrix.indptr, block, omega, shift)
            values, pivots, replaced, failed = found
        if failed < 0:
            break
        if shift >= LAST_SHIFT:
            raise InputError(
                f"{name} finds no positive pivot in row {failed}, even with the diagonal taken {1 + shift:.0f} times; "
                "use jacobi"
            )
        shift = 2 * shift or FIRST_SHIFT
    notes = []
    if shift:
        notes.append(f"{name}: a pivot of A was not positive, so A + {shift:g} D was factorized")
    if replaced:
        notes.append(f"{name}: A is singular, {replaced} last pivot(s) of about zero were replaced by the diagonal")
    inverse = device.array(1 / pivots, operator.dtype)
    if matrix is None:
        assert isinstance(operator, Stencil)
        solve = device.stencil_factor(operator.lower, operator.strides, inverse, width, block, 1.0)
    else:
        upper = sparse.triu(sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape), k=1)
        lower = sparse.csr_array(upper.conj().T.tocsr(), dtype=operator.dtype)
        solve = device.csr_factor(lower, inverse, block, 1.0)
    return Factorized(solve, pivots, shift, notes)


def relaxation(operator: Operator, device: Device, omega: float) -> Factorized:
    """SSOR: E = D/omega and L of A itself, times 2 - omega."""
    size = operator.shape[0]
    pivots = np.real(operator.diagonal()).astype(np.float64) / omega
    inverse = device.array(1 / pivots, operator.dtype)
    if isinstance(operator, Stencil):
        width = operator.shape_of_grid[-1]
        solve = device.stencil_factor(operator.lower, operator.strides, inverse, width, size, 2 - omega)
    else:
        lower = sparse.csr_array(sparse.tril(operator.to_csr(), k=-1, format="csr"))
        solve = device.csr_factor(lower, inverse, size, 2 - omega)
    return Factorized(solve, pivots)


def _within_blocks(matrix: sparse.csr_array, block: int) -> sparse.csr_array:
    """The matrix without its couplings between blocks of consecutive unknowns."""
    coordinates = matrix.tocoo()
    rows, columns = coordinates.coords
    kept = rows // block == columns // block
    places = (rows[kept], columns[kept])
    return sparse.csr_array(sparse.coo_array((coordinates.data[kept], places), shape=matrix.shape))
