"""Right-hand sides from a file: a Matrix Market file, or an array that NumPy saved."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from workbench.arrays import finite_array
from workbench.errors import InputError, printable_path
from workbench.files import opened, read_array

DAMAGED = (ValueError, OSError, EOFError, TypeError, OverflowError, MemoryError, zlib.error)


def columns_in(path: Path) -> int:
    """The number of columns in a file; 1 for a vector. Cost: the header, of an array all. Raises InputError."""
    shape = _read(path, lambda stream: scipy_io.mminfo(stream)[:2], lambda values: values.shape)
    return shape[1] if len(shape) == 2 else 1


def read_columns(path: Path, size: int) -> np.ndarray:
    """The columns of a file, shape (size, s). Raises InputError for damaged files, other shapes, NaN and infinity."""
    values = _read(path, scipy_io.mmread, lambda values: values)
    values = finite_array(values.toarray() if sparse.issparse(values) else values, printable_path(path))
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[0] != size or not values.shape[1]:
        raise InputError(
            f"{printable_path(path)} has shape {values.shape}, but the matrix has {size} rows; it must be {size} x s"
        )
    return values


def _read(path: Path, of_text: Callable[[Any], Any], of_array: Callable[[np.ndarray], Any]) -> Any:
    """What one of the two functions makes of a Matrix Market file, or of an array."""
    with opened(path, "file of right-hand sides") as stream:
        try:
            if path.suffix == ".npy":
                return of_array(read_array(stream, os.fstat(stream.fileno()).st_size))
            return of_text(_unpacked(stream, path))
        except DAMAGED as error:
            raise InputError(f"cannot read {printable_path(path)}: {error}") from None


def _unpacked(stream: IO[bytes], path: Path) -> IO[bytes]:
    content = stream.read()
    # SciPy's reader wants a stream in memory or a name.
    return io.BytesIO(gzip.decompress(content) if path.suffix == ".gz" else content)
