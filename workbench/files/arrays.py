"""Arrays in .npy format from untrusted files."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import IO, NamedTuple

import numpy as np

NUMPY = np.lib.format.MAGIC_PREFIX
"""The first bytes of such a file."""


class ArrayHead(NamedTuple):
    """The contents of an array's head, and the bytes that it and its entries take."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype
    length: int


def array_head(stream: IO[bytes], size: int) -> ArrayHead:
    """Read the head of an array in a stream of `size` bytes. Raises ValueError unless the entries take the rest."""
    begun = stream.tell()
    try:
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = header(stream)
    except (OSError, MemoryError):
        raise
    # The head is a text in Python's own syntax, and its parser raises many kinds of exceptions.
    except Exception:
        raise ValueError("no head of an array") from None
    left = size - (stream.tell() - begun)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read; save numbers, as with array.astype(float)")
    announced = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or announced != left:
        raise ValueError(f"its head announces {announced} bytes of entries, but {left} follow; save it again")
    return ArrayHead(shape, by_columns, dtype, left)


def read_array(
    stream: IO[bytes], size: int, check: Callable[[tuple[int, ...]], None] = lambda shape: None
) -> np.ndarray:
    """The array that a stream of `size` bytes holds, and nothing else. Raises ValueError for any other stream.

    A head may announce any shape: only what agrees with the size is allocated, and `check` may refuse it before. No
    pickles.
    """
    head = array_head(stream, size)
    check(head.shape)
    content = bytearray(stream.read(head.length))
    if len(content) != head.length:
        raise ValueError("cut short")
    return np.frombuffer(content, head.dtype).reshape(head.shape, order="F" if head.by_columns else "C")
