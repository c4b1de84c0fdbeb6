"""Levels of parts that grow in rounds, all of them in the memory of an accelerator: the host sees numbers of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.devices.accelerator.deflation import CsrVectors
from workbench.devices.accelerator.nesting import DOUBLE, LevelKernels, summed_parts
from workbench.devices.accelerator.parts import Merge
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.scan import count_at, running_sums, scan, scan_kernels
from workbench.devices.kernels import growing as kernels
from workbench.devices.kernels.parameters import places_of
from workbench.devices.ops.levels import labels_in_rounds, numbered_labels

if TYPE_CHECKING:
    from workbench.devices.accelerator.launcher import Launcher


class GrownParts(NamedTuple):
    """Parts of the rows of a matrix, and of these, as merges from one level to the next.

    merges: finest first. count: parts of the last. most: rows of a part, at most.
    """

    merges: list[Merge]
    count: int
    most: int


def diagonal_first(device: Launcher, data: Any, indices: Any, indptr: Any) -> CsrVectors:
    """A CSR matrix on the host or the device, whose rows all have a diagonal entry, in double precision on the device,
    the diagonal entry of a row first. Cost: a copy of it."""
    data, indices, indptr = (device.to_device(each) for each in (data, indices, indptr))
    entries, columns = device.empty(data.shape, DOUBLE), device.empty(indices.shape, np.int32)
    ends = device.empty(indptr.shape, np.int64)
    of = {"indices": places_of(indices.dtype), "starts": places_of(indptr.dtype)}
    kernel = device.function(kernels.diagonal_first, data.dtype, annotations=of)
    kernel.over(indptr.size - 1, data, indices, indptr, entries, columns, ends)
    return entries, columns, ends


def grown_parts(
    device: Any, csr: CsrVectors, sizes: tuple[tuple[int, float], tuple[int, float]], bottom: int, least: float
) -> GrownParts:
    """Parts of the rows of a matrix, and parts of these until they are `bottom` at most, or no less than `least` of
    those before.

    csr: the diagonal entry of a row first. sizes: rows of a part and the threshold of strong couplings, of the first
    parts and of all others. Cost: a read of each level for every round of growth, and about six more.
    """
    prepared, sorting = LevelKernels(device, components=True), _Kernels(device)
    merges, rows, widest = list[Merge](), csr[2].size - 1, 0
    while rows > bottom:
        size, threshold = sizes[min(len(merges), 1)]
        labels, count = _labels(device, sorting, csr, size, threshold)
        if count > least * rows:
            break
        order, places, parents, starts = _together(device, sorting, labels, count)
        ranks, children = device.empty((rows,), np.int32), device.empty((count,), np.int32)
        sorting.ranks.over(rows, labels, places, starts, ranks)
        sorting.counted.over(count, starts, children)
        merges.append(Merge(labels, ranks, children))
        _, _, _, most = scan(device, count_at, [children], count)
        widest, below = max(widest, most), summed_parts(device, prepared, csr, order, places, (starts, parents))
        entries, columns = device.empty((below.entries,), DOUBLE), device.empty((below.entries,), np.int32)
        sorting.closed.over(count, below.arrays, entries, columns)
        csr, rows = (entries, columns, below.ends), count
    return GrownParts(merges, rows, widest)


class _Kernels:
    """Kernels that are always needed, requested at once so that they are compiled side by side."""

    def __init__(self, device: Launcher) -> None:
        of = (kernels.closed, kernels.numbered, kernels.begun, kernels.split, kernels.together, kernels.ranks, kernels.counted)
        self.closed, self.numbered, self.begun, self.split, self.together, self.ranks, self.counted = (
            device.function(each, DOUBLE) for each in of
        )
        scan_kernels(device, kernels.is_seed_of_itself, [DOUBLE])
        scan_kernels(device, kernels.is_even, [np.int32])
        scan_kernels(device, count_at, [np.int32])


def _labels(
    device: Any, sorting: _Kernels, csr: CsrVectors, size: int, threshold: float
) -> tuple[Vector, int]:
    """The part of each row, int32, and their number, as `ops.levels.parts_in_rounds` has them."""
    seeds, left = labels_in_rounds(csr, size, threshold, device)
    if left:
        matrix = tuple(device.to_host(each) for each in csr)
        found, count = numbered_labels(device.to_host(seeds), left, matrix, size, threshold)
        return device.array(found, np.int32), count
    before, count, *_ = scan(device, kernels.is_seed_of_itself, [seeds], seeds.size)
    labels = device.empty(seeds.shape, np.int32)
    sorting.numbered.over(seeds.size, seeds, before, labels)
    return labels, count


def _together(
    device: Launcher, sorting: _Kernels, labels: Vector, count: int
) -> tuple[Vector, Vector, Vector, Vector]:
    """The rows by parts, each part's in their order; the place of each row, the part at each place, and the first place
    of each part, and the end."""
    rows = labels.size
    keys, order, *others = (device.empty((rows,), np.int32) for _ in range(4))
    sorting.begun.over(rows, labels, keys, order)
    room = None
    for _ in range(max(count - 1, 0).bit_length()):
        room = running_sums(device, kernels.is_even, [keys], rows, room=room)
        sorting.split.over(rows, keys, order, room[0], *others)
        (keys, order), others = others, [keys, order]
    places, parents = (device.empty((rows,), np.int32) for _ in range(2))
    starts = device.empty((count + 1,), np.int32)
    sorting.together.over(rows, labels, order, places, parents, starts)
    return order, places, parents, starts
