"""The row distribution: the performance model and the 1-D decomposition of Tiwari and Vadhiyar.

The products of a matrix that does not fit a device are measured on a sample of its rows.

Source: Tiwari, Vadhiyar 2021, sections IV-C.1 and VI-B.
"""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.cpu import Cpu
from workbench.errors import InputError
from workbench.lazy import sparse

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator


RUN = 64
"""Consecutive rows that are taken together: neighbours gather from the same places, which rows picked singly do not."""


def sampled_rows(indptr: np.ndarray, entries: int) -> np.ndarray:
    """Rows with at most `entries` entries in all, sorted, whose lengths are distributed like those of the matrix.

    Runs of RUN rows are put in order of their entries, and every k-th is taken: from each stratum of lengths the same
    fraction. Tiwari and Vadhiyar (2021), section VI-B, ask for such a choice and leave it open. indptr: shape (N + 1,).
    Cost: a sort of N/RUN numbers. The result is empty where a single run has more.
    """
    size = indptr.size - 1
    tops = np.arange(0, size, RUN)
    lengths = indptr[np.minimum(tops + RUN, size)] - indptr[tops]
    order = np.argsort(lengths, kind="stable")
    total = int(indptr[-1])
    step = max(1, -(-total // max(1, entries)))
    while step <= order.size:
        # From the middle of each stratum, so that neither short nor long rows are preferred.
        chosen = order[(step - 1) // 2 :: step]
        if int(lengths[chosen].sum()) <= entries:
            rows = (tops[np.sort(chosen)][:, None] + np.arange(RUN)).ravel()
            return rows[rows < size]
        step += 1
    return np.empty(0, np.int64)


def rows_of(matrix: sparse.csr_array, rows: np.ndarray) -> sparse.csr_array:
    """These rows as a matrix of their own, with all columns."""
    return sparse.csr_array(matrix[rows])


PRODUCTS = 5
"""Products timed on each side, so that cache reuse between products counts as well."""
SHORTEST = 1e-9
"""Seconds of a product at least: a device whose clock is coarse may see no time pass in those of a small matrix."""
PARTIAL_SUMS = 32
"""Dot products of all programs, with a partial sum of every group."""
POINTERS = 3
"""Row pointers of the accelerator's rows: begin, end of the remote block, end."""


@dataclasses.dataclass(frozen=True)
class Speeds:
    """Non-zeros per second of products on the cores and on the accelerator; basis: what was multiplied, in words."""

    cpu: float
    accelerator: float
    basis: str

    @property
    def share(self) -> float:
        """The accelerator's share of the non-zeros that balances both sides."""
        return self.accelerator / (self.cpu + self.accelerator)


def decompose(accelerator: Accelerator, matrix: sparse.csr_array, share: float | None, vectors: int) -> tuple[int, str]:
    """The number of rows on the cores, at least those that do not fit the accelerator, and a sentence with the reason.

    share: the accelerator's part of the non-zeros, None to measure it; vectors: those of its rows' length that a method
    keeps on the accelerator. A measured share leaves each side a row. Cost of measuring: a copy of the matrix, or of a
    sample, to the accelerator, and 2 PRODUCTS + 2 products. Raises InputError where not even a row fits.
    """
    size, entries = matrix.indptr.size - 1, int(matrix.indptr[-1])
    least = least_rows(accelerator, matrix, vectors)
    if share is None:
        speeds = measure(accelerator, matrix)
        basis = f"{speeds.cpu:.3g} and {speeds.accelerator:.3g} non-zeros/s, {speeds.basis}"
        # The products of a small matrix take microseconds, and a side that other work delayed in them seems far slower.
        wanted = min(max(1, rows_for_share(matrix.indptr, speeds.share)), size - 1)
    else:
        basis = f"a share of {share:g} was asked for"
        wanted = rows_for_share(matrix.indptr, share)
    rows = max(wanted, least)
    part = float(matrix.indptr[rows]) / entries
    capped = f"; of more rows than {size - least} the accelerator has no room" if rows > wanted else ""
    return rows, f"the cores have {rows} of {size} rows, {part:.1%} of the non-zeros ({basis}{capped})"


def rows_for_share(indptr: np.ndarray, share: float) -> int:
    """The rows on the cores that leave the accelerator this share of the non-zeros, or little more."""
    return int(np.searchsorted(indptr, int(indptr[-1]) * (1 - share), side="right")) - 1


def least_rows(accelerator: Accelerator, matrix: sparse.csr_array, vectors: int) -> int:
    """The fewest rows that the cores must take so that the others fit the accelerator, with all of their vectors."""
    needed = bytes_needed(matrix, vectors)
    room = room_on(accelerator, matrix.indptr.size - 1)
    values = (int(matrix.indptr[-1]) - matrix.indptr[:-1].astype(np.int64)) * matrix.data.itemsize
    fits = (needed <= room) & (values <= accelerator.runtime.largest)
    if not fits[-1]:
        raise InputError(
            f"device {accelerator.name} may use {max(0, room) / 1e6:.4g} MB, which is not enough for one row; "
            "raise the limit"
        )
    return int(np.argmax(fits))


def bytes_needed(matrix: sparse.csr_array, vectors: int) -> np.ndarray:
    """Bytes that the accelerator needs when the cores have k rows, for k = 0 to N - 1, shape (N,).

    Values and indices of its rows, three pointers a row, `vectors` vectors of its rows, and the cores' half of one.
    """
    item, index = matrix.data.itemsize, matrix.indices.itemsize
    size = matrix.indptr.size - 1
    kept = np.arange(size, dtype=np.int64)
    entries = int(matrix.indptr[-1]) - matrix.indptr[:-1].astype(np.int64)
    return entries * (item + index) + (size - kept) * (POINTERS * index + vectors * item) + kept * item


def room_on(accelerator: Accelerator, size: int) -> int:
    """Bytes for matrix and vectors: what a run may use, less the scalars and partial sums of its programs."""
    return accelerator.budget.room - PARTIAL_SUMS * 16 * accelerator.layout.groups_for(size)


def measure(accelerator: Accelerator, matrix: sparse.csr_array) -> Speeds:
    """The performance model: both sides multiply the same matrix at the same time, speed = nnz/t.

    A matrix that does not fit the accelerator is replaced by a sample of its rows.
    """
    size, item, index = matrix.indptr.size - 1, matrix.data.itemsize, matrix.indices.itemsize
    room = room_on(accelerator, size) - 2 * size * item - (size + 1) * index
    basis = f"five products of all {size} rows on both at once"
    largest = min(room // (item + index), accelerator.runtime.largest // item)
    if matrix.nnz > largest:
        rows = sampled_rows(matrix.indptr, largest // 2)
        if not rows.size:
            raise InputError(
                f"device {accelerator.name} has no room for a sample of the matrix to measure products with; raise the "
                "memory limit, or give the share, as in hybrid3:share=0.5"
            )
        matrix = rows_of(matrix, rows)
        basis = f"five products on both at once of {rows.size} rows that stand for the matrix"
    cpu, other = _seconds(accelerator, matrix)
    return Speeds(matrix.nnz / cpu, matrix.nnz / other, basis)


def _seconds(accelerator: Accelerator, matrix: sparse.csr_array) -> tuple[float, float]:
    """Seconds of a product on either side."""
    runtime, cpu = accelerator.runtime, Cpu()
    rows, columns = matrix.indptr.size - 1, matrix.shape[-1]
    values = np.ones(columns, matrix.dtype)
    near: DeviceOperator = cpu.csr(matrix.data, matrix.indices, matrix.indptr)
    far: DeviceOperator = accelerator.csr(matrix.data, matrix.indices, matrix.indptr)
    x, out = cpu.array(values, matrix.dtype), cpu.zeros(rows, matrix.dtype)
    far_x, far_out = accelerator.array(values, matrix.dtype), accelerator.zeros(rows, matrix.dtype)
    near.apply(x, out)
    far.apply(far_x, far_out)
    runtime.now()
    _, span = runtime.timed(lambda: [far.apply(far_x, far_out) for _ in range(PRODUCTS)], "products")
    runtime.flush()
    begun = time.perf_counter()
    for _ in range(PRODUCTS):
        near.apply(x, out)
    seconds = time.perf_counter() - begun
    runtime.synchronize()
    assert span is not None
    start, end = span()
    return max(seconds / PRODUCTS, SHORTEST), max((end - start) / PRODUCTS, SHORTEST)
