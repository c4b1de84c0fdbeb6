"""Strict reading of Matrix Market files.

SciPy's reader (`scipy.io.mmread`) parses; this module refuses errors that it accepts: surplus words on a line,
fractions in an integer file, Fortran exponents, truncated arrays, entries above the diagonal, and duplicate entries.
"""

from __future__ import annotations

import dataclasses
import gzip
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from scipy import io, sparse

from workbench.errors import InputError, printable_path
from workbench.files import opened
from workbench.operators import Matrix
from workbench.operators.matrix import check_shape
from workbench.problems.number_stream import BLOCK, NumberStream

ENDINGS = (".mtx", ".mtx.gz", ".tar.gz")
WORDS_PER_VALUE = {"real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2}
SYMMETRIES = ("general", "symmetric", "hermitian")
MAX_BANNER = 1 << 10
HEADER_BYTES, HEADER_LINES = 1 << 20, 10_000
"""Limits of the header up to the size line, comments and blank lines included; far more than collections use."""


def file_stem(path: Path) -> str:
    """The name of a file without its suffixes."""
    for ending in ENDINGS[::-1]:
        if path.name.endswith(ending):
            return path.name.removesuffix(ending)
    return path.stem


def read_matrix(path: Path, kind: type[Matrix] = Matrix) -> Matrix:
    """Read a matrix from a .mtx or .mtx.gz file, or from NAME/NAME.mtx in a NAME.tar.gz of the SuiteSparse collection.

    Formats: coordinate and array; real, integer and complex; general, symmetric and hermitian. Pattern files, which
    have no values, and skew-symmetric files are refused. The header has at most 1 MiB and 10,000 lines, comments
    included. kind: the class of the matrix, which checks it.

    Cost: one pass over the text, then about 36 bytes per entry. Raises InputError with the file and, if known, the line
    or the entry.
    """
    refusal = f"cannot read {printable_path(path)}"
    with opened(path, "matrix file") as stream:
        entries = read_entries(stream, path.name, refusal)
    try:
        return kind(entries)
    except InputError as error:
        raise InputError(f"{refusal}: {error}") from None
    except MemoryError:
        raise InputError(f"{refusal}: the matrix does not fit into memory") from None


def read_entries(stream: IO[bytes], name: str, refusal: str) -> sparse.csr_array:
    """The entries of an open file called `name`, read to its end.

    refusal: start of error messages. Raises InputError as `read_matrix` does, except for the checks of `Matrix`.
    """
    if not name.endswith(ENDINGS):
        raise InputError(f"{refusal}: the name of a matrix file ends in {', '.join(ENDINGS)}")
    try:
        with _unpacked(stream, name) as text:
            return _read(text)
    except InputError as error:
        raise InputError(f"{refusal}: {error}") from None
    except EOFError:
        raise InputError(f"{refusal}: the compressed file is truncated; copy or download it again") from None
    except (gzip.BadGzipFile, zlib.error, tarfile.TarError, ValueError) as error:
        raise InputError(f"{refusal}: the compressed file is damaged ({error})") from None
    except OSError as error:
        raise InputError(f"{refusal}: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{refusal}: the matrix does not fit into memory") from None


@dataclasses.dataclass(frozen=True)
class Header:
    """The declarations in the first lines; `lines` is their number, `entries` the number of stored entries."""

    format: str
    field: str
    symmetry: str
    shape: tuple[int, int]
    entries: int
    lines: int

    @property
    def words_per_entry(self) -> int:
        """Words per entry: two indices in coordinate format, and one or two for the value."""
        return (2 if self.format == "coordinate" else 0) + WORDS_PER_VALUE[self.field]

    def text(self) -> bytes:
        """The header for SciPy, with as many lines as in the file, so that line numbers in messages agree.

        Coordinate files are declared general, so that SciPy returns the stored triangle, which can then be checked.
        """
        symmetry = self.symmetry if self.format == "array" else "general"
        sizes = [*self.shape, self.entries] if self.format == "coordinate" else self.shape
        banner = f"%%MatrixMarket matrix {self.format} {self.field} {symmetry}\n"
        return (banner + "%\n" * (self.lines - 2) + " ".join(map(str, sizes)) + "\n").encode()


def _read(stream: IO[bytes]) -> sparse.csr_array:
    header = _read_header(stream)
    body = NumberStream(stream, header.text(), header.lines, integers="integer" in header.field)
    refusal = ""
    try:
        stored = io.mmread(body, spmatrix=False)
    except InputError:
        raise
    except (ValueError, OverflowError) as error:
        stored, refusal = None, str(error)
    body.drain()
    _check_words(header, body.words)
    if stored is None:
        raise InputError(refusal.lower().rstrip("."))
    csr = sparse.csr_array(stored) if header.format == "array" else _assembled(header, sparse.coo_array(stored))
    if header.symmetry == "hermitian" and np.any(csr.diagonal().imag):
        place = int(np.flatnonzero(csr.diagonal().imag)[0]) + 1
        raise InputError(f"line 1 says hermitian, but the diagonal entry {place} is not real")
    return csr


def _read_header(stream: IO[bytes]) -> Header:
    header = _HeaderLines(stream)
    form, field, symmetry = _read_banner(header)
    sizes = _read_sizes(header, 3 if form == "coordinate" else 2)
    lines = header.count
    shape = (sizes[0], sizes[1])
    check_shape(shape)
    full = shape[0] * shape[1] if symmetry == "general" else shape[0] * (shape[0] + 1) // 2
    entries = sizes[2] if form == "coordinate" else full
    if entries > full:
        raise InputError(f"line {lines} declares {entries} entries, but the matrix has at most {full}")
    if entries < shape[0]:
        raise InputError(f"line {lines} declares {entries} entries for {shape[0]} rows; CG needs a full diagonal")
    return Header(form, field, symmetry, shape, entries, lines)


def _read_banner(header: _HeaderLines) -> tuple[str, str, str]:
    """Format, field and symmetry. Raises InputError for values that are invalid or of no use to CG."""
    banner = header.next(MAX_BANNER)
    words = banner.lower().split()
    if len(banner) > MAX_BANNER or len(words) != 5 or words[0] != "%%matrixmarket":
        raise InputError(
            "line 1 must be a banner such as '%%MatrixMarket matrix coordinate real symmetric', "
            f"got {banner[:60].strip()!r}"
        )
    kind, form, field, symmetry = words[1:]
    if kind != "matrix":
        raise InputError(f"line 1 announces a {kind}; only a matrix can be read")
    if form not in ("coordinate", "array"):
        raise InputError(f"line 1 names the format {form!r}; known: coordinate, array")
    if field == "pattern":
        raise InputError("the file is a pattern without values; CG needs numbers, so write real entries")
    if field not in WORDS_PER_VALUE:
        raise InputError(f"line 1 names the field {field!r}; known: {', '.join(WORDS_PER_VALUE)}")
    if symmetry == "skew-symmetric":
        raise InputError("the matrix is skew-symmetric; CG needs a symmetric positive definite matrix")
    if symmetry not in SYMMETRIES:
        raise InputError(f"line 1 names the symmetry {symmetry!r}; known: {', '.join(SYMMETRIES)}")
    if symmetry == "hermitian" and field != "complex":
        raise InputError(f"line 1 says hermitian of {field} entries; write symmetric, or complex entries")
    return form, field, symmetry


def _read_sizes(header: _HeaderLines, count: int) -> list[int]:
    """The numbers of the size line, after comments and blank lines."""
    while text := header.next():
        words = text.split()
        if words and not words[0].startswith("%"):
            if len(words) != count or not all(word.isdecimal() and len(word) < 19 for word in words):
                what = "rows, columns and entries" if count == 3 else "rows and columns"
                raise InputError(f"line {header.count} must have {what} as integers, got {text[:60].strip()!r}")
            return [int(word) for word in words]
    raise InputError("the file ends before its size line")


class _HeaderLines:
    """Reader of header lines, of which `count` were read. Raises InputError beyond the limits of a header."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.count = 0
        self._stream, self._left = stream, HEADER_BYTES

    def next(self, most: int = HEADER_BYTES) -> str:
        """The next line, empty at the end of the file; longer lines are truncated to `most` + 1 bytes."""
        line = self._stream.readline(min(most, self._left) + 1)
        self._left -= len(line)
        self.count += 1
        if self._left < 0 or self.count > HEADER_LINES:
            raise InputError(
                f"no size line within the first {HEADER_BYTES >> 20} MiB and {HEADER_LINES} lines; "
                "shorten the comments, or check the format of the file"
            )
        return line.decode("ascii", errors="replace")


def _check_words(header: Header, words: int) -> None:
    """Raise InputError unless the number of words in the body agrees with the header."""
    expected = header.entries * header.words_per_entry
    if words < expected:
        raise InputError(
            f"line {header.lines} declares {header.entries} entries, but the file ends after "
            f"{words // header.words_per_entry}; it is truncated or its header is wrong"
        )
    if words > expected:
        raise InputError(
            f"{header.entries} entries take {expected} words, but {words} follow line {header.lines}; "
            "remove surplus words on the lines or after them"
        )


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


def _duplicate(rows: np.ndarray, columns: np.ndarray) -> str:
    order = np.lexsort((columns, rows))
    same = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
    return f"{_entry(order[1:][same].min(), rows, columns)} is stored twice; sum or drop such entries first"


def _entry(place: int, rows: np.ndarray, columns: np.ndarray) -> str:
    return f"entry {place + 1} (row {rows[place] + 1}, column {columns[place] + 1})"


@contextmanager
def _unpacked(stream: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """Open the uncompressed text of the matrix."""
    if name.endswith(".mtx"):
        yield stream
    elif name.endswith(".mtx.gz"):
        with gzip.open(stream, "rb") as text:
            yield text  # type: ignore[misc]
    else:
        stem = file_stem(Path(name))
        # With mode r|gz, tarfile would not verify the checksum at the end.
        with gzip.open(stream, "rb") as unzipped, tarfile.open(fileobj=unzipped, mode="r|") as archive:
            for member in archive:
                if member.name.removeprefix("./") == f"{stem}/{stem}.mtx" and (text := archive.extractfile(member)):
                    yield text
                    break
            else:
                raise InputError(f"the archive has no {stem}/{stem}.mtx")
            while unzipped.read(BLOCK):
                pass
