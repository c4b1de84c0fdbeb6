"""Arrays in .npy format from untrusted files."""

from __future__ import annotations

import math
from typing import IO

import numpy as np


def read_array(stream: IO[bytes], size: int) -> np.ndarray:
    """The array that a stream of `size` bytes holds, and nothing else. Raises ValueError for any other stream.

    A head may announce any shape: only what agrees with the size is allocated. No pickles.
    """
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
    if dtype.hasobject or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != left:
        raise ValueError("another size than announced")
    content = bytearray(stream.read(left))
    if len(content) != left:
        raise ValueError("cut short")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if by_columns else "C")
