"""Matrices of the SuiteSparse collection, downloaded once into the user's cache.

A file is received, compared with its length and checksum, parsed, then stored.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import http.client
import math
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, ClassVar

import numpy as np
import platformdirs
from tqdm import tqdm

from workbench.devices.host.slab import Slab
from workbench.errors import DOWNLOADED_MB, InputError, one_line, printable_path
from workbench.files import opened, read_bytes, replacing, write
from workbench.files.columns import VectorFile
from workbench.lazy import sparse
from workbench.operators import ComplexSymmetricMatrix, Matrix, Size
from workbench.problems.base import LinearSystem, Problem
from workbench.problems.catalogue import group_and_name, known_entry
from workbench.problems.files import matrix_system, rows_of
from workbench.problems.matrix_market import (
    Entries,
    given_coordinates,
    given_rhs,
    given_rhs_name,
    read_entries,
    size_of,
)
from workbench.registry import parameter, register

CHUNK = 1 << 18
"""Bytes that are received, stored and counted at a time."""
TIMEOUT_SECONDS = 30
"""Seconds without an answer after which a download fails."""
MOST_OF_A_RECORD = 1 << 12
"""Bytes of a file with a checksum, at most."""
LONGEST_LENGTH = 18
"""Digits of a Content-Length that is believed: longer numbers exceed 64 bits."""


@contextmanager
def downloaded(url: str, target: Path, sha256: str = "") -> Generator[IO[bytes]]:
    """The file at `url`, fetched with a progress bar on a terminal, as a stream for a `with` block that checks it.

    When the block ends, the file is stored as `target`. sha256: the checksum that the file must have; if empty, that of
    the file is recorded next to it. Nothing is kept when the block or the download raises. Raises InputError with the
    URL, the reason and where to put the file by hand; also on a page of `make app` if the files in the folders next to
    that of `target` would exceed the limit `DOWNLOADED_MB` together.
    """
    by_hand = f"; try again, or fetch that file elsewhere and put it at {target}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from None
    bytes_left = _bytes_left(target.parents[1])
    with replacing(target) as stream:
        received = hashlib.sha256()
        for chunk in _chunks(url, by_hand):
            bytes_left -= len(chunk)
            if bytes_left < 0:
                raise InputError(
                    f"{printable_path(url)} is not downloaded, since this server keeps at most "
                    f"{os.environ[DOWNLOADED_MB]} MB of downloaded matrices; choose one that it has or a smaller one"
                )
            stream.write(chunk)
            received.update(chunk)
        if sha256 and received.hexdigest() != sha256:
            raise InputError(
                f"{printable_path(url)} sent a file with another SHA-256 than the registry's {sha256}; "
                f"try another network, or put the .mtx file into {target.parent} by hand"
            )
        stream.seek(0)
        try:
            yield stream
        except InputError as error:
            raise InputError(f"{error}{by_hand}") from None
    if not sha256:
        _record_checksum(target, received.hexdigest())


def verify(path: Path, sha256: str = "") -> None:
    """Compare the checksum of a file with `sha256`, or if that is empty with the one in PATH.sha256, recorded at first
    use.

    Cost: one read of the file. Raises InputError if the checksums differ.
    """
    actual = file_sha256(path)
    if sha256:
        if actual != sha256:
            raise InputError(f"{path} has another SHA-256 than the registry; delete it to fetch it again")
        return
    record = _record_of(path)
    if not record.exists():
        _record_checksum(path, actual)
    elif read_bytes(record, MOST_OF_A_RECORD, "checksum").split()[:1] != [actual.encode()]:
        raise InputError(f"{path} has another SHA-256 than {record} says; delete both to fetch it again")


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file as hexadecimal text."""
    with opened(path, "matrix file") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # pyright: ignore[reportArgumentType]


def _bytes_left(folder: Path) -> float:
    """Bytes that may still be downloaded into a folder; infinite without a limit."""
    most = os.environ.get(DOWNLOADED_MB)
    if not most:
        return math.inf
    return 1e6 * float(most) - sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _record_of(path: Path) -> Path:
    """The path of the recorded checksum of a file."""
    return path.with_name(path.name + ".sha256")


def _record_checksum(path: Path, sha256: str) -> None:
    # A cache that cannot be written is no reason to refuse a file that can be read.
    with contextlib.suppress(InputError):
        write(_record_of(path), f"{sha256}  {path.name}\n")


def _chunks(url: str, by_hand: str) -> Iterator[bytes]:
    """The server's answer in chunks. Raises InputError for an error of the network or the server, and for an answer
    with another number of bytes than announced. by_hand: the end of the message."""
    received, announced = 0, None
    try:
        with _opened_url(url) as response:
            length = response.headers.get("Content-Length", "")
            announced = int(length) if length.isdecimal() and len(length) <= LONGEST_LENGTH else None
            name = url.rpartition("/")[2]
            with tqdm(total=announced, unit="B", unit_scale=True, desc=name, disable=None) as bar:
                while chunk := response.read(CHUNK):
                    yield chunk
                    received += len(chunk)
                    bar.update(len(chunk))
    except urllib.error.HTTPError as error:
        error.close()
        raise InputError(f"{printable_path(url)} answered {error.code} {one_line(error.reason)}{by_hand}") from None
    # Every error of a socket is an OSError.
    except (OSError, http.client.HTTPException) as error:
        reason = (error.reason if isinstance(error, urllib.error.URLError) else "") or error
        raise InputError(f"cannot download {printable_path(url)} ({one_line(reason)}){by_hand}") from None
    if announced is not None and received != announced:
        raise InputError(f"{printable_path(url)} sent {received} of {announced} bytes{by_hand}")


class _WebRedirects(urllib.request.HTTPRedirectHandler):
    """The redirects to follow: to http and https only, so that no server makes this machine read its own files."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if urllib.parse.urlsplit(newurl).scheme not in ("http", "https"):
            raise urllib.error.URLError(f"redirected to {newurl}, which is neither http nor https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opened_url(url: str) -> http.client.HTTPResponse:
    """The answer of a server, to be read. Raises InputError for a text that is no URL, OSError for what fails."""
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "cg-workbench"})
        return urllib.request.build_opener(_WebRedirects).open(request, timeout=TIMEOUT_SECONDS)
    # A UnicodeError is one: a host with more than 63 characters between two dots raises it.
    except ValueError:
        raise InputError(
            f"{printable_path(url)} is not a URL; check the environment variable WORKBENCH_SUITESPARSE_URL"
        ) from None


COLLECTION_URL = "https://sparse.tamu.edu/MM"
DOWNLOADED = ".tar.gz"
"""The ending of files from the collection."""


@register
@dataclasses.dataclass(frozen=True)
class SuiteSparse(Problem):
    """A matrix of the SuiteSparse collection by name or group/name; b = 1, x0 = 0.

    The file is downloaded once, into the folder of the environment variable WORKBENCH_CACHE or the user's cache folder,
    as suitesparse/GROUP/NAME.tar.gz; a .tar.gz, .mtx.gz or .mtx that the user put there is read as well. Its checksum
    is compared with the registry's or with the one recorded at first use, N and nnz with the registry. A download that
    is incomplete, or another matrix, is not kept. WORKBENCH_SUITESPARSE_URL names a mirror. On ranks as `MatrixFile`.

    Cost: the download; later one pass over the text. Raises InputError for an unknown name, a failed download, a
    changed file, and a file that `read_matrix` refuses.

    Source: Davis, Hu (2011), The University of Florida sparse matrix collection, ACM TOMS 38(1).
    """

    name: ClassVar[str] = "suitesparse"
    title: ClassVar[str] = "A matrix of the SuiteSparse collection"
    has_grid: ClassVar[bool] = False
    on_ranks: ClassVar[bool] = True

    matrix: str = parameter("bcsstk15", "name or group/name, such as HB/bcsstk15")

    def __post_init__(self) -> None:
        super().__post_init__()
        group_and_name(self.matrix)

    @property
    def words(self) -> str:
        return f"matrix {'/'.join(group_and_name(self.matrix))}"

    @property
    def known_size(self) -> Size | None:
        entry = known_entry(self.matrix)
        return None if entry is None else Size.of_rows(entry.N, entry.nnz)

    def assemble(self, seed: int = 0) -> LinearSystem:
        return self._read(Matrix)

    def rows(self, slab: Slab, seed: int = 0) -> LinearSystem:
        return rows_of(self.assemble(seed), slab)

    @property
    def unknowns_of_rows(self) -> int:
        if self.known_size:
            return self.known_size.unknowns
        path = cached(*group_and_name(self.matrix)) or self._fetch()[0]
        return size_of(path)

    def assemble_complex_symmetric(self, seed: int = 0) -> LinearSystem:
        return self._read(ComplexSymmetricMatrix)

    @property
    def at_hand(self) -> bool:
        return cached(*group_and_name(self.matrix)) is not None

    def given_rhs(self) -> VectorFile:
        if not self.at_hand:
            self._fetch()
        path = cached(*group_and_name(self.matrix))
        assert path is not None
        return given_rhs(path)

    def coordinates(self) -> np.ndarray | None:
        path = cached(*group_and_name(self.matrix))
        return None if path is None else given_coordinates(path, self.unknowns_of_rows)

    def _read(self, kind: type[Matrix]) -> LinearSystem:
        group, name = group_and_name(self.matrix)
        path, sha256 = cached(group, name), self._sha256
        if path is not None:
            verify(path, sha256 if path.name.endswith(DOWNLOADED) else "")
            with opened(path, "matrix file") as stream:
                entries = read_entries(stream, path.name, f"cannot read {path}", exact=True)
            self._check_size(entries.matrix, f"{path} holds", "; delete it to fetch it again")
        else:
            path, entries = self._fetch()
        try:
            return matrix_system(kind(entries.matrix), given_rhs_name(path, entries.members))
        except InputError as error:
            raise InputError(f"cannot use {path}: {entries.refused(error)}", changes=error.changes) from None

    def _fetch(self) -> tuple[Path, Entries]:
        """Download the archive into the cache. Returns its path, the entries of the matrix and its files' names."""
        group, name = group_and_name(self.matrix)
        path = cache_folder() / "suitesparse" / group / f"{name}{DOWNLOADED}"
        base = os.environ.get("WORKBENCH_SUITESPARSE_URL") or COLLECTION_URL
        url = f"{base.rstrip('/')}/{group}/{name}{DOWNLOADED}"
        with downloaded(url, path, self._sha256) as stream:
            refusal = f"{printable_path(url)} sent what cannot be read"
            entries = read_entries(stream, path.name, refusal, exact=True)
            self._check_size(entries.matrix, f"{printable_path(url)} sent")
        return path, entries

    @property
    def _sha256(self) -> str:
        entry = known_entry(self.matrix)
        return entry.sha256 if entry else ""

    def _check_size(self, entries: sparse.csr_array, source: str, advice: str = "") -> None:
        """Raise InputError if N and nnz are not those of the registry. source, advice: parts of the message."""
        entry = known_entry(self.matrix)
        if entry is None:
            return
        found = (int(entries.shape[0]), int(np.count_nonzero(entries.data)))
        if found != (entry.N, entry.nnz):
            raise InputError(
                f"{source} {found[0]} rows and {found[1]} non-zeros, but {entry.group}/{entry.name} has "
                f"{entry.N} and {entry.nnz}{advice}"
            )


def cache_folder() -> Path:
    """The folder of downloads: WORKBENCH_CACHE, otherwise the user's cache folder."""
    return Path(os.environ.get("WORKBENCH_CACHE") or platformdirs.user_cache_dir("cg-workbench"))


def cached(group: str, name: str) -> Path | None:
    """The path of a matrix in the cache; None where it would have to be downloaded."""
    folder = cache_folder() / "suitesparse" / group
    paths = (folder / f"{name}{ending}" for ending in (".tar.gz", ".mtx.gz", ".mtx"))
    return next((path for path in paths if path.exists()), None)
