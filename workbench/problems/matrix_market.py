"""Reading Matrix Market files with every promise of their header checked, so that no file is silently misread.

SciPy's reader (`scipy.io.mmread`) does the parsing. What it lets pass is checked around it: words too many on a line, a
fraction in an integer file, a Fortran exponent, an array that ends early, an entry stored above the diagonal or twice.
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

from workbench.errors import InputError, shown
from workbench.files import opened
from workbench.operators import Matrix
from workbench.operators.matrix import check_shape
from workbench.problems.number_stream import BLOCK, NumberStream

ENDINGS = (".mtx", ".mtx.gz", ".tar.gz")
WORDS_PER_VALUE = {"real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2}
SYMMETRIES = ("general", "symmetric", "hermitian")
LONGEST_BANNER = 1 << 10
HEADER_BYTES, HEADER_LINES = 1 << 20, 10_000
"""What may stand up to the size line, with comments and blank lines: far more than collections write."""


def file_stem(path: Path) -> str:
    """The file's name without its ending."""
    for ending in ENDINGS[::-1]:
        if path.name.endswith(ending):
            return path.name.removesuffix(ending)
    return path.stem


def read_matrix(path: Path) -> Matrix:
    """The matrix of a .mtx or .mtx.gz file, or of NAME/NAME.mtx inside a NAME.tar.gz of the SuiteSparse collection.

    Formats: coordinate and array; real, integer and complex; general, symmetric and hermitian. Pattern files (they hold
    no values) and skew-symmetric ones are refused. The header, comments included, has at most 1 MiB and 10,000 lines.
    Cost: one pass over the text, then 12 bytes an entry about three times over. Raises InputError with one sentence
    that names the file and, where known, the line or the entry.
    """
    refusal = f"cannot read {shown(path)}"
    with opened(path, "matrix file") as stream:
        entries = read_entries(stream, path.name, refusal)
    try:
        return Matrix(entries)
    except InputError as error:
        raise InputError(f"{refusal}: {error}") from None
    except MemoryError:
        raise InputError(f"{refusal}: the matrix does not fit into memory") from None


def read_entries(stream: IO[bytes], name: str, refusal: str) -> sparse.csr_array:
    """What an open file called `name` holds, read to its end, whatever CG makes of such a matrix.

    refusal: how sentences begin. Raises InputError as `read_matrix` does, but not for what `Matrix` refuses.
    """
    if not name.endswith(ENDINGS):
        raise InputError(f"{refusal}: the name of a matrix file ends in {', '.join(ENDINGS)}")
    try:
        with _unpacked(stream, name) as text:
            return _read(text)
    except InputError as error:
        raise InputError(f"{refusal}: {error}") from None
    except EOFError:
        raise InputError(f"{refusal}: the compressed file is cut short; copy or download it again") from None
    except (gzip.BadGzipFile, zlib.error, tarfile.TarError, ValueError) as error:
        raise InputError(f"{refusal}: the compressed file is damaged ({error})") from None
    except OSError as error:
        raise InputError(f"{refusal}: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{refusal}: the matrix does not fit into memory") from None


@dataclasses.dataclass(frozen=True)
class Header:
    """What the first lines promise."""

    format: str
    field: str
    symmetry: str
    shape: tuple[int, int]
    entries: int
    lines: int

    @property
    def words_per_entry(self) -> int:
        """Words that one entry takes: two indices in coordinate form, and the value."""
        return (2 if self.format == "coordinate" else 0) + WORDS_PER_VALUE[self.field]

    def text(self) -> bytes:
        """The header for SciPy, as many lines long as in the file, so that its line numbers hold.

        Coordinate files are called general: SciPy then hands over the stored triangle, which can be checked.
        """
        symmetry = self.symmetry if self.format == "array" else "general"
        sizes = [*self.shape, self.entries] if self.format == "coordinate" else self.shape
        banner = f"%%MatrixMarket matrix {self.format} {self.field} {symmetry}\n"
        return (banner + "%\n" * (self.lines - 2) + " ".join(map(str, sizes)) + "\n").encode()


def _read(stream: IO[bytes]) -> sparse.csr_array:
    header = _read_header(stream)
    body = NumberStream(stream, header.text(), header.lines, whole="integer" in header.field)
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
    banner = header.next(LONGEST_BANNER)
    words = banner.lower().split()
    if len(banner) > LONGEST_BANNER or len(words) != 5 or words[0] != "%%matrixmarket":
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
        raise InputError("the file holds a pattern without values; CG needs numbers, so write real entries")
    if field not in WORDS_PER_VALUE:
        raise InputError(f"line 1 names the field {field!r}; known: {', '.join(WORDS_PER_VALUE)}")
    if symmetry == "skew-symmetric":
        raise InputError("the matrix is skew-symmetric; CG needs a symmetric positive definite matrix")
    if symmetry not in SYMMETRIES:
        raise InputError(f"line 1 names the symmetry {symmetry!r}; known: {', '.join(SYMMETRIES)}")
    if symmetry == "hermitian" and field != "complex":
        raise InputError(f"line 1 says hermitian of {field} entries; write symmetric, or complex entries")
    sizes = _read_sizes(header, 3 if form == "coordinate" else 2)
    lines = header.count
    shape = (sizes[0], sizes[1])
    check_shape(shape)
    whole = shape[0] * shape[1] if symmetry == "general" else shape[0] * (shape[0] + 1) // 2
    header = Header(form, field, symmetry, shape, sizes[2] if form == "coordinate" else whole, lines)
    if header.entries > whole:
        raise InputError(f"line {lines} declares {header.entries} entries, but the matrix has room for {whole}")
    if header.entries < shape[0]:
        raise InputError(
            f"line {lines} declares {header.entries} entries for {shape[0]} rows; CG needs a full diagonal"
        )
    return header


def _read_sizes(header: _HeaderLines, count: int) -> list[int]:
    """The numbers of the size line, after comments and blank lines."""
    while text := header.next():
        words = text.split()
        if words and not words[0].startswith("%"):
            if len(words) != count or not all(word.isdecimal() and len(word) < 19 for word in words):
                what = "rows, columns and entries" if count == 3 else "rows and columns"
                raise InputError(f"line {header.count} must hold {what} as whole numbers, got {text[:60].strip()!r}")
            return [int(word) for word in words]
    raise InputError("the file ends before its size line")


class _HeaderLines:
    """The first lines of a stream, `count` so far. Raises InputError where they are more than a header has."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.count = 0
        self._stream, self._left = stream, HEADER_BYTES

    def next(self, most: int = HEADER_BYTES) -> str:
        """The next line, empty at the end; one of more than `most` bytes is cut behind the first beyond them."""
        line = self._stream.readline(min(most, self._left) + 1)
        self._left -= len(line)
        self.count += 1
        if self._left < 0 or self.count > HEADER_LINES:
            raise InputError(
                f"no size line within the first {HEADER_BYTES >> 20} MiB and {HEADER_LINES} lines; "
                "shorten the comments, or check what the file holds"
            )
        return line.decode("ascii", errors="replace")


def _check_words(header: Header, words: int) -> None:
    """Compare the words of the body with what the header promises."""
    expected = header.entries * header.words_per_entry
    if words < expected:
        raise InputError(
            f"line {header.lines} declares {header.entries} entries, but the file ends after "
            f"{words // header.words_per_entry}; it is cut short or its header is wrong"
        )
    if words > expected:
        raise InputError(
            f"{header.entries} entries take {expected} words, but {words} follow line {header.lines}; "
            "there is something on the lines or after them that does not belong to the matrix"
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
            f"{_entry(above[0], rows, columns)} lies above the diagonal, though line 1 says {header.symmetry}; "
            "store the lower triangle only, or say general"
        )
    # Joined rather than added: adding would drop the explicit zeros that a file may store, and papers count.
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
    """The text of the matrix, uncompressed."""
    if name.endswith(".mtx"):
        yield stream
    elif name.endswith(".mtx.gz"):
        with gzip.open(stream, "rb") as text:
            yield text  # type: ignore[misc]
    else:
        stem = file_stem(Path(name))
        # Not as r|gz, by which tarfile does not look at the checksum; that stands at the end.
        with gzip.open(stream, "rb") as whole, tarfile.open(fileobj=whole, mode="r|") as archive:
            for member in archive:
                if member.name.removeprefix("./") == f"{stem}/{stem}.mtx" and (text := archive.extractfile(member)):
                    yield text
                    break
            else:
                raise InputError(f"the archive holds no {stem}/{stem}.mtx")
            while whole.read(BLOCK):
                pass
