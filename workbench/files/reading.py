"""Opening what a user names for reading: regular files only, so that nothing waits for a pipe or reads a device."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

from workbench.errors import InputError, printable_path


def opened(path: str | Path, what: str = "file") -> IO[bytes]:
    """A regular file, opened for reading; symbolic links are followed.

    what: the kind of file in sentences, such as `run file`. Raises InputError where nothing is there, where it is a
    folder, a pipe, a socket or a device, and where it cannot be opened. It never waits.
    """
    try:
        # Opening a pipe or a device can have effects, so what it is comes first.
        _check_regular(os.stat(path).st_mode, path, what)
        # The file there may have changed since; O_NONBLOCK does not wait for the writer of a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            _check_regular(os.fstat(descriptor).st_mode, path, what)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise
    except InputError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"no {what} at {printable_path(path)}") from None
    # A ValueError is a path with a null character.
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or error
        raise InputError(f"cannot read {printable_path(path)}: {reason}") from None


def read_bytes(path: str | Path, most: int, what: str = "file") -> bytes:
    """All of a regular file of at most `most` bytes. Raises InputError as `opened` does, and for a larger file."""
    with opened(path, what) as stream:
        # Room is made for as much as is asked for, so the size comes first.
        size = os.fstat(stream.fileno()).st_size
        if size > most:
            raise InputError(
                f"{printable_path(path)} has {size} bytes, a {what} has at most {most}; choose another file"
            )
        try:
            return stream.read(size)
        except OSError as error:
            raise InputError(f"cannot read {printable_path(path)}: {error.strerror}") from None


def kind_of(mode: int) -> str:
    """The kind of a path by its st_mode, in words."""
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def _check_regular(mode: int, path: str | Path, what: str) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise InputError(f"{printable_path(path)} is a folder, not a {what}")
    raise InputError(
        f"{printable_path(path)} is {kind_of(mode)}, not a {what}; write what it holds to a file, and give that file"
    )
