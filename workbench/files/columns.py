"""Right-hand sides, starting and deflation vectors from a file: a Matrix Market file, or a NumPy array."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from workbench.arrays.validation import finite_array
from workbench.errors import InputError, printable_path
from workbench.files.arrays import NUMPY, array_head, read_array
from workbench.files.market import read_market
from workbench.files.market_header import Header, read_header
from workbench.files.reading import opened
from workbench.files.unpacking import BZIP2, GZIP, unpacked
from workbench.process import limits

Shape = tuple[int, ...]
LARGEST_ENTRY = 16
"""Bytes of a complex number."""


@dataclasses.dataclass(frozen=True)
class VectorFile:
    """A file of columns. part: of an archive NAME.tar.gz, the end of the name in NAME/NAME<part>.mtx."""

    path: Path
    part: str = ""

    @property
    def name(self) -> str:
        """The path for a message."""
        return printable_path(self.path)

    @property
    def columns(self) -> int:
        """The number of columns; 1 for a vector. Cost: the head of the file, of an archive all of it, once for each
        version of a file. Raises InputError."""
        try:
            known = self.path.stat()
        except OSError:
            return _columns(self.path, self.part)
        return _known_columns(self.path, self.part, known.st_mtime_ns, known.st_size)

    def read(self, size: int) -> np.ndarray:
        """The columns, shape (size, s). Raises InputError for damaged files, other shapes, NaN and infinity."""
        values = finite_array(read_values(self.path, size, self.part), self.name)
        return values[:, None] if values.ndim == 1 else values


@functools.lru_cache(maxsize=64)
def _known_columns(path: Path, part: str, _changed: int, _size: int) -> int:
    return _columns(path, part)


def _columns(path: Path, part: str) -> int:
    with _opened(path) as stream:
        if _is_array(path, stream):
            shape = _read_array(path, stream, lambda array, length: array_head(array, length).shape)
        else:
            with unpacked(stream, path.name, _refusal(path), part) as text:
                shape = read_header(text.stream, text.most).shape
    return shape[1] if len(shape) == 2 else 1


def read_values(path: Path, size: int, part: str = "") -> np.ndarray:
    """The columns in a file, shape (size,) or (size, s), of any dtype. part: as in `VectorFile`.

    Memory: that of the array, taken once its data are known to be there. Raises InputError.
    """
    refusal = _refusal(path)

    def check(shape: Shape) -> None:
        if not shape or shape[0] != size or len(shape) > 2 or 0 in shape:
            raise InputError(f"it has shape {shape}, but the matrix has {size} rows; it must be {size} x s")
        needed, free = LARGEST_ENTRY * int(np.prod(shape, dtype=object)), limits.memory()[1]
        if needed > free:
            raise InputError(f"its shape {shape} needs {needed / 1e9:.3g} GB, and {free / 1e9:.3g} GB are free")

    def check_header(header: Header) -> None:
        if header.shape[1] > max(1, header.entries):
            raise InputError(
                f"line {header.lines} declares {header.shape[1]} columns and {header.entries} entries; leave out "
                "columns without an entry"
            )
        check(header.shape)

    with _opened(path) as stream:
        if _is_array(path, stream):
            return _read_array(path, stream, lambda array, length: read_array(array, length, check))
        with unpacked(stream, path.name, refusal, part) as text:
            stored = read_market(text, check_header)
            return stored if isinstance(stored, np.ndarray) else stored.toarray()


def _opened(path: Path) -> IO[bytes]:
    return opened(path, "file of vectors")


def _refusal(path: Path) -> str:
    return f"cannot read {printable_path(path)}"


def _read_array(path: Path, stream: IO[bytes], read: Callable[[IO[bytes], int], Any]) -> Any:
    """The result of a function of a NumPy array and the size of its file; errors become InputError."""
    try:
        return read(stream, os.fstat(stream.fileno()).st_size)
    except ValueError as error:
        raise InputError(f"{_refusal(path)}: {error}") from None
    except OSError as error:
        raise InputError(f"{_refusal(path)}: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{_refusal(path)}: the array does not fit into memory") from None


def _is_array(path: Path, stream: IO[bytes]) -> bool:
    """True for a NumPy array by its first bytes, or by its name unless those begin a text or a packed file."""
    first = stream.read(len(NUMPY))
    stream.seek(0)
    return first == NUMPY or (path.suffix.lower() == ".npy" and not first.startswith((b"%%", GZIP, BZIP2)))
