"""The text of a matrix file, unpacked as it is read: what a file is follows from its first bytes, not from its name."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import tarfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, NamedTuple

from workbench.errors import InputError, quoted
from workbench.process import limits

ENDINGS = (".mtx", ".mtx.gz", ".mtx.bz2", ".tar.gz", ".petsc")
"""Endings of the names of matrix files, in any case."""
READ = (
    "read are Matrix Market files (.mtx), also packed by gzip or bzip2 or in a .tar.gz, PETSc's binary matrices "
    "(.petsc), and of vectors .npy files"
)
GZIP, BZIP2 = b"\x1f\x8b", b"BZh"
FOREIGN = {
    b"\x93NUMPY": "a NumPy array",
    b"PK\x03\x04": "a ZIP archive, as .npz files are",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"MATLAB": "a MATLAB file",
    b"\x89HDF": "an HDF5 file, as newer .mat files are",
    b"\xff\xfe": "a text in UTF-16",
    b"\xfe\xff": "a text in UTF-16",
    b"\x80": "a pickle",
    b"<": "a web page",
}
"""Kinds of files that cannot be read, by their first bytes."""
LARGEST_RATIO = 1032
"""The bytes to which one byte of deflate may unpack."""
BLOCK = 1 << 20


class Unpacked(NamedTuple):
    """stream: the unpacked text from its beginning, which can be sought. most: bytes that it may have.

    members: names of all .mtx files of an archive, complete once `unpacked` has ended.
    """

    stream: IO[bytes]
    most: int
    members: list[str]


def stem_and_ending(name: str) -> tuple[str, str]:
    """The name of a file without its suffixes, and these; of the names of matrix files as `ENDINGS` has them."""
    for ending in ENDINGS[::-1]:
        if name.lower().endswith(ending):
            return name[: -len(ending)], ending
    path = PurePath(name)
    return path.stem, path.suffix


def file_stem(path: Path) -> str:
    """The name of a file without its suffixes."""
    return stem_and_ending(path.name)[0]


@contextmanager
def unpacked(stream: IO[bytes], name: str, refusal: str, part: str = "", *, exact: bool = False) -> Generator[Unpacked]:
    """The text of an open file called `name`: plain, packed, or the matrix in an archive, whatever the name says.

    Of an archive NAME.tar.gz, NAME/NAME.mtx is taken, else its only .mtx file, else the only one that is named as its
    folder. part: of an archive, take NAME/NAME<part>.mtx. exact: no other than that. refusal: start of error messages,
    also of those raised while the text is read. The checksum is compared at the end: of an archive, which is read to
    its end after the block, or of the text.

    Memory: some buffers. Raises InputError for other formats, damaged files, and those that unpack to more than
    `workbench.process.limits.unpacked`.
    """
    try:
        size = stream.seek(0, os.SEEK_END)
        content: IO[bytes] = stream
        most = size
        if _first(stream, 2) == GZIP:
            most = min(limits.unpacked(size), LARGEST_RATIO * size)
            content = _Bounded(gzip.GzipFile(fileobj=stream, mode="rb"), limits.unpacked(size))  # type: ignore[arg-type]
        elif _first(stream, 3) == BZIP2:
            most = limits.unpacked(size)
            content = _Bounded(bz2.BZ2File(stream, "rb"), most)
        if _is_tar(content):
            with tarfile.open(fileobj=content, mode="r:") as archive:
                members: list[str] = []
                member = _member(archive, file_stem(Path(name)), part, exact)
                text = archive.extractfile(member)
                assert text is not None
                yield Unpacked(text, min(most, member.size), members)
                members[:] = [found.name for found in _matrices(archive)]
                while content.read(BLOCK):
                    pass
        else:
            _refuse_foreign(content)
            if part:
                raise InputError(f"it is no archive, so it has no {file_stem(Path(name))}{part}.mtx")
            yield Unpacked(content, most, [])
    except InputError as error:
        raise InputError(f"{refusal}: {error}") from None
    except EOFError:
        raise InputError(f"{refusal}: the compressed file is truncated; copy or download it again") from None
    except (gzip.BadGzipFile, zlib.error, tarfile.TarError, ValueError) as error:
        raise InputError(f"{refusal}: the compressed file is damaged ({error})") from None
    except OSError as error:
        raise InputError(f"{refusal}: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{refusal}: the matrix does not fit into memory") from None


class _Bounded(io.BufferedReader):
    """An unpacked stream of at most `most` bytes. Raises InputError beyond."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        super().__init__(_BoundedRaw(stream, most))
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        """Room is made for as much as is asked for, and an archive's headers may ask for anything."""
        return super().read(self._most + 1 if size is None or size < 0 else min(size, self._most + 1))


class _BoundedRaw(io.RawIOBase):
    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream, self._most = stream, most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        found = self._stream.readinto(buffer)  # type: ignore[attr-defined]
        self._check()
        return found

    def seek(self, place: int, whence: int = 0, /) -> int:
        place = self._stream.seek(min(place, self._most + 1) if whence == 0 else place, whence)
        self._check()
        return place

    def tell(self) -> int:
        return self._stream.tell()

    def _check(self) -> None:
        if self._stream.tell() > self._most:
            raise InputError(
                f"it unpacks to more than {self._most >> 20} MiB, over {limits.UNPACKED_RATIO} times its size; unpack "
                "it yourself if that is what it should hold"
            )


def _first(stream: IO[bytes], size: int) -> bytes:
    stream.seek(0)
    found = stream.read(size)
    stream.seek(0)
    return found


def _is_tar(stream: IO[bytes]) -> bool:
    return _first(stream, tarfile.BLOCKSIZE)[257:262] == b"ustar"


def _refuse_foreign(stream: IO[bytes]) -> None:
    first = _first(stream, 8)
    for mark, what in {**FOREIGN, GZIP: "a gzip file in a packed file", BZIP2: "a bzip2 file in a packed file"}.items():
        if first.startswith(mark):
            raise InputError(f"it is {what}; {READ}, so convert or unpack it first")


def _matrices(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The .mtx files in an archive."""
    for count, member in enumerate(archive):
        if count >= limits.MOST_MEMBERS:
            raise InputError(f"the archive has more than {limits.MOST_MEMBERS} members; unpack it yourself")
        if member.isreg() and member.name.lower().endswith(".mtx"):
            yield member


def _member(archive: tarfile.TarFile, stem: str, part: str, exact: bool) -> tarfile.TarInfo:
    wanted = f"{stem}/{stem}{part}.mtx"
    found = []
    for member in _matrices(archive):
        if member.name.removeprefix("./") == wanted:
            return member
        found.append(member)
    own = [member for member in found if _is_named_as_folder(PurePosixPath(member.name), part)]
    for candidates in (own if part else found, own):
        if len(candidates) == 1 and not exact:
            return candidates[0]
    names = ", ".join(member.name for member in found[:3]) or "no .mtx file"
    raise InputError(f"the archive has no {quoted(wanted)}, but {quoted(names)}")


def _is_named_as_folder(path: PurePosixPath, part: str) -> bool:
    return path.stem == path.parent.name + part
