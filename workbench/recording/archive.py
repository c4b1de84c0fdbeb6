"""The arrays in a file of NumPy's (.npz), with nothing unpacked or allocated before its size has been looked at."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Collection
from typing import IO

import numpy as np

from workbench.errors import InputError
from workbench.files import read_array

SMALL, RATIO = 256 << 20, 50
"""A file may unpack to so many bytes, or to so many times its own size; whole runs take about 5 times, traces 10."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What savez and savez_compressed write; others unpack without a bound on what they take at once."""


def read_arrays(stream: IO[bytes], names: Collection[str]) -> dict[str, np.ndarray]:
    """Those of the named arrays that the file holds; texts are arrays of shape (). Others are not unpacked.

    Cost: the memory of the arrays, which is bounded by `SMALL` or `RATIO` times the file. Raises InputError for what is
    no such file, is damaged, or would unpack to more.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            wanted = {f"{name}.npy": name for name in names}
            members = [member for member in archive.infolist() if member.filename in wanted]
            most = max(SMALL, RATIO * os.fstat(stream.fileno()).st_size)
            unpacked = sum(member.file_size for member in members)
            if unpacked > most:
                raise InputError(f"it would unpack to {unpacked / 1e6:.0f} MB, {most / 1e6:.0f} MB are allowed")
            _check_directory(archive, stream)
            return {wanted[member.filename]: _array(archive, member) for member in members}
    except (InputError, MemoryError):
        raise
    # Bytes that are no archive end in some fifteen kinds of exceptions of zipfile, zlib, NumPy and Python's parser.
    except Exception:
        raise InputError("it is damaged, or of another kind") from None


def text_of(array: np.ndarray) -> str:
    """The text that an array of shape () holds. Raises InputError where it holds none."""
    if array.dtype.kind != "U" or array.shape:
        raise InputError("it holds numbers where a text should be")
    order = "be" if array.dtype.str[0] == ">" else "le"
    try:
        return array.tobytes().decode(f"utf-32-{order}").rstrip("\0")
    except UnicodeDecodeError:
        raise InputError("it holds a text that cannot be read") from None


def _check_directory(archive: zipfile.ZipFile, stream: IO[bytes]) -> None:
    """Raise ValueError or BadZipFile where damage could make a part unknown, which would then be taken as not kept."""
    stream.seek(archive.start_dir)
    # A wrong length of one entry swallows those behind it.
    if stream.read().count(b"PK\x01\x02") != len(archive.infolist()):
        raise ValueError
    for member in archive.infolist():
        # Opening compares the name with the one stored with the content.
        archive.open(member).close()


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    if member.compress_type not in METHODS:
        raise ValueError
    with archive.open(member) as stream:
        made = read_array(stream, member.file_size)
        # The checksum is compared at the end.
        if stream.read(1):
            raise ValueError
    return made
