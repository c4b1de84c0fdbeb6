"""Sparse matrices in PETSc's binary format, as MatView writes and MatLoad reads them; PETSc itself is not needed.

A file holds big-endian numbers: the mark of a matrix, rows, columns, entries; the entries of each row; their columns
from 0; their values. Integers have 32 bits, or 64 where PETSc was built so; values are float64, or complex128 where it
was built so, which the head does not say. Other objects, such as a vector b, may follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO

import numpy as np

from workbench.errors import InputError
from workbench.files.unpacking import Unpacked
from workbench.lazy import sparse

MATRIX = 1211216
OBJECTS = tuple(number.to_bytes(4, "big") for number in (1211214, MATRIX, 1211218, 1211219, 1211221))
"""The first bytes of what may follow: vector, matrix, index set, bag, grid."""
MARKS = {MATRIX.to_bytes(size, "big"): np.dtype(f">i{size}") for size in (4, 8)}
"""The first bytes of a matrix, by which the integers are known."""
MARK_BYTES = max(map(len, MARKS))
DENSE = -1
VALUE = np.dtype(">f8")
MOST_ENTRIES = 2**31 - 1
BLOCK = 1 << 20


def is_petsc(first: bytes) -> bool:
    """True if a file that begins with these bytes, at least `MARK_BYTES` of them, holds a matrix in this format."""
    return first.startswith(tuple(MARKS))


def read_petsc(text: Unpacked, check: Callable[[tuple[int, int], int], None]) -> sparse.csr_array:
    """The first matrix of an open file, which is read to its end; whatever follows the matrix is ignored.

    check: raises InputError for a shape and a number of entries that the caller has no use for, before memory is taken.
    Cost: one pass over the file, then about 24 bytes per entry. Raises InputError for truncated files, dense matrices,
    indices out of range, and entries stored twice.
    """
    stream = text.stream
    integer, rows, columns, count = _head(stream)
    if count == DENSE:
        raise InputError("it holds a dense matrix; write it as a sparse one, of type AIJ")
    if min(rows, columns, count) < 0:
        raise InputError(f"its head declares {rows} rows, {columns} columns and {count} entries")
    needed = (4 + rows) * integer.itemsize + count * (integer.itemsize + VALUE.itemsize)
    if needed > text.most:
        raise InputError(
            f"its head declares {rows} rows and {count} entries, which take {needed} bytes, and the file has "
            f"{text.most} at most; it is truncated or damaged"
        )
    check((rows, columns), count)
    in_rows = _numbers(stream, integer, rows, "rows").astype(np.int64)
    if in_rows.min() < 0 or in_rows.sum() != count:
        raise InputError(f"its rows have {in_rows.sum()} entries, but its head declares {count}; the file is damaged")
    indices = _numbers(stream, integer, count, "columns")
    wrong = np.flatnonzero((indices < 0) | (indices >= columns))
    indptr = np.concatenate([[0], np.cumsum(in_rows)])
    if wrong.size:
        row = np.searchsorted(indptr, wrong[0], side="right") - 1
        raise InputError(f"row {row} has an entry in column {indices[wrong[0]]}, which is none of 0 to {columns - 1}")
    values = _values(stream, count)
    made = sparse.csr_array((values, indices.astype(np.int64), indptr), shape=(rows, columns))
    made.sort_indices()
    same = np.flatnonzero((np.diff(made.indices) == 0) & (np.diff(np.repeat(np.arange(rows), in_rows)) == 0))
    if same.size:
        row = np.searchsorted(made.indptr, same[0], side="right") - 1
        raise InputError(f"row {row} has two entries in column {made.indices[same[0]]}; sum or drop such entries first")
    return made


def rows_of(text: Unpacked) -> int:
    """The rows that the head of an open file declares."""
    return _head(text.stream)[1]


def _head(stream: IO[bytes]) -> tuple[np.dtype, int, int, int]:
    """The kind of integers, rows, columns and entries."""
    first = stream.read(MARK_BYTES)
    stream.seek(-len(first), 1)
    integer = next(kind for mark, kind in MARKS.items() if first.startswith(mark))
    _, rows, columns, count = map(int, _numbers(stream, integer, 4, "sizes"))
    return integer, rows, columns, count


def write_petsc(stream: IO[bytes], matrix: sparse.csr_array) -> None:
    """Write a CSR matrix with 32-bit integers; values as complex128 where they are complex, else as float64.

    Raises InputError for more rows or entries than 32 bits count.
    """
    shape = matrix.shape[0], matrix.shape[1]
    if max(*shape, matrix.nnz) > MOST_ENTRIES:
        raise InputError(
            f"PETSc's binary format counts in 32 bits here, at most {MOST_ENTRIES}; the matrix has {shape[0]} "
            f"rows and {matrix.nnz} entries"
        )
    rows = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
    value = ">c16" if np.iscomplexobj(rows) else VALUE
    for part, kind in (
        ([MATRIX, *shape, rows.nnz], ">i4"),
        (np.diff(rows.indptr), ">i4"),
        (rows.indices, ">i4"),
        (rows.data, value),
    ):
        stream.write(np.ascontiguousarray(part, kind).tobytes())


def _numbers(stream: IO[bytes], kind: np.dtype, count: int, what: str) -> np.ndarray:
    """The next numbers of the file. Raises InputError where it ends before."""
    content = stream.read(count * kind.itemsize)
    if len(content) < count * kind.itemsize:
        raise InputError(f"the file ends after {len(content) // kind.itemsize} of {count} numbers of its {what}")
    return np.frombuffer(content, kind)


def _values(stream: IO[bytes], count: int) -> np.ndarray:
    """The values, with whatever follows read: complex where a second number for each entry follows."""
    found = _numbers(stream, VALUE, count, "values")
    following = stream.read(count * VALUE.itemsize)
    if following and not following.startswith(OBJECTS):
        if len(following) < count * VALUE.itemsize:
            raise InputError(
                f"{len(following)} bytes follow {count} values in float64, and {count * VALUE.itemsize} would make "
                "them complex; the file is truncated or damaged"
            )
        found = np.frombuffer(found.tobytes() + following, ">c16")
    while stream.read(BLOCK):
        pass
    return found.astype(found.dtype.newbyteorder("="))
