"""Machine code on disk, a file for each kernel and types: checked before it is loaded, written whole or not at all.

What lies there is run, so a file counts only where this user (or the administrator) owns it and no one else may write
it, where it is a file and not a link, and where its checksum and its key are right. Everything else, and every error of
the disk, is as if nothing were there: the kernel is compiled again, and kept elsewhere or in memory alone.
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
    """What was kept under a key (hexadecimal), None where nothing usable was. One read of the file."""
    for folder in _folders():
        with contextlib.suppress(OSError):
            content = _trusted(folder / (key + SUFFIX))
            code = content[len(MAGIC) + 32 :]
            if content[: len(MAGIC) + 32] == MAGIC + _checksum(key, code):
                return code
    return None


def write(key: str, code: bytes) -> bool:
    """Keep machine code under a key; False where no folder takes it. Other processes see all of it or nothing."""
    return any(_written(folder, key, code) for folder in _folders())


def _folders() -> Iterator[Path]:
    """The user's cache folder, and a private one where that cannot be used."""
    with contextlib.suppress(RuntimeError):  # what pathlib and platformdirs raise without a home folder
        yield Path(os.environ.get("WORKBENCH_CACHE") or platformdirs.user_cache_dir("cg-workbench")) / "machine-code"
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    with contextlib.suppress(OSError):  # where nothing can be written there may be no folder for temporary files
        yield Path(tempfile.gettempdir()) / f"cg-workbench-{user}"


def _checksum(key: str, code: bytes) -> bytes:
    # The key too, so that a file under another name is not taken for it.
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
