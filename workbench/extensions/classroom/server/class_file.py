"""The file in which the list of a class outlives its server: in the state folder, for its owner alone."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from pathlib import Path
from typing import IO

import platformdirs

from workbench.errors import InputError, printable_path
from workbench.extensions.classroom.server.class_list import ClassList
from workbench.files import read_bytes
from workbench.files.data_files import path_of

if sys.platform != "win32":
    import fcntl

LARGEST = 16 << 20
"""Bytes of a file that is read."""
SOON = 2.0
"""Seconds after a change until it is written, with all changes until then."""
_log = logging.getLogger(__name__)


def state_folder() -> Path:
    """The folder of what outlives a server: WORKBENCH_STATE, otherwise the user's state folder."""
    named = os.environ.get("WORKBENCH_STATE")
    return Path(named).expanduser() if named else Path(platformdirs.user_state_dir("cg-workbench"))


class ClassFile:
    """Keeps a list in a file, of which one server at a time has the lock.

    path: of the file; None keeps the list in memory only. said: what whoever starts the server should know, in one
    sentence; empty if all is well.
    """

    def __init__(self, kept: ClassList, path: Path | None) -> None:
        self._list, self._path = kept, path
        self._lock: IO[bytes] | None = None
        self._writing: asyncio.TimerHandle | None = None
        self.said = ""
        if path is not None:
            try:
                self._path = path_of(path)
                self._open(self._path)
            # Of a path without a name too.
            except (OSError, ValueError) as error:
                self._path = None
                self.close()
                self.said = f"The list of this class is kept until the server ends only: {error}"

    def changed(self) -> None:
        """Write the list soon. Call it on the thread of the event loop."""
        if self._path is not None and self._writing is None:
            self._writing = asyncio.get_running_loop().call_later(SOON, self._write)

    def close(self) -> None:
        """Write what has changed, and let the lock go."""
        if self._writing is not None:
            self._writing.cancel()
            self._write()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _open(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = path.with_name(f"{path.name}.lock").open("ab")
        if sys.platform != "win32":
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._lock.close()
                raise InputError(
                    f"another server keeps its own in {printable_path(path)}; give this one another "
                    "--PageServer.class_file"
                ) from None
        if not path.exists():
            return
        try:
            self._list.read(json.loads(read_bytes(path, LARGEST)))
        except InputError:
            # It is a folder, a pipe, too large or not to be read, and no list that was damaged.
            raise
        except (LookupError, TypeError, ValueError, RecursionError, AttributeError):
            aside = path.with_name(f"{path.name}.damaged")
            path.replace(aside)
            self.said = f"The list of a class was damaged; it now is {printable_path(aside)}, and a new one begins."

    def _write(self) -> None:
        self._writing = None
        assert self._path is not None
        written = self._path.with_name(f"{self._path.name}.new")
        try:
            # For its owner alone from the first byte on.
            with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump(self._list.written(), file)
            written.replace(self._path)
        except OSError as error:
            _log.warning("The list of the class is not written to %s: %s", printable_path(self._path), error)
