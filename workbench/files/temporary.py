"""Folders for temporary files, which a process that is killed leaves to the next one to remove."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from types import TracebackType

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

NEW = "new-workbench-"
"""The beginning of the name of a folder that is not locked yet."""
OURS = re.compile(r"workbench-[a-z]+-\d+-\w{8}")
"""Names of folders: what for, the number of the process, and letters by chance."""


class TemporaryFolder:
    """A new folder of this user, until `remove` or the end of the process or of this object; also a context.

    Its process has it locked, and the system unlocks it however the process ends. So the first folder of a process
    removes those of this user that are not locked. kind: letters for its name, such as "ranks".
    """

    def __init__(self, kind: str) -> None:
        within = tempfile.gettempdir()
        _clear(within)
        made = Path(tempfile.mkdtemp(prefix=NEW, dir=within))
        lock = _locked(made)
        self.path = made.with_name(f"workbench-{kind}-{os.getpid()}-{made.name.removeprefix(NEW)}")
        made.rename(self.path)
        self.remove = weakref.finalize(self, _remove, self.path, lock, os.getpid())
        """Remove it with all files in it; once is enough."""

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.remove()


def _locked(folder: Path) -> int | None:
    """The open folder, locked; None where it is locked by another process, or the system has no such locks."""
    if fcntl is None:
        return None
    with contextlib.suppress(OSError):
        found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(found)
        else:
            return found
    return None


def _remove(folder: Path, lock: int | None, process: int) -> None:
    # Not by a process that was forked from its own.
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)


@functools.cache
def _clear(within: str) -> None:
    """Remove what killed processes of this user have left, once in a process."""
    with contextlib.suppress(OSError), os.scandir(within) as found:
        for entry in found:
            # One that another process removes meanwhile is gone.
            with contextlib.suppress(FileNotFoundError):
                ours = OURS.fullmatch(entry.name) and entry.stat(follow_symlinks=False).st_uid == os.getuid()
                if ours and (lock := _locked(Path(entry.path))) is not None:
                    shutil.rmtree(entry.path, ignore_errors=True)
                    os.close(lock)
