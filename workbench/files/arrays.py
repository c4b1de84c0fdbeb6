"""Arrays in files, one (.npy) or several (.npz), and plain data next to them.

Reading is safe: sizes are checked before anything is unpacked or allocated.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Callable, Collection, Sequence
from typing import IO, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.files.codec import read_json
from workbench.process import limits

NUMPY = np.lib.format.MAGIC_PREFIX
"""The first bytes of a file with one array."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods of savez and savez_compressed; the memory that other methods need is not bounded."""


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


def read_arrays(stream: IO[bytes], names: Collection[str]) -> dict[str, np.ndarray]:
    """The named arrays that are in the file; texts are arrays of shape (). Other members are not unpacked.

    Memory: that of the arrays, at most `workbench.process.limits.unpacked`. Raises InputError for a file of
    another format, a damaged one, and one that would unpack to more.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            requested = {f"{name}.npy": name for name in names}
            members = [member for member in archive.infolist() if member.filename in requested]
            check_unpacked(members, os.fstat(stream.fileno()).st_size)
            _check_directory(archive, stream)
            return {requested[member.filename]: _array(archive, member) for member in members}
    except (InputError, MemoryError):
        raise
    # For invalid bytes, zipfile, zlib, NumPy and Python's parser raise some fifteen kinds of exceptions.
    except Exception:
        raise InputError("it is damaged or has another format") from None


def check_unpacked(members: Sequence[zipfile.ZipInfo], packed: int, before: int = 0) -> int:
    """The bytes that members of a file of `packed` bytes unpack to, and `before`, what others of it unpack to.

    Raises InputError where that is more than `workbench.process.limits` allows, and for too many members.
    """
    if len(members) > limits.MOST_MEMBERS:
        raise InputError(f"it has {len(members)} members, {limits.MOST_MEMBERS} are allowed")
    unpacked, limit = before + sum(member.file_size for member in members), limits.unpacked(packed)
    if unpacked > limit:
        raise InputError(f"it would unpack to {unpacked / 1e6:.0f} MB, {limit / 1e6:.0f} MB are allowed")
    return unpacked


def json_array(plain: object) -> np.ndarray:
    """Plain data as an array of shape (), for `savez`; `json_of` reads it."""
    return np.array(json.dumps(plain))


def json_of(array: np.ndarray) -> Any:
    """The plain data of `json_array`. Raises InputError for other arrays."""
    return read_json(text_of(array))


def text_of(array: np.ndarray) -> str:
    """The text in an array of shape (). Raises InputError for other arrays."""
    if array.dtype.kind != "U" or array.shape:
        raise InputError("it has numbers in place of a text")
    order = "be" if array.dtype.str[0] == ">" else "le"
    try:
        return array.tobytes().decode(f"utf-32-{order}").rstrip("\0")
    except UnicodeDecodeError:
        raise InputError("it has a text that is not valid Unicode") from None


def _check_directory(archive: zipfile.ZipFile, stream: IO[bytes]) -> None:
    """Raise ValueError or BadZipFile for a damaged directory, in which members could seem to be missing."""
    stream.seek(archive.start_dir)
    # A wrong length of one entry hides the entries after it.
    if stream.read().count(b"PK\x01\x02") != len(archive.infolist()):
        raise ValueError
    for member in archive.infolist():
        # Opening compares the name in the directory with the one stored next to the content.
        archive.open(member).close()


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    if member.compress_type not in METHODS:
        raise ValueError
    with archive.open(member) as stream:
        made = read_array(stream, member.file_size)
        # Reading to the end compares the checksum.
        if stream.read(1):
            raise ValueError
    return made
