"""Shape-only products: bytes and operations of matrices of which only the sizes are known."""

from __future__ import annotations

import dataclasses

import numpy as np

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
        """Of the matrix in CSR form."""
        return self.entries * (self.dtype.itemsize + self.index) + (self.size + 1) * self.index

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


class Product:
    """A x for the whole matrix, as `csr` of the devices counts it."""

    offers = ("xy", "yy", "xx")

    def __init__(self, sizes: Sizes) -> None:
        self.traffic = sizes.nbytes + 2 * sizes.size * sizes.dtype.itemsize
        self.flops = _flops(sizes.dtype) * sizes.entries


class BlockProduct:
    """The local (diagonal) or the remote (off-diagonal) block of one side, as `csr_block` and `blocks` count it.

    gathered: elements of the remote vector; at most as many are read as the block has entries.
    """

    offers = ()

    def __init__(self, rows: int, entries: int, gathered: int, index: int, dtype: np.dtype) -> None:
        item = dtype.itemsize
        self.traffic = entries * (item + index) + 2 * rows * (index + item) + min(entries, gathered) * item
        self.flops = _flops(dtype) * entries


def blocks(sizes: Sizes, cut: Cut) -> tuple[tuple[BlockProduct, BlockProduct], tuple[BlockProduct, BlockProduct]]:
    """The local and the remote block of the cores, and those of the accelerator."""
    rows, others = cut.rows, sizes.size - cut.rows
    far = sizes.entries - cut.entries
    here, there = sizes.index, index_bytes(max(far, sizes.size + 1))
    return (
        (
            BlockProduct(rows, cut.entries - cut.coupled, 0, here, sizes.dtype),
            BlockProduct(rows, cut.coupled, others, here, sizes.dtype),
        ),
        (
            BlockProduct(others, far - cut.coupled, 0, there, sizes.dtype),
            BlockProduct(others, cut.coupled, rows, there, sizes.dtype),
        ),
    )


def index_bytes(most: int) -> int:
    """Bytes of an index that counts so far."""
    return 8 if most > np.iinfo(np.int32).max else 4


def _flops(dtype: np.dtype) -> int:
    return 8 if dtype.kind == "c" else 2
