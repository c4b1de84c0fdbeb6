"""Safe reading of NumPy archives (.npz): sizes are checked before anything is unpacked or allocated."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Collection, Sequence
from typing import IO

import numpy as np

from workbench.errors import InputError
from workbench.files.arrays import read_array
from workbench.process import limits

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods of savez and savez_compressed; the memory that other methods need is not bounded."""


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
