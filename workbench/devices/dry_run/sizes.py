"""The sizes of a system and of a row split, for dry runs, and the bytes of products that follow from them."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from workbench.devices.traffic import block_bytes, csr_bytes, product_bytes
from workbench.errors import InputError

DOUBLE = np.dtype(np.float64)


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The sizes of a system. size: N; entries: nnz; constant_diagonal: Jacobi's 1/D is one number and not a vector.

    Raises InputError for fewer than two unknowns and for fewer entries than unknowns.
    """

    size: int
    entries: int
    dtype: np.dtype = DOUBLE
    constant_diagonal: bool = False

    def __post_init__(self) -> None:
        if self.size < 2:
            raise InputError(f"a dry run needs a system of at least 2 unknowns, got {self.size}")
        if self.entries < self.size:
            raise InputError(
                f"a matrix with a positive diagonal has at least {self.size} entries, one a row, got {self.entries}"
            )

    @property
    def nbytes(self) -> int:
        """Bytes of the matrix in CSR form."""
        return csr_bytes(self.size, self.entries, self.dtype.itemsize, self.index)

    @property
    def product_bytes(self) -> int:
        """Bytes of a product with the matrix in CSR form."""
        return product_bytes(self.nbytes, self.size, self.dtype.itemsize)

    @property
    def index(self) -> int:
        """Bytes of an index, as in `operators.Matrix`."""
        return index_bytes(self.entries)


@dataclasses.dataclass(frozen=True)
class Cut:
    """A row distribution. rows: of the cores; entries: those in these rows.

    coupled: entries of a remote block, by symmetry the same number on both sides. border: ghosts of a side, for
    schedules that copy only those.
    """

    rows: int
    entries: int
    coupled: int
    border: int


@dataclasses.dataclass(frozen=True)
class BlockSizes:
    """Entries and bytes of a product with the local or the remote block of one side."""

    entries: int
    nbytes: int


def blocks(sizes: Sizes, cut: Cut) -> tuple[tuple[BlockSizes, BlockSizes], tuple[BlockSizes, BlockSizes]]:
    """The local and the remote block of the cores, and those of the accelerator."""
    rows, others = cut.rows, sizes.size - cut.rows
    far = sizes.entries - cut.entries

    def side(own: int, entries: int, remote: int, index: int) -> tuple[BlockSizes, BlockSizes]:
        item, local = sizes.dtype.itemsize, entries - cut.coupled
        return (
            BlockSizes(local, block_bytes(own, local, item, index)),
            BlockSizes(cut.coupled, block_bytes(own, cut.coupled, item, index, remote)),
        )

    there = index_bytes(max(far, sizes.size + 1))
    return side(rows, cut.entries, others, sizes.index), side(others, far, rows, there)


def index_bytes(most: int) -> int:
    """Bytes of an index that counts so far."""
    return 8 if most > np.iinfo(np.int32).max else 4


def cut_for_share(sizes: Sizes, share: float, coupled: float | None = None) -> Cut:
    """A split of rows of equal length, with the fraction `share` of them on the accelerator.

    coupled: the fraction of all entries that lie in one side's rows and the other side's columns. The default is that
    of a box stencil on a cube with the same numbers of unknowns and of entries per row. For k = nnz/N = (2 r + 1)^3
    and n = N^(1/3) points per side, a cut between planes separates r (r + 1)/2 pairs of planes, each coupled by about
    (2 r + 1)^2 n^2 entries; exactly, that is 3 (5n - 6)^2 of (5n - 6)^3 for r = 2.

    Raises InputError for a share that leaves a side without a row.
    """
    # Rounded up for the cores, so that a share that just fits the accelerator still fits.
    rows = math.ceil(sizes.size * (1 - share))
    if not 0 < rows < sizes.size:
        raise InputError(f"a share of {share:g} leaves a side without a row of {sizes.size}; choose another share")
    entries = min(round(sizes.entries * rows / sizes.size), sizes.entries - 1)
    side, width = sizes.size ** (1 / 3), (sizes.entries / sizes.size) ** (1 / 3)
    plane_pairs = (width**2 - 1) / 8
    fraction = plane_pairs / (width * side) if coupled is None else coupled
    limit = min(entries - rows, sizes.entries - entries - (sizes.size - rows))
    border = round(max(0.0, width - 1) / 2 * side**2)
    return Cut(rows, entries, max(0, min(round(fraction * sizes.entries), limit)), max(1, border))
