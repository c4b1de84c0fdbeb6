"""The first lines of a Matrix Market file, up to its sizes."""

from __future__ import annotations

import dataclasses
from typing import IO

from workbench.errors import InputError, quoted

PATTERN, SKEW = "pattern", "skew-symmetric"
WORDS_PER_VALUE = {"real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2, PATTERN: 0}
SYMMETRIES = ("general", "symmetric", "hermitian", SKEW)
MAX_BANNER = 1 << 10
HEADER_BYTES, HEADER_LINES = 1 << 20, 10_000
"""Limits of the header up to the size line, comments and blank lines included; far more than collections use."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SMALLEST_WORD = 2
"""Bytes of a digit and of what follows it."""


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
    def words_per_value(self) -> int:
        """One word, two for a complex number, none of a pattern."""
        return WORDS_PER_VALUE[self.field]

    @property
    def words_per_entry(self) -> int:
        """Words on a line: two indices in coordinate format, and the value."""
        return (2 if self.format == "coordinate" else 0) + self.words_per_value

    @property
    def is_integer(self) -> bool:
        """True if all values are integers, signed or unsigned."""
        return "integer" in self.field

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest integer that SciPy reads."""
        return (0, 2**64 - 1) if self.field == "unsigned-integer" else (-(2**63), 2**63 - 1)

    def text(self) -> bytes:
        """The header for SciPy, with as many lines as in the file, so that line numbers in messages agree.

        Coordinate files are declared general, so that SciPy returns the stored triangle, which can then be checked.
        """
        symmetry = self.symmetry if self.format == "array" else "general"
        sizes = [*self.shape, self.entries] if self.format == "coordinate" else self.shape
        banner = f"%%MatrixMarket matrix {self.format} {self.field} {symmetry}\n"
        return (banner + "%\n" * (self.lines - 2) + " ".join(map(str, sizes)) + "\n").encode()


def read_header(stream: IO[bytes], size: int) -> Header:
    """Read a stream of at most `size` bytes up to its first entry; a mark of the byte order is skipped.

    Raises InputError with the line, also for sizes too large for this number of bytes.
    """
    if stream.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
        stream.seek(-min(stream.tell(), len(BYTE_ORDER_MARK)), 1)
    header = _HeaderLines(stream)
    form, field, symmetry = _read_banner(header)
    rows, columns, *stored = _read_sizes(header, 3 if form == "coordinate" else 2)
    if 0 in (rows, columns):
        raise InputError(f"the matrix is empty: shape {rows} x {columns}")
    if symmetry != "general" and rows != columns:
        raise InputError(f"the matrix must be square, got {rows} x {columns}; line 1 says {symmetry}")
    full = rows * columns if symmetry == "general" else rows * (rows + 1) // 2
    # The diagonal of a skew-symmetric array is not written.
    entries = stored[0] if stored else full - rows * (symmetry == SKEW)
    if entries > full:
        raise InputError(f"line {header.count} declares {entries} entries, but the matrix has at most {full}")
    found = Header(form, field, symmetry, (rows, columns), entries, header.count)
    # Before anything is allocated for them.
    most = size // (SMALLEST_WORD * found.words_per_entry) + 1
    if entries > most:
        raise InputError(
            f"line {header.count} declares {entries} entries, but the file is too short for more than {most}; it is "
            "truncated or its header is wrong"
        )
    return found


def _read_banner(header: _HeaderLines) -> tuple[str, str, str]:
    """Format, field and symmetry. Raises InputError for values that are invalid or of no use to CG."""
    banner = header.next(MAX_BANNER)
    words = banner.lower().split()
    if len(banner) > MAX_BANNER or len(words) != 5 or words[0] != "%%matrixmarket":
        shown = banner[:60].strip()
        raise InputError(
            "line 1 must be a banner such as '%%MatrixMarket matrix coordinate real symmetric', "
            f"got {quoted(shown) if shown.isascii() and (shown.isprintable() or not shown) else 'binary data'}"
        )
    kind, form, field, symmetry = words[1:]
    if kind != "matrix":
        raise InputError(f"line 1 announces {quoted(kind)}; only a matrix can be read")
    if form not in ("coordinate", "array"):
        raise InputError(f"line 1 names the format {quoted(form)}; known: coordinate, array")
    if field == PATTERN and form == "array":
        raise InputError("line 1 says pattern of an array, which has all entries; write coordinate, or real entries")
    if field not in WORDS_PER_VALUE:
        raise InputError(f"line 1 names the field {quoted(field)}; known: {', '.join(WORDS_PER_VALUE)}")
    if symmetry not in SYMMETRIES:
        raise InputError(f"line 1 names the symmetry {quoted(symmetry)}; known: {', '.join(SYMMETRIES)}")
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
                raise InputError(f"line {header.count} must have {what} as integers, got {quoted(text.strip())}")
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
