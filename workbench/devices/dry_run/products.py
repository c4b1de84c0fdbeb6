"""Products with matrices of which only the sizes are known: the bytes and operations of the real ones."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.errors import InputError

DOUBLE = np.dtype(np.float64)


@dataclasses.dataclass(frozen=True)
class Sizes:
    """A system by its numbers. size: N; entries: nnz; constant_diagonal: Jacobi's 1/D is one number and no vector.

    Raises InputError for fewer than two unknowns and for fewer entries than unknowns.
    """

    size: int
    entries: int
    dtype: np.dtype = DOUBLE
    constant_diagonal: bool = False

    def __post_init__(self) -> None:
        if self.size < 2:
            raise InputError(f"a system to rehearse needs at least 2 unknowns, got {self.size}")
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
    """How the rows are shared out. rows: of the cores; entries: those in these rows.

    coupled: entries of one side's rows whose columns are the other's, which symmetry makes equally many on both.
    border: unknowns of one side that the other's rows read, for schedules that copy no more than that.
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


class PartProduct:
    """A part of every row of one side, as `csr_part` and `parts` count it.

    gathered: elements of the other side's vector, of which at most as many are read as there are entries.
    """

    offers = ()

    def __init__(self, rows: int, entries: int, gathered: int, index: int, dtype: np.dtype) -> None:
        item = dtype.itemsize
        self.traffic = entries * (item + index) + 2 * rows * (index + item) + min(entries, gathered) * item
        self.flops = _flops(dtype) * entries


def parts(sizes: Sizes, cut: Cut) -> tuple[tuple[PartProduct, PartProduct], tuple[PartProduct, PartProduct]]:
    """A1 and A2 of the cores, and of the accelerator."""
    rows, others = cut.rows, sizes.size - cut.rows
    far = sizes.entries - cut.entries
    here, there = sizes.index, index_bytes(max(far, sizes.size + 1))
    return (
        (
            PartProduct(rows, cut.entries - cut.coupled, 0, here, sizes.dtype),
            PartProduct(rows, cut.coupled, others, here, sizes.dtype),
        ),
        (
            PartProduct(others, far - cut.coupled, 0, there, sizes.dtype),
            PartProduct(others, cut.coupled, rows, there, sizes.dtype),
        ),
    )


def index_bytes(most: int) -> int:
    """Bytes of an index that counts so far."""
    return 8 if most > np.iinfo(np.int32).max else 4


def _flops(dtype: np.dtype) -> int:
    return 8 if dtype.kind == "c" else 2
