"""Matrix Market files, read strictly: what SciPy's parser would misread or skip is refused with its line and word.

A number is written as in C, Python or Fortran: `4`, `+4.`, `.5`, `-1e-3`, `+0.4E+01`, `1.5D+02`. SciPy's parser knows
neither a plus sign nor the exponent mark D, and ignores what follows the last number of a line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import IO

import numpy as np

from workbench.errors import InputError, quoted
from workbench.files.market_header import PATTERN, SKEW, Header, read_header
from workbench.files.unpacking import Unpacked
from workbench.lazy import sparse

BLOCK = 1 << 20
MAX_LINE = 1 << 16

GAP, LINE, DIGIT, SIGN, DOT, POWER = range(6)
"""Classes of bytes."""
END = bytes([LINE])
FOLLOWERS = {
    GAP: (GAP, LINE, DIGIT, SIGN, DOT),
    LINE: (GAP, LINE, DIGIT, SIGN, DOT),
    DIGIT: (GAP, LINE, DIGIT, DOT, POWER),
    SIGN: (DIGIT, DOT),
    DOT: (GAP, LINE, DIGIT, POWER),
    POWER: (DIGIT, SIGN),
}
CLASS_OF = {GAP: b" \t\r", LINE: b"\n", DIGIT: b"0123456789", SIGN: b"+-", DOT: b".", POWER: b"eEdD"}
ALLOWED = b"".join(CLASS_OF.values())
CLASSES = bytes(next((kind for kind, members in CLASS_OF.items() if byte in members), GAP) for byte in range(256))
PLAIN = bytes.maketrans(b"\t\rdD", b"  ee")
"""Replaces characters by others that SciPy's parser reads alike."""

INTEGER = re.compile(rb"[+-]?\d+")
REAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?")


class NumberStream:
    """A readable stream of the header and of the lines of `text` after it, each of which must be an entry or blank.

    entries: the number of entries read. Cost: about 3 ns per byte. Raises InputError with line and word, and for more
    entries than declared.
    """

    def __init__(self, text: IO[bytes], header: Header) -> None:
        self.entries = 0
        self._text, self._header = text, header
        self._begin = text.tell()
        self._pending = memoryview(header.text())
        self._line = header.lines
        self._refused = _refused_marks(header)
        self._entry = b"W" * header.words_per_entry + b"N"

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes; empty at the end."""
        if not self._pending:
            self._pending = memoryview(self._next_lines())
        part, self._pending = self._pending[:size], self._pending[size:]
        return bytes(part)

    def drain(self) -> None:
        """Read to the end, so that `entries` is complete."""
        while self.read(BLOCK):
            pass

    def refuse_range(self, line: int = 0) -> None:
        """Read a line again, or all, for numbers out of range, which their spelling does not show.

        Raises InputError with the first. Cost: some microseconds per line.
        """
        self._text.seek(self._begin)
        for number, text in enumerate(self._text, self._header.lines + 1):
            if line in (0, number) and (why := _wrong(text, self._header)):
                raise InputError(f"line {number}{why}")

    def _next_lines(self) -> bytes:
        block = self._text.read(BLOCK)
        rest = self._text.readline(MAX_LINE)
        if len(rest) == MAX_LINE:
            raise InputError(f"the file has a line of more than {MAX_LINE} characters")
        block += rest
        if not block:
            return block
        if not block.endswith(b"\n"):
            block += b"\n"
        self._check(block)
        plain = block.translate(PLAIN)
        return (b"\n" + plain).replace(b" +", b"  ").replace(b"\n+", b"\n ")[1:] if b"+" in plain else plain

    def _check(self, block: bytes) -> None:
        """Count the entries and lines of whole lines. Raises InputError for the first wrong one."""
        classes = np.frombuffer(END + block.translate(CLASSES) + END, np.uint8)
        triples = classes[:-2] * np.uint8(36) + classes[1:-1] * np.uint8(6) + classes[2:]
        marks = b"N" + triples.tobytes().translate(MARKS, UNMARKED)
        words = marks.translate(STARTS, b".e")
        found = words.count(b"W") // self._header.words_per_entry
        if (
            block.translate(None, ALLOWED)
            or any(pattern in marks for pattern in self._refused)
            or words.replace(self._entry, b"").strip(b"N")
            or self.entries + found > self._header.entries
        ):
            self._refuse(block)
        self.entries += found
        self._line += words.count(b"N") - 1

    def _refuse(self, block: bytes) -> None:
        for number, line in enumerate(block.split(b"\n"), self._line + 1):
            if why := _wrong(line, self._header):
                raise InputError(f"line {number}{why}")
            self.entries += bool(line.split())
            if self.entries > self._header.entries:
                raise InputError(
                    f"line {number} is one more than the {self._header.entries} entries that line {self._header.lines} "
                    "declares; remove it, or correct that number"
                )


def _wrong(line: bytes, header: Header) -> str:
    """The fault of a line, empty if it has none. `MARKS` describes the same grammar for whole blocks."""
    words = line.split()
    indices = header.words_per_entry - header.words_per_value
    for place, word in enumerate(words[: header.words_per_entry]):
        if place < indices:
            most = header.shape[place]
            if not INTEGER.fullmatch(word) or not 1 <= _whole(word) <= most:
                return f": {_shown(word)} is no {('row', 'column')[place]} of 1 to {most}"
        elif header.is_integer:
            if not INTEGER.fullmatch(word):
                return f": {_shown(word)} is not an integer"
            if not header.range[0] <= _whole(word) <= header.range[1]:
                return f": {_shown(word)} is an integer out of range; declare real in line 1"
        elif not REAL.fullmatch(word) or math.isinf(float(word.lower().replace(b"d", b"e"))):
            return f": {_shown(word)} is not a finite number"
    if len(words) > header.words_per_entry:
        return f": {_shown(words[header.words_per_entry])} is a surplus word; an entry has {header.words_per_entry}"
    if words and len(words) < header.words_per_entry:
        return (
            f" ends after {_shown(words[-1])}, but an entry has {header.words_per_entry} words; it is truncated, or "
            "line 1 is wrong"
        )
    return ""


def _whole(word: bytes) -> int:
    # Python refuses to convert more than some thousand digits.
    return int(word) if len(word) < 1000 else 10**1000


def _shown(word: bytes) -> str:
    return quoted(word[:40].decode("ascii", errors="replace"))


def _refused_marks(header: Header) -> tuple[bytes, ...]:
    """Texts that the marks of valid lines do not contain."""
    if header.is_integer or header.field == PATTERN:
        return b"!", b".", b"V", b"e"
    fractions = b"!", b"..", b"V.", b"e.", b"ee"
    if header.words_per_entry == header.words_per_value:
        return fractions
    return (*fractions, b"NV", b"NW.", b"NWe", b"NWV", b"NWW.", b"NWWe")


def _mark(before: int, byte: int, after: int) -> bytes:
    """The mark of a byte: N a line's end, W the first of a word, V a dot that begins one, ! wrong; empty elsewhere."""
    leads = byte == DOT and before != DIGIT
    exponent = before == POWER and byte == SIGN
    if byte not in FOLLOWERS[before] or after not in FOLLOWERS[byte] or ((leads or exponent) and after != DIGIT):
        return b"!"
    if byte in (GAP, LINE):
        return b"N" if byte == LINE else b""
    if before in (GAP, LINE):
        return b"V" if leads else b"W"
    return {DOT: b".", POWER: b"e"}.get(byte, b"")


_OF_TRIPLES = [_mark(code // 36, code // 6 % 6, code % 6) for code in range(216)]
MARKS = b"".join(mark or b"?" for mark in _OF_TRIPLES).ljust(256, b"!")
UNMARKED = bytes(code for code, mark in enumerate(_OF_TRIPLES) if not mark)
STARTS = bytes.maketrans(b"V", b"W")


def read_market(text: Unpacked, check: Callable[[Header], None]) -> sparse.csr_array | np.ndarray:
    """The matrix in an open file, which is read to its end: sparse of a coordinate file, dense of an array.

    Formats: coordinate and array; real, integer, complex and pattern, whose entries are 1; general, symmetric,
    hermitian and skew-symmetric, of which either triangle is stored, or a part of each. The header has at most 1 MiB
    and 10,000 lines, comments included. check: raises InputError for a header that the caller has no use for; it is
    called before memory is taken.

    Cost: one pass over the text, then about 36 bytes per entry. Raises InputError with the line and the word, or with
    the entry, also for entries stored twice, of which one may be the mirror image of the other.
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
    if header.symmetry == SKEW:
        other = np.flatnonzero(made.diagonal())
        if other.size:
            raise InputError(f"line 1 says skew-symmetric, but the diagonal entry {other[0] + 1} is not 0")
    return made


def _assembled(header: Header, stored: sparse.coo_array) -> sparse.csr_array:
    rows, columns = stored.coords
    if header.symmetry == "general":
        made = stored.tocsr()
        if made.nnz < stored.nnz:
            raise InputError(_duplicate(rows, columns))
        return made
    aside = rows != columns
    mirrored: np.ndarray = stored.data[aside]
    if header.symmetry == "hermitian":
        mirrored = mirrored.conj()
    elif header.symmetry == SKEW:
        mirrored = -mirrored
    # Concatenated rather than added, since adding would drop explicitly stored zeros, which papers count.
    values = np.concatenate([stored.data, mirrored])
    places = np.concatenate([rows, columns[aside]]), np.concatenate([columns, rows[aside]])
    made = sparse.coo_array((values, places), shape=header.shape).tocsr()
    if made.nnz < values.size:
        raise InputError(_duplicate(np.maximum(rows, columns), np.minimum(rows, columns)))
    return made


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
