"""Matrix Market files, read strictly: what SciPy's parser would misread or skip is refused with its line and word."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from workbench.errors import InputError
from workbench.files.market_header import Header, read_header
from workbench.files.number_stream import NumberStream
from workbench.files.unpacking import Unpacked
from workbench.lazy import sparse


def read_market(text: Unpacked, check: Callable[[Header], None]) -> sparse.csr_array | np.ndarray:
    """The matrix in an open file, which is read to its end: sparse of a coordinate file, dense of an array.

    Formats: coordinate and array; real, integer and complex; general, symmetric and hermitian. Pattern files, which
    have no values, and skew-symmetric files are refused. The header has at most 1 MiB and 10,000 lines, comments
    included. check: raises InputError for a header that the caller has no use for; it is called before memory is taken.

    Cost: one pass over the text, then about 36 bytes per entry. Raises InputError with the line and the word, or with
    the entry, also for entries stored twice.
    """
    from scipy import io

    header = read_header(text.stream, text.most)
    check(header)
    body = NumberStream(text.stream, header)
    refusal = ""
    try:
        stored = io.mmread(body, spmatrix=False)
    except InputError:
        raise
    except (ValueError, OverflowError) as error:
        stored, refusal = None, str(error)
    body.drain()
    if body.entries < header.entries:
        raise InputError(
            f"line {header.lines} declares {header.entries} entries, but the file ends after {body.entries}; it is "
            "truncated or its header is wrong"
        )
    if stored is None:
        if line := re.match(r"Line (\d+)", refusal):
            body.refuse_range(int(line[1]))
        raise InputError(refusal.lower().rstrip("."))
    entries = np.asarray(stored) if header.format == "array" else sparse.coo_array(stored)
    if not np.isfinite(entries if isinstance(entries, np.ndarray) else entries.data).all():
        body.refuse_range()
    if header.is_integer:
        _refuse_long_integers(entries)
    made = entries if isinstance(entries, np.ndarray) else _assembled(header, entries)
    if header.symmetry == "hermitian":
        imaginary = np.flatnonzero(np.imag(made.diagonal()))
        if imaginary.size:
            raise InputError(f"line 1 says hermitian, but the diagonal entry {imaginary[0] + 1} is not real")
    return made


def _assembled(header: Header, stored: sparse.coo_array) -> sparse.csr_array:
    rows, columns = stored.coords
    triangle = stored.tocsr()
    if triangle.nnz < stored.nnz:
        raise InputError(_duplicate(rows, columns))
    if header.symmetry == "general":
        return triangle
    above = np.flatnonzero(columns > rows)
    if above.size:
        raise InputError(
            f"{_entry(above[0], rows, columns)} is above the diagonal, but line 1 says {header.symmetry}; "
            "store the lower triangle only, or declare general"
        )
    # Concatenated rather than added, since adding would drop explicitly stored zeros, which papers count.
    below = rows > columns
    mirrored = stored.data[below].conj() if header.symmetry == "hermitian" else stored.data[below]
    places = np.concatenate([rows, columns[below]]), np.concatenate([columns, rows[below]])
    return sparse.coo_array((np.concatenate([stored.data, mirrored]), places), shape=header.shape).tocsr()


def _refuse_long_integers(entries: sparse.coo_array | np.ndarray) -> None:
    """Raise InputError for integers that double precision does not hold."""
    stored = sparse.coo_array(entries)
    with np.errstate(invalid="ignore"):
        rounded = np.flatnonzero(stored.data.astype(np.float64).astype(stored.data.dtype) != stored.data)
    if rounded.size:
        place = rounded[0]
        raise InputError(
            f"{_entry(place, *stored.coords)} is {stored.data[place]}, of which double precision does not hold all "
            "digits; declare real in line 1 to have it rounded"
        )


def _duplicate(rows: np.ndarray, columns: np.ndarray) -> str:
    order = np.lexsort((columns, rows))
    same = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
    return f"{_entry(order[1:][same].min(), rows, columns)} is stored twice; sum or drop such entries first"


def _entry(place: int, rows: np.ndarray, columns: np.ndarray) -> str:
    return f"entry {place + 1} (row {rows[place] + 1}, column {columns[place] + 1})"
