"""The levels of a coarse system from E in device memory: parts that grow in rounds, Galerkin sums over nested parts,
and the last one's inverse.

The host sees sizes, extremes, and a diagonal and sums of rows of the last level.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.devices.accelerator.deflation import CsrVectors
from workbench.devices.accelerator.parts import SINGLE, Merge
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.scan import Sorts, count_at, running_sums, scan, scan_kernels
from workbench.devices.kernels import nesting as kernels
from workbench.devices.kernels import scan as numbering
from workbench.devices.kernels.parameters import places_of
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.ops.levels import numbered_labels

if TYPE_CHECKING:
    from workbench.devices.accelerator.functions import Prepared
    from workbench.devices.accelerator.launcher import Launcher

DOUBLE = np.dtype(np.float64)
"""The dtype of E and of all sums."""
MOST_ENTRIES = 512
"""Entries of a row, at most, of a matrix whose parts a device grows: a work-item adds all rows of a part, and searches
those that it has for every entry."""
SeedsOf = Callable[[CsrVectors, int, float], tuple[DeviceVector, int]]
"""The seed of the part of each row, and the number of rows without one."""
BOUND_STEPS = 3
"""Steps that improve a bound of the spectrum."""


@dataclasses.dataclass
class _Rows:
    """A matrix of n rows that need not lie one behind the other, the diagonal entry of a row first.

    begins: where rows begin. ends: where they would end one behind the other, and `entries`. scale: D^-1/2. longest:
    entries of a row, at most.
    """

    data: Vector
    columns: Vector
    begins: Vector
    ends: Vector
    entries: int
    scale: Vector
    longest: int

    @property
    def count(self) -> int:
        return self.begins.size

    @property
    def arrays(self) -> tuple[Vector, ...]:
        return self.data, self.columns, self.begins, self.ends


class _Kernels:
    """Kernels that are always needed, requested at once so that they are compiled side by side: the host reads the
    result of one before it launches the next. components: a part that nothing couples to others may be one of a
    singular matrix, see `kernels.galerkin`."""

    def __init__(self, device: Launcher, *, components: bool) -> None:
        of = (kernels.order, kernels.first, kernels.dense)
        self.order, self.first, self.dense = (device.function(each, DOUBLE) for each in of)
        self.galerkin = device.function(kernels.galerkin, DOUBLE, components=components)
        scan_kernels(device, _children_at, [np.int32, np.int32])
        scan_kernels(device, _length_at, [np.int64, np.int32], np.int64)
        scan_kernels(device, count_at, [np.int32], np.int64)


@dataclasses.dataclass(frozen=True)
class NestedLevel:
    """The arrays of a `coarse.Level`, and the largest sum of a row of |D^-1 E|."""

    data: Vector
    indices: Vector
    indptr: Vector
    parents: Vector
    starts: Vector
    weights: Vector
    bound: float


@dataclasses.dataclass(frozen=True)
class Nested:
    """The arrays of `coarse.Levels`; bottom: the last matrix, with unit diagonal, in double precision.

    null: the unit vector that it may map to zero, shape (rows of it,). residue: the largest entry of that product.
    singular: E maps the constants to zero but for this, relative to the largest sum of a row of |E|.
    """

    levels: tuple[NestedLevel, ...]
    order: Vector
    scale: Vector
    bottom: Vector
    null: np.ndarray
    residue: float
    singular: float


class GrownParts(NamedTuple):
    """Parts of the rows of a matrix, and of these, as merges from one level to the next.

    merges: finest first. parts: of the last. most: rows of a part, at most.
    """

    merges: list[Merge]
    parts: int
    most: int


def nested(
    device: Launcher,
    csr: CsrVectors,
    merges: Sequence[Merge],
    last: int,
    divisor: float,
    fits_single: Callable[[float, float], bool],
    usual: float | None = None,
    *,
    components: bool = False,
) -> Nested | None:
    """The levels of E over a divisor, in single precision where that fits the least and the largest entry of its
    diagonal; None for a diagonal that is not positive, where nothing is merged, and for an E that is not in
    double precision.

    csr: the diagonal entry of a row first. last: parts of the last level. usual: sums of rows of |D^-1 E| from which a
    better bound is sought, None for never. components: as in `_Kernels`. Cost: reads E three times.
    """
    if csr[0].dtype != DOUBLE or not merges:
        return None
    prepared = _Kernels(device, components=components)
    order, places, groups = _ordered(device, prepared, merges, last)
    rows, (least, most, sums, size) = _first(device, prepared, csr, order, places)
    if not least > 0:
        return None
    stored = SINGLE if fits_single(least / divisor, most / divisor) else DOUBLE
    levels, scales = list[NestedLevel](), list[Vector]()
    for starts, parents in groups:
        below, least = _summed(device, prepared, rows, starts, parents)
        if not least > 0:
            return None
        level, scale = _scaled(device, rows, starts, parents, below, divisor, stored)
        if usual is not None and level.bound > usual:
            level = dataclasses.replace(level, bound=_better_bound(device, rows, level.bound))
        levels.append(level)
        scales.append(scale)
        rows = below
    return Nested(tuple(levels), order, scales[0], *_dense(device, prepared, rows), sums / size)


def inverse(device: Any, found: Nested, null_tolerance: float) -> Vector | None:
    """The inverse of the bottom in the precision of the levels, on the complement of its null vector where it has one;
    None where the device has no library for it, and where that finds the matrix not positive definite."""
    if not device.inverts:
        return None
    matrix, count = found.bottom, found.null.size
    singular, stored = found.residue <= null_tolerance, found.levels[0].data.dtype
    null = device.array(found.null, DOUBLE)

    numbers = (null, np.float64(-1.0 if singular else 0.0), np.int64(count))
    if singular:
        shift = device.function(kernels.shift, DOUBLE)
        shift.over(count * count, matrix, null, np.float64(1), np.int64(count))
    made = device.empty((count, count), DOUBLE)
    if not device.runtime.cholesky_inverse(matrix.handle, made.handle, count):
        return None
    target = device.empty((count, count), stored)
    device.function(kernels.shifted, stored).over(count * count, made, *numbers, target)
    return target


def diagonal_first(device: Launcher, matrix: Sequence[np.ndarray | Vector]) -> CsrVectors:
    """A CSR matrix whose rows all have a diagonal entry, in double precision on the device, the diagonal entry of a row
    first. matrix: data, indices and indptr, on the host or the device. Cost: a copy of it."""
    data, indices, indptr = map(device.to_device, matrix)
    entries, columns = device.empty(data.shape, DOUBLE), device.empty(indices.shape, np.int32)
    ends = device.empty(indptr.shape, np.int64)
    of = {"indices": places_of(indices.dtype), "starts": places_of(indptr.dtype)}
    kernel = device.function(kernels.diagonal_first, data.dtype, annotations=of)
    kernel.over(indptr.size - 1, data, indices, indptr, entries, columns, ends)
    return entries, columns, ends


def grown_parts(
    device: Launcher,
    csr: CsrVectors,
    sizes: tuple[tuple[int, float], tuple[int, float]],
    bottom: int,
    least: float,
    seeds_of: SeedsOf,
) -> GrownParts | None:
    """Parts of the rows of a matrix, and parts of these until they are `bottom` at most, or no less than `least` of
    those before; None where a row has more than `MOST_ENTRIES`.

    csr: the diagonal entry of a row first. sizes: rows of a part and the threshold of strong couplings, of the first
    parts and of all others. seeds_of: as `ops.levels.labels_in_rounds` on the device. Cost: a read of each level for
    every round of growth, and about six more.
    """
    prepared, sorts = _Kernels(device, components=True), Sorts(device)
    closed, numbered = (device.function(each, DOUBLE) for each in (kernels.closed, numbering.numbered))
    scan_kernels(device, numbering.is_seed_of_itself, [DOUBLE])
    merges, rows, widest = list[Merge](), csr[2].size - 1, 0
    while rows > bottom:
        size, threshold = sizes[min(len(merges), 1)]
        labels, count = _labels(device, seeds_of, numbered, csr, size, threshold)
        if count > least * rows:
            break
        rows_of = sorts.grouped(labels, count)
        merges.append(Merge(labels, rows_of.ranks, rows_of.sizes))
        widest = max(widest, rows_of.most)
        in_order, _ = _first(device, prepared, csr, rows_of.order, rows_of.places)
        if in_order.longest > MOST_ENTRIES:
            return None
        below, _ = _summed(device, prepared, in_order, rows_of.starts, rows_of.parents)
        entries, columns = device.empty((below.entries,), DOUBLE), device.empty((below.entries,), np.int32)
        closed.over(count, below.arrays, entries, columns)
        csr, rows = (entries, columns, below.ends), count
    return GrownParts(merges, rows, widest)


def _labels(
    device: Launcher, seeds_of: SeedsOf, numbered: Prepared, csr: CsrVectors, size: int, threshold: float
) -> tuple[Vector, int]:
    """The part of each row, int32, and their number, as `ops.levels.parts_in_rounds` has them."""
    seeds, left = seeds_of(csr, size, threshold)
    if left:
        data, indices, indptr = map(device.to_host, csr)
        found, count = numbered_labels(device.to_host(seeds), (data, indices, indptr), size, threshold)
        return device.array(found, np.int32), count
    before, count, *_ = scan(device, numbering.is_seed_of_itself, [seeds], seeds.size)
    labels = device.empty(seeds.shape, np.int32)
    numbered.over(seeds.size, seeds, before, labels)
    return labels, count


def _ordered(
    device: Launcher, prepared: _Kernels, merges: Sequence[Merge], last: int
) -> tuple[Vector, Vector, list[tuple[Vector, Vector]]]:
    """The part at each row of the first level and its inverse, such that the parts of a parent are consecutive on every
    level; for each level the first row of each parent, and the parent of each row."""
    order = places = device.array(np.arange(last, dtype=np.int32), np.int32)
    groups = []
    for merge in reversed(merges):
        starts, _ = running_sums(device, _children_at, [merge.children, order], order.size)
        above, (order, places, rows) = places, (device.empty(merge.parents.shape, np.int32) for _ in range(3))
        prepared.order.over(order.size, merge.parents, merge.ranks, above, starts, order, places, rows)
        groups.insert(0, (starts, rows))
    return order, places, groups


def _first(
    device: Launcher, prepared: _Kernels, csr: CsrVectors, order: Vector, places: Vector
) -> tuple[_Rows, np.ndarray]:
    """E in the order of the first level; the extremes of its diagonal, the largest |sum of a row|, and of |entries|."""
    data, indices, indptr = csr
    count = order.size
    ends, entries, _, longest = scan(device, _length_at, [indptr, order], count, np.int64)
    begins, columns = device.empty((count,), np.int64), device.empty(indices.shape, np.int32)
    scale, room = device.empty((count,), DOUBLE), device.empty((4, device.layout.groups_for(count)), DOUBLE)
    prepared.first.over(count, data, indices, indptr, order, places, begins, columns, scale, room)
    least, *others = device.to_host(room)
    extremes = np.array([least.min(), *(most.max() for most in others)])
    return _Rows(data, columns, begins, ends, entries, scale, longest), extremes


def _summed(device: Launcher, prepared: _Kernels, rows: _Rows, starts: Vector, parents: Vector) -> tuple[_Rows, float]:
    """P^T E P, and its least diagonal entry."""
    groups = starts.size - 1
    data, columns = device.empty((rows.entries,), DOUBLE), device.empty((rows.entries,), np.int32)
    begins, counts = device.empty((groups,), np.int64), device.empty((groups,), np.int32)
    scale, room = device.empty((groups,), DOUBLE), device.empty((device.layout.groups_for(groups),), DOUBLE)
    made = (data, columns, begins, counts, scale, room)
    prepared.galerkin.over(groups, rows.arrays, starts, parents, *made)
    ends, entries, _, longest = scan(device, count_at, [counts], groups, np.int64)
    return _Rows(data, columns, begins, ends, entries, scale, longest), float(device.to_host(room).min())


def _better_bound(device: Launcher, rows: _Rows, bound: float) -> float:
    """A number that no eigenvalue of D^-1 E exceeds, at most `bound`, as `aggregation.spectral_bound` has it."""
    count, kernel = rows.count, device.function(kernels.ratios, DOUBLE)
    room = device.empty((device.layout.groups_for(count),), DOUBLE)

    def step(v: Vector, factor: float) -> tuple[float, Vector]:
        product = device.empty((count,), DOUBLE)
        kernel.over(count, rows.arrays, rows.scale, v, np.float64(factor), product, room)
        return float(device.to_host(room).max()), product

    # The roots of D are the ones in the scaling of E, and ones the roots of D^-1.
    roots = device.empty((count,), DOUBLE)
    device.function(kernels.reciprocals, DOUBLE).over(count, rows.scale, roots)
    starts = roots, device.array(np.ones(count), DOUBLE)
    found, v = min((step(start, 1.0) for start in starts), key=lambda made: made[0])
    for _ in range(BOUND_STEPS):
        bound = min(bound, found)
        found, v = step(v, 1 / found)
    return min(bound, found)


def _scaled(
    device: Launcher, rows: _Rows, starts: Vector, parents: Vector, below: _Rows, divisor: float, stored: np.dtype
) -> tuple[NestedLevel, Vector]:
    """The level, and D^-1/2 for E over the divisor."""
    count = rows.count
    data, indices = device.empty((rows.entries,), stored), device.empty((rows.entries,), np.int32)
    weights, scale = (device.empty((count,), stored) for _ in range(2))
    room = device.empty((device.layout.groups_for(count),), DOUBLE)
    given = (parents, rows.scale, below.scale, np.float64(np.sqrt(divisor)))
    scaling = device.function(kernels.scale_rows, stored)
    scaling.over(count, rows.arrays, *given, data, indices, weights, scale, room)
    bound = float(device.to_host(room).max())
    return NestedLevel(data, indices, rows.ends, parents, starts, weights, bound), scale


def _dense(device: Launcher, prepared: _Kernels, rows: _Rows) -> tuple[Vector, np.ndarray, float]:
    """The last level with unit diagonal, its possible null vector, and the largest entry of their product."""
    count = rows.count
    matrix, sums = device.zero_block(count, count, DOUBLE), device.empty((count,), DOUBLE)
    prepared.dense.over(count, rows.arrays, rows.scale, matrix, sums)
    scale = device.to_host(rows.scale)
    length = float(np.linalg.norm(1 / scale))
    return matrix, 1 / scale / length, float(np.abs(device.to_host(sums) * scale).max()) / length


def _children_at(i: int, children: Sequence[int], order: Sequence[int]) -> int:  # pragma: no cover
    """_Rows of a parent."""
    return children[order[i]]


def _length_at(i: int, indptr: Sequence[int], order: Sequence[int]) -> int:  # pragma: no cover
    """Entries of a row."""
    return indptr[order[i] + 1] - indptr[order[i]]
