"""Folders for temporary files, which a process that is killed leaves to the next one to remove."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import tempfile
import time
import weakref
from pathlib import Path
from types import TracebackType

from workbench.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

NEW = "new-workbench-"
"""The beginning of the name of a folder that is not locked yet."""
NEW_SECONDS = 3600
"""Older ones are those of a process that was killed before it had locked its folder."""
OURS = re.compile(rf"(workbench-[a-z]+-\d+-|{NEW})\w{{8}}")
"""Names of folders: what for, the number of the process, and letters by chance; those of new ones."""


class TemporaryFolder:
    """A new folder of this user, until `remove` or the end of the process or of this object; also a context.

    Its process has it locked, and the system unlocks it however the process ends. So the first folder of a process
    removes those of this user that are not locked. kind: letters for its name, such as "ranks". Raises InputError where
    there is no place for it.
    """

    def __init__(self, kind: str) -> None:
        try:
            within = tempfile.gettempdir()
            _clear(within)
            made = Path(tempfile.mkdtemp(prefix=NEW, dir=within))
            lock = _locked(made)
            self.path = made.with_name(f"workbench-{kind}-{os.getpid()}-{made.name.removeprefix(NEW)}")
            made.rename(self.path)
        except OSError as error:
            raise InputError(
                f"no folder for temporary files can be made ({error}); set TMPDIR to a folder in which you may write"
            ) from None
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
    if fcntl is None:
        return
    begun = time.time() - NEW_SECONDS
    with contextlib.suppress(OSError), os.scandir(within) as entries:
        for entry in entries:
            # One that another process removes meanwhile is gone.
            with contextlib.suppress(FileNotFoundError):
                if not OURS.fullmatch(entry.name):
                    continue
                found = entry.stat(follow_symlinks=False)
                left = found.st_uid == os.getuid() and (found.st_mtime < begun or not entry.name.startswith(NEW))
                if left and (lock := _locked(Path(entry.path))) is not None:
                    shutil.rmtree(entry.path, ignore_errors=True)
                    os.close(lock)
