"""The number of processes of this user that run solves on this machine at the same time: their times are then not
comparable.

A process that uses the machine has a locked file in a folder of its user. The system releases the lock when the process
ends, however it does, so that files of killed processes are recognized and removed. A process that begins counts the
locked files and writes the count into all of them. Without such a folder or such locks, a process counts itself only.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import uuid
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

SUFFIX = ".run"


class UseWatch:
    """The largest number of processes at once since it was made, until `close`."""

    def __init__(self, use: MachineUse) -> None:
        self._use = use
        self.count = 1
        """The number at the last update."""

    @property
    def most(self) -> int:
        """The number, up to date."""
        self._use.update()
        return self.count

    def close(self) -> None:
        """Count no further."""
        self._use.forget(self)


class MachineUse:
    """A context in which this process uses the machine; contexts may be nested and overlap, in any thread.

    folder: by default one of this user in WORKBENCH_RUNTIME, XDG_RUNTIME_DIR or the folder for temporary files. Cost:
    entering, leaving and watching take some system calls for each process that uses the machine.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._depth = 0
        self._file: int | None = None
        self._path: Path | None = None
        self._read = 0
        self._watches: weakref.WeakSet[UseWatch] = weakref.WeakSet()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def __enter__(self) -> None:
        self.begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()

    def begin(self) -> None:
        """Enter the context."""
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                # A notice that cannot be given is no reason not to run.
                with contextlib.suppress(OSError):
                    self._enter()

    def end(self) -> None:
        """Leave it."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                with contextlib.suppress(OSError):
                    self._leave()

    def watch(self) -> UseWatch:
        """Count from now on; a process outside the context counts as one."""
        with self._lock:
            made = UseWatch(self)
            with contextlib.suppress(OSError):
                self._update()
                if self._path is not None:
                    made.count = 1 + sum(1 for _ in self._others())
            self._watches.add(made)
            return made

    def update(self) -> None:
        """Bring the counts of all watches up to date."""
        with self._lock, contextlib.suppress(OSError):
            self._update()

    def forget(self, watch: UseWatch) -> None:
        """Count no further for a watch."""
        self.update()
        with self._lock:
            self._watches.discard(watch)

    def _enter(self) -> None:
        if fcntl is None:
            return
        folder = self._made_folder()
        path = folder / f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        # Under its final name it is locked at once: others remove files that are not.
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        self._path, self._read = path.with_suffix(SUFFIX), 0
        path.rename(self._path)
        others = list(self._others())
        count = f"{1 + len(others)}\n".encode()
        os.write(self._file, count)
        for other in others:
            with contextlib.suppress(OSError), other.open("ab", buffering=0) as file:
                file.write(count)
        self._update()

    def _leave(self) -> None:
        self._update()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file = self._path = None

    def _update(self) -> None:
        """Read what other processes have written since the last time."""
        if self._file is None:
            return
        text = os.pread(self._file, 1 << 16, self._read)
        self._read += len(text)
        most = max((int(line) for line in text.split() if line.isdigit()), default=1)
        for watch in self._watches:
            watch.count = max(watch.count, most)

    def _others(self) -> Iterator[Path]:
        """The files of other processes that are locked; the others are removed."""
        assert fcntl is not None
        for path in self._made_folder().glob(f"*{SUFFIX}"):
            if path == self._path:
                continue
            with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except OSError:
                    yield path
                else:
                    path.unlink(missing_ok=True)

    def _made_folder(self) -> Path:
        # Not a folder of the user's home, which may be shared with other machines.
        named = os.environ.get("WORKBENCH_RUNTIME") or os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
        user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
        folder = self._folder or Path(named) / f"cg-workbench-{user}" / "runs"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def _forked(self) -> None:
        """In a forked process: the file and its lock belong to the parent, and stay locked while any copy is open."""
        self._lock, self._depth, self._watches = threading.Lock(), 0, weakref.WeakSet()
        with contextlib.suppress(OSError):
            self._close()


MACHINE_USE = MachineUse()
"""The use of the machine by this process."""


def sharing(count: int) -> str:
    """The notice for several runs at once; empty for one."""
    return f"{count} runs shared this machine; times are not comparable" if count > 1 else ""
