"""Cache of machine code on disk, one file per kernel and argument types, written atomically and checked when read.

A file is executed, so it counts only if it is a regular file, owned by this user or the administrator and writable by
no one else, and if its checksum and its key are right. Anything else, and every error of the disk, is a cache miss: the
kernel is compiled again, and stored elsewhere or in memory only.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs

MAGIC = b"cg-workbench kernel 1\n"
SUFFIX = ".kernel"


def read(key: str) -> bytes | None:
    """The machine code stored under a key (hexadecimal), or None. One read of the file."""
    for folder in _folders():
        with contextlib.suppress(OSError):
            content = _trusted(folder / (key + SUFFIX))
            code = content[len(MAGIC) + 32 :]
            if content[: len(MAGIC) + 32] == MAGIC + _checksum(key, code):
                return code
    return None


def write(key: str, code: bytes) -> bool:
    """Store machine code under a key; False if no folder can be written. Other processes see all of it or nothing."""
    return any(_written(folder, key, code) for folder in _folders())


def has_any() -> bool:
    """True if machine code is stored under any key; False where no folder can be read."""
    with contextlib.suppress(OSError):
        return any(next(folder.glob(f"*{SUFFIX}"), None) is not None for folder in _folders())
    return False


def _folders() -> Iterator[Path]:
    """The user's cache folder, and a private one where that cannot be used."""
    with contextlib.suppress(RuntimeError):  # raised by pathlib and platformdirs without a home folder
        yield Path(os.environ.get("WORKBENCH_CACHE") or platformdirs.user_cache_dir("cg-workbench")) / "machine-code"
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    with contextlib.suppress(OSError):  # where nothing can be written there may be no folder for temporary files
        yield Path(tempfile.gettempdir()) / f"cg-workbench-{user}"


def _checksum(key: str, code: bytes) -> bytes:
    # Includes the key, so that a renamed file does not match.
    return hashlib.sha256(key.encode() + code).digest()


def _trusted(path: Path) -> bytes:
    """The content of a file that only this user can have written; OSError for any other."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is not a file")
        if hasattr(os, "getuid") and (found.st_uid not in (os.getuid(), 0) or found.st_mode & 0o022):
            raise OSError(f"{path} may have been written by another user")
        return file.read()


def _written(folder: Path, key: str, code: bytes) -> bool:
    name = ""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(suffix=".tmp", dir=folder)  # mode 0600
        with open(handle, "wb") as file:
            file.write(MAGIC + _checksum(key, code) + code)
        os.replace(name, folder / (key + SUFFIX))
        return True
    except OSError:
        with contextlib.suppress(OSError):
            if name:
                os.unlink(name)
        return False
