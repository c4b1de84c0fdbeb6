"""Files are written whole or not at all, and the type of file behind a path is preserved.

A regular file is replaced in one step by a new one with its owner and its mode; one that is new has the mode that the
umask leaves. Behind a symbolic link its target is written. Pipes and character devices are written into. SIGTERM and
SIGHUP end a process in order, and not within a block that must be whole.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import secrets
import signal
import stat
import threading
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import IO

from workbench.errors import InputError, printable_path
from workbench.files.reading import kind_of


class EndedBySignal(SystemExit):
    """A signal ends the process: what keeps any other error, such as a row of a sweep, lets this one pass."""


_unbroken: list[None] = []
"""One entry for each block of `unbroken` that is entered."""
_late: list[int] = []
"""Signals that arrived meanwhile."""


@contextlib.contextmanager
def unbroken() -> Generator[None]:
    """A block of the main thread that signals handled by `ended_in_order` end only after its last line, as what it
    starts would continue in threads of its own. In other threads, which no signal ends, it does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _unbroken.append(None)
    try:
        yield
    finally:
        _unbroken.pop()
        if _late and not _unbroken:
            number = _late[0]
            _late.clear()
            raise EndedBySignal(128 + number)


@contextlib.contextmanager
def ended_in_order(received: list[int] | None = None) -> Generator[None]:
    """SIGTERM and SIGHUP raise EndedBySignal inside, with the status that shells give for them, so that what the block
    and those around it have opened is closed; received: the list that they are added to.

    Only in the main thread, and where nothing else handles them.
    """

    def end(number: int, _frame: FrameType | None) -> None:
        if received is not None:
            received.append(number)
        if _unbroken:
            _late.append(number)
            return
        raise EndedBySignal(128 + number)

    mine = threading.current_thread() is threading.main_thread()
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in numbers if mine else ():
            signal.signal(number, end)
        yield
    finally:
        for number in numbers if mine else ():
            signal.signal(number, signal.SIG_DFL)


MODE = 0o666
"""Mode of new files, before the umask."""
MOST_LINKS = 40
"""Symbolic links that are followed, as many as Linux follows."""


def write(path: Path, content: bytes | str) -> Path:
    """Write a file and return its path; where that fails, what was there stays and nothing is left behind.

    Text is written in UTF-8. What UTF-8 has no bytes for, halves of surrogate pairs, which JSON may hold, is escaped.

    A pipe needs a reader. Other names of the same file (hard links) keep its old content. Raises InputError for a
    folder, a socket, a disk, a file that may not be written, and where the folder cannot be written or the disk is
    full.
    """
    written = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    with _failing_in_a_sentence(path):
        place = _place(path)
        with _replacing(place) if place.replaceable else place.opened() as stream:
            stream.write(written)
    return path


@contextlib.contextmanager
def replacing(path: Path) -> Generator[IO[bytes]]:
    """A stream for writing, and for reading what was written, that becomes the file when the block ends.

    When it ends by an exception, what was there stays and nothing is left behind. Raises InputError as `write` does,
    and for whatever is no regular file.
    """
    with _failing_in_a_sentence(path):
        place = _place(path)
        if not place.replaceable:
            raise InputError(f"cannot write {printable_path(path)}: it is no regular file; choose another place")
        with _replacing(place) as stream:
            yield stream


def with_ending(path: Path, ending: str, instead: str = "") -> Path:
    """The path with an ending, which may replace another one. Raises InputError for the path of a device, a pipe or a
    folder, whose user does not expect a file of a similar name."""
    if path.name.endswith(ending):
        return path
    with _failing_in_a_sentence(path):
        if path.exists() and not path.is_file():
            raise InputError(f"cannot write {printable_path(path)}: it is no regular file; choose another place")
    return path.with_name(f"{path.name.removesuffix(instead)}{ending}")


def check_target(path: Path) -> None:
    """Raise InputError where `write` could not write, as far as can be known before: nothing is made or opened."""
    with _failing_in_a_sentence(path):
        place = _place(path)
        folder = place.path.parent
        if place.replaceable and not folder.is_dir():
            raise InputError(
                f"cannot write {printable_path(path)}: there is no folder {printable_path(folder)}; "
                "choose another place"
            )
        if place.replaceable and not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@dataclasses.dataclass(frozen=True)
class _Place:
    """The target of a path. before: its status, None where nothing is; descriptor: of this process, if it is one."""

    path: Path
    before: os.stat_result | None
    descriptor: int | None = None

    @property
    def replaceable(self) -> bool:
        return self.descriptor is None and (self.before is None or stat.S_ISREG(self.before.st_mode))

    def opened(self) -> IO[bytes]:
        """A pipe or a device, for writing into it. Raises OSError with ENXIO for a pipe without a reader."""
        if self.descriptor is not None:
            return os.fdopen(os.dup(self.descriptor), "wb")
        stream = os.fdopen(os.open(self.path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY), "wb")
        os.set_blocking(stream.fileno(), True)
        return stream


def _place(path: Path) -> _Place:
    """The place behind all links. Raises InputError for one that cannot be written at all."""
    end = path
    for _ in range(MOST_LINKS):
        if not os.path.islink(end):
            break
        # /dev/stdout and the like lead to an open file, which a new one in its place would cut off.
        if os.path.realpath(end.parent) == f"/proc/{os.getpid()}/fd":
            return _Place(end, None, int(end.name))
        end = end.parent / os.readlink(end)
    try:
        before = os.stat(end)
    except FileNotFoundError:
        return _Place(end, None)
    if stat.S_ISDIR(before.st_mode) or stat.S_ISBLK(before.st_mode) or stat.S_ISSOCK(before.st_mode):
        kind = "a disk" if stat.S_ISBLK(before.st_mode) else kind_of(before.st_mode)
        raise InputError(f"cannot write {printable_path(path)}: it is {kind}; choose another place")
    if not os.access(end, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return _Place(end, before)


@contextlib.contextmanager
def _failing_in_a_sentence(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        reason = "no process reads from it" if error.errno == errno.ENXIO else error.strerror or error
        raise InputError(f"cannot write {printable_path(path)}: {reason}; choose another place") from None
    except ValueError as error:
        # A path with a null character, or with one that no file system can encode.
        if isinstance(error, InputError) or not ("null" in str(error) or isinstance(error, UnicodeEncodeError)):
            raise
        raise InputError(f"cannot write {printable_path(path)}: {error}; choose another place") from None


@contextlib.contextmanager
def _replacing(place: _Place) -> Generator[IO[bytes]]:
    with _cleared_away(place.path.parent) as name:
        # Until it has the mode of the file that it replaces, only its owner may read it.
        mode = MODE if place.before is None else 0o600
        with os.fdopen(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode), "w+b") as stream:
            yield stream
            _take_over(stream, place.before)
        os.replace(name, place.path)


def _take_over(stream: IO[bytes], before: os.stat_result | None) -> None:
    """Write all out; owner and mode become those of the file that is replaced."""
    stream.flush()
    if before is None:
        return
    now = os.fstat(stream.fileno())
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        # Only root may give a file away; others may keep its group.
        for owner in (before.st_uid, -1):
            with contextlib.suppress(OSError):
                os.fchown(stream.fileno(), owner, before.st_gid)
                break
    os.fchmod(stream.fileno(), stat.S_IMODE(before.st_mode) & 0o777)


@contextlib.contextmanager
def _cleared_away(folder: Path) -> Generator[Path]:
    """The name for a file that is gone when the block ends, by renaming or else by removing it.

    In the main thread that also holds for SIGTERM and SIGHUP, which end the process once the file is gone.
    """
    # Short, so that it fits wherever the target's name does.
    name = folder / f".{secrets.token_hex(8)}.part"
    received: list[int] = []
    try:
        with ended_in_order(received):
            try:
                yield name
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(name)
    finally:
        for number in received:
            signal.raise_signal(number)
