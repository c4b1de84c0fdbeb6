"""Parts of the graph of a sparse matrix, grown from scattered seeds in rounds: the same on every device.

In a round every row without a part joins that of its largest strong coupling to a row with one; rounds are repeated
until nothing changes, and then again along any negative coupling. A round reads the parts of the round before alone,
and adds nothing up, so that the parts are bit for bit those of any device and number of threads.
"""

from __future__ import annotations

import numpy as np

from workbench.devices.bound import Request
from workbench.devices.host.growth import Csr, grown_parts
from workbench.devices.protocol import Device
from workbench.kernel_language.row_kernels import kernel
from workbench.lazy import sparse

FREE = -1.0
"""The label of a row without a part."""
MIXED = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
"""Odd factors that mix the bits of the number of a row."""


@kernel()
def largest_coupling(row, data, indices, starts, strongest):
    """The largest -a_ij of a row, 0 without a negative entry."""
    most = 0
    for j in range(starts[row], starts[row + 1]):
        if indices[j] != row and -data[j] > most:
            most = -data[j]
    strongest[row] = most


@kernel()
def next_labels(row, data, indices, starts, strongest, least, labels, following, free):
    """The label of a row after a round, and 1 while it has none. least: the squared threshold of strong couplings.

    Of equal couplings that to the lower label counts.
    """
    label, most = labels[row], 0
    if label < 0:
        for j in range(starts[row], starts[row + 1]):
            k, size = indices[j], -data[j]
            nearer = size > most or (size == most and labels[k] < label)
            # Quotients neither under- nor overflow, and are the same on every device, which roots need not be.
            if labels[k] >= 0 and nearer and (size / strongest[row]) * (size / strongest[k]) >= least:
                label, most = labels[k], size
    following[row] = label
    free[row] = 1 if label < 0 else 0


def parts_in_rounds(matrix: Csr, size: int, threshold: float, device: Device) -> tuple[np.ndarray, int]:
    """The part 0, 1, .. of each row of a symmetric matrix in double precision, int32 of shape (N,), and their number.

    One row in `size`, by a hash of its number, is the seed of a part. Strong couplings are those of `grown_parts`, by
    which rows that no seed reaches get parts as well. Sizes vary more than those of `grown_parts`, which grows one part
    after the other.

    Cost: on the device a read of the matrix for each round, of which there are about 7 to 20, and one number to the
    host; memory 32 bytes a row there.

    Source: rounds as in a Voronoi diagram of the graph.
    """
    data, indices, indptr = matrix
    if data.dtype.kind == "c":
        data = np.copysign(np.abs(data), np.real(data))
    rows, dtype = indptr.size - 1, data.dtype
    seeds = seeds_of(rows, size)
    first = np.full(rows, FREE)
    first[seeds] = np.arange(seeds.size)
    labels, following = device.array(first, dtype), device.zeros(rows, dtype)
    strongest, free = device.zeros(rows, dtype), device.zeros(rows, dtype)
    of_matrix = {"data": data, "indices": indices, "starts": indptr}
    device.bind(Request(largest_coupling, rows, dtype, of_matrix, indptr))(strongest)
    left = rows - seeds.size
    for least in (threshold**2, 0.0):
        fixed = {**of_matrix, "strongest": strongest, "least": least}
        round_of = device.bind(Request(next_labels, rows, dtype, fixed, indptr))
        while left:
            round_of(labels, following, free)
            labels, following = following, labels
            before, left = left, round(float(device.norm(free)) ** 2)
            if left == before:
                break
    found = np.array(device.to_host(labels)).astype(np.int32)
    return _with_the_rest(found, seeds.size, (data, indices, indptr), size, threshold)


def _with_the_rest(labels: np.ndarray, count: int, matrix: Csr, size: int, threshold: float) -> tuple[np.ndarray, int]:
    """The labels with parts of the rows that no seed has reached, which are components without one."""
    rest = np.flatnonzero(labels < 0)
    if rest.size:
        whole = sparse.csr_array(matrix, shape=(labels.size, labels.size))[rest][:, rest]
        labels[rest], more = grown_parts((whole.data, whole.indices, whole.indptr), size, threshold)
        labels[rest] += count
        count += more
    return labels, count


def seeds_of(rows: int, size: int) -> np.ndarray:
    """The rows that are seeds, ascending: those whose number has a hash that `size` divides."""
    mixed = np.arange(1, rows + 1, dtype=np.uint64) * MIXED[0]
    mixed ^= mixed >> np.uint64(31)
    mixed *= MIXED[1]
    mixed ^= mixed >> np.uint64(29)
    return np.flatnonzero(mixed % np.uint64(size) == 0)
