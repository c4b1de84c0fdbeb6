"""Storage formats of sparse matrices: the numbers that each stores, and its arrays from a CSR matrix.

Sources: Bell, Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors", SC 2009;
Tali, Vainikko, section II, figures 2 and 3; for AZ Gupta, van Gijzen, Vuik 2013, section 5.2.
"""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np

from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.process import limits
from workbench.words.numbers import count

USED_ROWS = 3
"""HYB has a column for entry k of each row while a third of the rows have it: entries in coordinates take about three
times as long (Bell, Garland)."""
CHUNK = 1 << 20
"""Entries whose diagonals are counted at once."""
WORD = 8
"""Bytes of a word, a number in double precision."""


@dataclasses.dataclass(frozen=True)
class Stored:
    """Numbers that a format stores. values: those of A and of the padding; padding: zeros among them; indices: columns,
    rows, row pointers and distances of diagonals. width: entries of a padded row, or the number of diagonals; 0 without
    padding."""

    values: int
    indices: int
    padding: int = 0
    width: int = 0

    def nbytes(self, item: int, index: int = 4) -> int:
        """Bytes, for values of `item` and indices of `index` bytes."""
        return self.values * item + self.indices * index

    def words(self, item: int, index: int = 4) -> float:
        """Words of 8 bytes, for values of `item` and indices of `index` bytes."""
        return self.nbytes(item, index) / WORD


def stored(name: str, matrix: sparse.csr_array) -> Stored:
    """The numbers that a format stores of a square matrix, without storing it. Cost: one pass over the row pointers,
    for DIA over all entries."""
    size, entries, lengths = matrix.shape[0], int(matrix.nnz), np.diff(matrix.indptr)
    if name == "csr":
        return Stored(entries, entries + size + 1)
    if name == "coo":
        return Stored(entries, 2 * entries)
    if name == "dia":
        width = diagonals(matrix).size
        return Stored(width * size, width, width * size - entries, width)
    width = ell_width(lengths) if name == "ell" else hyb_width(lengths)
    rest = int(np.maximum(lengths - width, 0).sum())
    return Stored(width * size + rest, width * size + 2 * rest, width * size + rest - entries, width)


class Room(Protocol):
    """A device, as `check_room` asks it."""

    def need_room(self, nbytes: int, way_out: str = "") -> None:
        """Raise InputError where this number of bytes does not fit."""
        ...


def check_room(
    device: Room, what: str, found: Stored, matrix: sparse.csr_array, name: str, changes: dict[str, object]
) -> None:
    """Raise InputError where a format needs more words than the memory of this machine, or of the device, has left.

    found: what format `name` stores of a matrix, which is called `what`. changes: the choice of another.
    """
    item, index = matrix.data.itemsize, matrix.indices.itemsize
    needed, other = found.nbytes(item, index), stored("csr", matrix).nbytes(item, index)
    free, use = limits.memory()[1], "use {} {}".format(*next(iter(changes.items())))
    why = f"{what} of {count(matrix.nnz)} entries needs {_words(needed)} in format {name}"
    if found.padding:
        why += f", {count(found.padding)} zeros among them,"
    why += f" and {_words(other)} in format csr"
    if needed > free:
        raise InputError(f"{why}; this machine has {_words(free)} free: {use}", changes=changes)
    try:
        device.need_room(needed, use)
    except InputError as error:
        raise InputError(f"{why}; {error}", changes=changes) from None


def _words(nbytes: int) -> str:
    return f"{nbytes / WORD:.3g} words ({nbytes / 1e9:.3g} GB)"


def ell_width(lengths: np.ndarray) -> int:
    """The length of the longest row, at least 1."""
    return max(1, int(lengths.max(initial=0)))


def hyb_width(lengths: np.ndarray) -> int:
    """The largest k of which a third of the rows, see `USED_ROWS`, have k entries; at least 1."""
    ordered = np.sort(lengths)[::-1]
    return max(1, int(ordered[max(0, -(-lengths.size // USED_ROWS) - 1)]))


def diagonals(matrix: sparse.csr_array, own: np.ndarray | None = None) -> np.ndarray:
    """The distances column - row of the diagonals that have entries, ascending; the main one without any.

    own: of AZ the label of each row, shape (N,), which takes the place of the row.
    """
    size, indptr = matrix.shape[1], matrix.indptr
    used = np.zeros(2 * size - 1, bool)
    for first in range(0, int(matrix.nnz), CHUNK):
        rows = np.searchsorted(indptr, np.arange(first, min(first + CHUNK, matrix.nnz)), side="right") - 1
        used[matrix.indices[first : first + CHUNK] + (size - 1 - (rows if own is None else own[rows]))] = True
    found = np.flatnonzero(used) - (size - 1)
    return found if found.size else np.zeros(1, found.dtype)


def runs_of_labels(labels: np.ndarray, count: int) -> int:
    """The length of the runs of labels 0, 1, .., all of one length; 0 where they are not."""
    each = labels.size // count
    return each if each * count == labels.size and (labels == np.arange(labels.size) // each).all() else 0


def stored_az(az: sparse.csr_array, labels: np.ndarray) -> Stored:
    """The numbers that AZ, shape (N, d), stores as N x d by diagonals: the paper's 5 N for stripes in 2D.

    The column of an entry is the label of its row and a distance. The label follows from the row where all runs of
    labels have one length, and is stored otherwise.
    """
    rows, count = labels.size, az.shape[1]
    width = diagonals(az, labels).size
    indices = width + (0 if runs_of_labels(labels, count) else rows)
    return Stored(width * rows, indices, width * rows - int(az.nnz), width)


def rows_of(matrix: sparse.csr_array) -> np.ndarray:
    """The row of each entry, shape (nnz,)."""
    return np.repeat(np.arange(matrix.shape[0], dtype=matrix.indices.dtype), np.diff(matrix.indptr))


def dia_values(
    matrix: sparse.csr_array, distances: np.ndarray, own: np.ndarray | None = None, *, rowwise: bool
) -> np.ndarray:
    """The entries by row and diagonal, zeros included, shape (N*diagonals,): row after row, or diagonal after diagonal.
    own: as for `diagonals`."""
    size, width = matrix.shape[0], distances.size
    values, rows = np.zeros(size * width, matrix.dtype), rows_of(matrix).astype(np.int64)
    place = np.searchsorted(distances, matrix.indices.astype(np.int64) - (rows if own is None else own[rows]))
    # Entries that are stored in parts are added.
    np.add.at(values, rows * width + place if rowwise else rows + place * size, matrix.data)
    return values


def ell_arrays(
    matrix: sparse.csr_array, width: int, *, rowwise: bool
) -> tuple[np.ndarray, np.ndarray, sparse.csr_array]:
    """Values and columns of the first `width` entries of each row, shape (N*width,), and the other entries.

    Padding has value 0 and the column of its row. rowwise: row after row; else the first entries of all rows, then the
    second ones.
    """
    size, rows = matrix.shape[0], rows_of(matrix).astype(np.int64)
    number = np.arange(matrix.nnz) - matrix.indptr[rows]
    inside = number < width
    places = rows[inside] * width + number[inside] if rowwise else rows[inside] + number[inside] * size
    values = np.zeros(size * width, matrix.dtype)
    own = np.arange(size, dtype=matrix.indices.dtype)
    columns = np.repeat(own, width) if rowwise else np.tile(own, width)
    values[places], columns[places] = matrix.data[inside], matrix.indices[inside]
    lengths = np.maximum(np.diff(matrix.indptr) - width, 0)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(matrix.indptr.dtype)
    rest = sparse.csr_array((matrix.data[~inside], matrix.indices[~inside], starts), shape=matrix.shape)
    return values, columns, rest


def segments(indptr: np.ndarray, most: int) -> np.ndarray:
    """First rows of segments, and N: rows and entries of a segment are at most `most`, those of its last row apart."""
    work = indptr + np.arange(indptr.size, dtype=np.int64)
    firsts = np.searchsorted(work, np.arange(0, int(work[-1]), most))
    return np.unique(np.append(firsts, indptr.size - 1))
