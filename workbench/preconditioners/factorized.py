"""Factorized preconditioners M = (E + L) E^-1 (E + L^H), shared by IC by levels and thresholds, its blocks and SSOR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from workbench.devices.host.factorization import csr_pivots, lower_factor, stencil_pivots
from workbench.devices.host.pattern import colours_of, with_fill
from workbench.devices.host.threshold import Dropping, threshold_factor
from workbench.devices.operator_protocols import DeviceVector, Dots, KernelCalls, OperatorTraits
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import BoundOperator, Operator, Stencil, check_diagonal, stored_bytes
from workbench.process import limits

Factors = TypeVar("Factors", bound=tuple[Any, ...])
FIRST_SHIFT = 1e-3
LAST_SHIFT = 1e3
"""Diagonal shifts tried after a breakdown, relative to D: from the first to the last, doubling."""
MOST_COLOURS = 256
COLOUR_DISTANCE = 2
"""Unknowns within as many couplings have different colours where fill is found by magnitude: fill of one level is then
between colours, and more levels may not be."""


class Factorized(OperatorTraits):
    """u = M^-1 r by two triangular solves on a device.

    pivots: E, shape (N,), in host memory and double precision.
    shift: A + shift*D was factorized.
    notes: how the factorization deviates from the requested one, in sentences.
    """

    def __init__(
        self, solve: BoundOperator, pivots: np.ndarray, shift: float = 0.0, notes: list[str] | None = None
    ) -> None:
        self._solve = solve
        self.fused_dots = solve.fused_dots
        self.pivots, self.shift, self.notes = pivots, shift, notes or []

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = M^-1 r and dot products. r and u must be distinct vectors."""
        return self._solve.apply(r, u, *wanted)

    def calls(self, x: DeviceVector, out: DeviceVector) -> KernelCalls | None:
        return self._solve.calls(x, out) if isinstance(self._solve, OperatorTraits) else None

    @property
    def traffic(self) -> int:
        return self._solve.traffic

    @property
    def flops(self) -> int:
        return self._solve.flops


def require_serial_triangles(name: str, device: Device, parallel: str = "ic:ordering=colours") -> None:
    """Raise InputError for a device on which a triangular solve with the whole matrix would occupy one work-item.

    parallel: a factorization in its place.
    """
    if not device.whole_triangles:
        raise InputError(
            f"preconditioner {name} solves with a triangle of the whole matrix, one unknown after another, which "
            f"device {device.name} cannot do in parallel; use block-ic, {parallel}, or device cpu",
            changes={"preconditioner": "block-ic"},
        )


def filled_cholesky(name: str, operator: Operator, device: Device, fill: int) -> Factorized:
    """IC with the fill of levels up to `fill`, in the natural ordering; pivots are those of `incomplete_cholesky`."""
    matrix, size = operator.to_csr(), operator.shape[0]
    filled = with_fill(matrix, fill)
    lower, pivots, shift, notes = _csr_factors(name, filled, np.array([0, size]), device, 0.0)
    solve = device.csr_factor(lower, device.array(1 / pivots, operator.dtype), size, 1.0)
    return Factorized(solve, pivots, shift, [*notes, *_fill_notes(name, matrix, filled.nnz)])


def coloured_cholesky(name: str, operator: Operator, device: Device, fill: int) -> Factorized:
    """IC with the fill of levels up to `fill`, in the order of colours: an unknown and those within fill + 1 couplings
    have different ones, so that the factor couples no two of a colour.

    Raises InputError if that takes more than `MOST_COLOURS`, or no shift helps.
    """
    matrix = operator.to_csr()
    colours, members, bounds = _in_colours(name, matrix, fill + 1, "ordering natural, or less fill")
    size = colours.size
    filled = with_fill(sparse.csr_array(matrix[members][:, members]), fill)
    lower, sorted_pivots, shift, notes = _csr_factors(name, filled, np.array([0, size]), device, 0.0)
    solve = device.colour_factor(lower, 1 / sorted_pivots, members, bounds)
    notes = [*notes, _colour_note(name, bounds), *_fill_notes(name, matrix, filled.nnz)]
    return Factorized(solve, _unsorted(sorted_pivots, members), shift, notes)


def threshold_cholesky(
    name: str, operator: Operator, device: Device, threshold: float, extra: int, *, by_colours: bool
) -> Factorized:
    """IC with dual dropping: see `Dropping`; pivots are those of `incomplete_cholesky`.

    by_colours: in the order of colours, those of `COLOUR_DISTANCE`, without fill between unknowns of a colour.

    Raises InputError where the factor does not fit the memory, for too many colours, or if no shift helps.
    """
    matrix, colours = operator.to_csr(), np.empty(0, np.int64)
    members, bounds, ordered = np.arange(matrix.shape[0]), np.empty(0, np.int64), matrix
    if by_colours:
        colours, members, bounds = _in_colours(
            name, matrix, COLOUR_DISTANCE, "ordering natural, or ic:ordering=colours"
        )
        colours, ordered = colours[members], sparse.csr_array(matrix[members][:, members])
    ordered.sort_indices()
    dropping, free = Dropping(threshold, extra, colours), device.available_memory(stored_bytes(operator))
    room = limits.memory()[1] if free is None else min(free, limits.memory()[1])
    found, shift = _shifted_until_positive(name, lambda shift: threshold_factor(ordered, dropping, shift, room), device)
    data, *pattern = lower_factor(found.data, found.indices, found.indptr)
    lower = sparse.csr_array((data.astype(matrix.dtype, copy=False), *pattern), shape=matrix.shape)
    notes = [*_notes(name, shift, found.replaced), *_fill_notes(name, matrix, 2 * lower.nnz + lower.shape[0])]
    if by_colours:
        solve = device.colour_factor(lower, 1 / found.pivots, members, bounds)
        notes.append(_colour_note(name, bounds))
    else:
        solve = device.csr_factor(lower, device.array(1 / found.pivots, operator.dtype), matrix.shape[0], 1.0)
    return Factorized(solve, _unsorted(found.pivots, members), shift, notes)


def _in_colours(
    name: str, matrix: sparse.csr_array, distance: int, way_out: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The colour of each unknown, none twice within that number of couplings; the unknowns by colours, and the first
    of each colour among them, and N. Raises InputError for more than `MOST_COLOURS`."""
    colours = colours_of(matrix, distance)
    sizes = np.bincount(colours)
    if sizes.size > MOST_COLOURS:
        raise InputError(
            f"{name} needs {sizes.size} colours within {distance} coupling(s), and takes at most {MOST_COLOURS}, each "
            f"of which is a launch; use {way_out}",
            changes={"preconditioner": name},
        )
    return colours, np.argsort(colours, kind="stable"), np.append(0, np.cumsum(sizes))


def _unsorted(values: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Values in the order of the unknowns. members: the unknown of each value."""
    found = np.empty_like(values)
    found[members] = values
    return found


def _colour_note(name: str, bounds: np.ndarray) -> str:
    """A sentence on the steps of a solve. bounds: the first row of each colour, and N."""
    count = bounds.size - 1
    return f"{name}: {count} colours, so that a solve with a triangle is {count} parallel steps"


def _fill_notes(name: str, matrix: sparse.csr_array, entries: int) -> list[str]:
    """A sentence on the entries of both triangles and the diagonal of the factor; none where A has as many."""
    size = matrix.shape[0]
    if entries == matrix.nnz or matrix.nnz == size:
        return []
    share = (entries - size) / (matrix.nnz - size)
    return [f"{name}: a triangle of the factor has {share:.2f} times the entries of that of A"]


def incomplete_cholesky(
    name: str, operator: Operator, device: Device, block: int, omega: float = 0.0, labels: np.ndarray | None = None
) -> Factorized:
    """IC(0) of each diagonal block of `block` consecutive unknowns, modified with relaxation omega.

    labels: the block 0, 1, .. of each unknown, shape (N,), where blocks are not of consecutive ones; within a block the
    order of the unknowns stays.

    After a pivot that is not positive, A + shift*D is factorized instead, with the shift doubled until all pivots are
    positive (Manteuffel 1980). The last pivot of a singular block is about zero and is replaced by its diagonal entry.
    Both are noted.

    Cost of the setup: one pass over the matrix per shift, blocks in parallel.

    Raises InputError if no shift up to 1000 helps, or if the entries of A are not available.
    """
    block = min(block, operator.shape[0])
    if labels is not None:
        return _parts_cholesky(name, operator, device, labels, omega)
    if isinstance(operator, Stencil) and block % operator.grid[-1] == 0:
        return _stencil_cholesky(name, operator, device, block, omega)
    return _csr_cholesky(name, operator, device, block, omega)


def _stencil_cholesky(name: str, operator: Stencil, device: Device, block: int, omega: float) -> Factorized:
    """IC(0) of blocks of whole grid rows, which stores the pivots alone."""

    def factorize(shift: float) -> tuple[np.ndarray, int, int]:
        return stencil_pivots(operator.main, operator.lower, operator.strides, block, omega, shift)

    (pivots, replaced, _), shift = _shifted_until_positive(name, factorize, device)
    inverse = device.array(1 / pivots, operator.dtype)
    solve = device.stencil_factor(operator.lower, operator.strides, inverse, operator.grid[-1], block, 1.0)
    return Factorized(solve, pivots, shift, _notes(name, shift, replaced))


def _csr_cholesky(name: str, operator: Operator, device: Device, block: int, omega: float) -> Factorized:
    """IC(0) in CSR format."""
    matrix, size = operator.to_csr(), operator.shape[0]
    if block < size:
        matrix = _block_diagonal_part(matrix, np.arange(size) // block)
    bounds = np.minimum(block * np.arange(-(-size // block) + 1), size)
    lower, pivots, shift, notes = _csr_factors(name, matrix, bounds, device, omega)
    inverse = device.array(1 / pivots, operator.dtype)
    return Factorized(device.csr_factor(lower, inverse, block, 1.0), pivots, shift, notes)


def _parts_cholesky(name: str, operator: Operator, device: Device, labels: np.ndarray, omega: float) -> Factorized:
    """IC(0) of blocks of any unknowns, those of a block in their order."""
    members = np.argsort(labels, kind="stable").astype(np.int32)
    bounds, size = np.append(0, np.cumsum(np.bincount(labels))), operator.shape[0]
    # Without couplings between them, blocks are factorized as one.
    matrix, whole = _block_diagonal_part(operator.to_csr(), labels), np.array([0, size])
    lower, pivots, shift, notes = _csr_factors(name, matrix, whole, device, omega)
    inverse = device.array(1 / pivots, operator.dtype)
    return Factorized(device.csr_factor(lower, inverse, size, 1.0, (members, bounds)), pivots, shift, notes)


def _csr_factors(
    name: str, matrix: sparse.csr_array, bounds: np.ndarray, device: Device, omega: float
) -> tuple[sparse.csr_array, np.ndarray, float, list[str]]:
    """L, E, the shift and notes for a matrix without couplings between blocks. bounds: their first rows, and N."""

    def factorize(shift: float) -> tuple[np.ndarray, np.ndarray, int, int]:
        return csr_pivots(matrix.data, matrix.indices, matrix.indptr, bounds, omega, shift)

    (values, pivots, replaced, _), shift = _shifted_until_positive(name, factorize, device)
    data, *pattern = lower_factor(values, matrix.indices, matrix.indptr)
    lower = sparse.csr_array((data.astype(matrix.dtype, copy=False), *pattern), shape=matrix.shape)
    return lower, pivots, shift, _notes(name, shift, replaced)


def _shifted_until_positive(name: str, factorize: Callable[[float], Factors], device: Device) -> tuple[Factors, float]:
    """The first factorization with positive pivots on all ranks, and its shift. factorize: returns the failed row or -1
    last."""
    shift = 0.0
    while (failed := device.largest((factors := factorize(shift))[-1])) >= 0:
        if shift >= LAST_SHIFT:
            raise InputError(
                f"{name} finds no positive pivot in row {failed}, even with the diagonal multiplied by "
                f"{1 + shift:.0f}; use jacobi"
            )
        shift = 2 * shift or FIRST_SHIFT
    return factors, shift


def _notes(name: str, shift: float, replaced: int) -> list[str]:
    notes = []
    if shift:
        notes.append(f"{name}: a pivot of A was not positive, so A + {shift:g} D was factorized")
    if replaced:
        notes.append(f"{name}: A is singular, {replaced} last pivot(s) of about zero were replaced by the diagonal")
    return notes


def ssor_factors(operator: Operator, device: Device, omega: float) -> Factorized:
    """SSOR: E = D/omega, L the strictly lower triangle of A, and M^-1 scaled by 2 - omega."""
    size, matrix = operator.shape[0], None if isinstance(operator, Stencil) else operator.to_csr()
    diagonal = operator.diagonal()
    check_diagonal(diagonal)
    pivots = np.real(diagonal).astype(np.float64) / omega
    inverse = device.array(1 / pivots, operator.dtype)
    if isinstance(operator, Stencil):
        width = operator.grid[-1]
        solve = device.stencil_factor(operator.lower, operator.strides, inverse, width, size, 2 - omega)
    else:
        lower = sparse.csr_array(sparse.tril(matrix, k=-1, format="csr"))
        solve = device.csr_factor(lower, inverse, size, 2 - omega)
    return Factorized(solve, pivots)


def _block_diagonal_part(matrix: sparse.csr_array, labels: np.ndarray) -> sparse.csr_array:
    """The matrix without its couplings between blocks. labels: the block of each unknown, shape (N,)."""
    coordinates = matrix.tocoo()
    rows, columns = coordinates.coords
    inside = labels[rows] == labels[columns]
    places = (rows[inside], columns[inside])
    return sparse.csr_array(sparse.coo_array((coordinates.data[inside], places), shape=matrix.shape))
