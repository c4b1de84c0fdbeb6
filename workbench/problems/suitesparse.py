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
from workbench.problems.matrix_market import given_rhs, given_rhs_name, read_entries, size_of
from workbench.registry import parameter, register

CHUNK = 1 << 18
TIMEOUT_SECONDS = 30
MOST_OF_A_RECORD = 1 << 12
"""Bytes of a file with a checksum."""


@contextmanager
def downloaded(url: str, target: Path, sha256: str = "") -> Generator[IO[bytes]]:
    """Fetch `url`, with a progress bar on a terminal, and hand it to the block as a stream from its beginning.

    When the block ends, the file is put at `target`, and its checksum next to it where `sha256`, what the file must
    have, is empty. When the block raises what is wrong with the file, or anything else goes wrong, nothing is kept.
    Raises InputError with the URL, the reason and where to put the file by hand, and on a page of `make app` where all
    files in the folders next to that of `target` would have more than the limit `DOWNLOADED_MB`.
    """
    by_hand = f"; try again, or fetch that file elsewhere and put it at {target}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from None
    room = _room(target.parents[1])
    with replacing(target) as stream:
        received = hashlib.sha256()
        for chunk in _chunks(url, by_hand):
            room -= len(chunk)
            if room < 0:
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
        _record(target, received.hexdigest())


def verify(path: Path, sha256: str = "") -> None:
    """Compare a file with `sha256`, or with what PATH.sha256 recorded at first use; record it there at first use.

    Cost: one read of the file. Raises InputError when the file has changed.
    """
    actual = file_sha256(path)
    record = _record_of(path)
    if sha256 and actual != sha256:
        raise InputError(f"{path} has another SHA-256 than the registry; delete it to fetch it again")
    if sha256:
        return
    if not record.exists():
        _record(path, actual)
    elif read_bytes(record, MOST_OF_A_RECORD, "checksum").split()[:1] != [actual.encode()]:
        raise InputError(f"{path} has another SHA-256 than {record} says; delete both to fetch it again")


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file as hexadecimal text."""
    with opened(path, "matrix file") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # pyright: ignore[reportArgumentType]


def _room(folder: Path) -> float:
    """Bytes that may still be downloaded into a folder."""
    most = os.environ.get(DOWNLOADED_MB)
    if not most:
        return math.inf
    return 1e6 * float(most) - sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _record_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _record(path: Path, sha256: str) -> None:
    # A cache that cannot be written is no reason to refuse a file that can be read.
    with contextlib.suppress(InputError):
        write(_record_of(path), f"{sha256}  {path.name}\n")


def _chunks(url: str, by_hand: str) -> Iterator[bytes]:
    """The server's answer in chunks, as many bytes as it announces. Raises InputError for whatever else happens."""
    received, announced = 0, None
    try:
        with _answer(url) as response:
            length = response.headers.get("Content-Length", "")
            announced = int(length) if length.isdecimal() and len(length) < 19 else None
            name = url.rpartition("/")[2]
            with tqdm(total=announced, unit="B", unit_scale=True, desc=name, disable=None) as bar:
                while chunk := response.read(CHUNK):
                    yield chunk
                    received += len(chunk)
                    bar.update(len(chunk))
    except urllib.error.HTTPError as error:
        error.close()
        raise InputError(f"{printable_path(url)} answered {error.code} {one_line(error.reason)}{by_hand}") from None
    # All that sockets raise is an OSError.
    except (OSError, http.client.HTTPException) as error:
        reason = (error.reason if isinstance(error, urllib.error.URLError) else "") or error
        raise InputError(f"cannot download {printable_path(url)} ({one_line(reason)}){by_hand}") from None
    if announced is not None and received != announced:
        raise InputError(f"{printable_path(url)} sent {received} of {announced} bytes{by_hand}")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Redirects to http and https only."""

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


def _answer(url: str) -> http.client.HTTPResponse:
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "cg-workbench"})
        return urllib.request.build_opener(_Redirects).open(request, timeout=TIMEOUT_SECONDS)
    # A host may have 63 characters between two dots; longer ones raise a UnicodeError.
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

    It is downloaded once into the cache folder (environment variable WORKBENCH_CACHE, otherwise the user's own), as
    suitesparse/GROUP/NAME.tar.gz; a .tar.gz, .mtx.gz or .mtx put there by hand is taken as well. Its checksum is
    compared with the registry's or with the one recorded at first use, N and nnz with the registry. A download that is
    no whole matrix, or another one, is not kept.
    WORKBENCH_SUITESPARSE_URL names a mirror. On ranks as `MatrixFile`.
    Cost: the download; later one pass over the text. Raises InputError for an unknown name, a failed download, a
    changed file, and whatever `read_matrix` refuses.
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

    def _read(self, kind: type[Matrix]) -> LinearSystem:
        group, name = group_and_name(self.matrix)
        path, sha256 = cached(group, name), self._sha256
        if path is not None:
            verify(path, sha256 if path.name.endswith(DOWNLOADED) else "")
            with opened(path, "matrix file") as stream:
                entries, members = read_entries(stream, path.name, f"cannot read {path}", exact=True)
            self._check_facts(entries, f"{path} holds", "; delete it to fetch it again")
        else:
            path, entries, members = self._fetch()
        try:
            return matrix_system(kind(entries), given_rhs_name(path, members))
        except InputError as error:
            raise InputError(f"cannot use {path}: {error}", changes=error.changes) from None

    def _fetch(self) -> tuple[Path, sparse.csr_array, list[str]]:
        """Download the archive into the cache: its path, the entries of the matrix, and the names of its files."""
        group, name = group_and_name(self.matrix)
        path = cache_folder() / "suitesparse" / group / f"{name}{DOWNLOADED}"
        base = os.environ.get("WORKBENCH_SUITESPARSE_URL") or COLLECTION_URL
        url = f"{base.rstrip('/')}/{group}/{name}{DOWNLOADED}"
        with downloaded(url, path, self._sha256) as stream:
            refusal = f"{printable_path(url)} sent what cannot be read"
            entries, members = read_entries(stream, path.name, refusal, exact=True)
            self._check_facts(entries, f"{printable_path(url)} sent")
        return path, entries, members

    @property
    def _sha256(self) -> str:
        entry = known_entry(self.matrix)
        return entry.sha256 if entry else ""

    def _check_facts(self, entries: sparse.csr_array, what: str, way_out: str = "") -> None:
        entry = known_entry(self.matrix)
        if entry is None:
            return
        found = (int(entries.shape[0]), int(np.count_nonzero(entries.data)))
        if found != (entry.N, entry.nnz):
            raise InputError(
                f"{what} {found[0]} rows and {found[1]} non-zeros, but {entry.group}/{entry.name} has "
                f"{entry.N} and {entry.nnz}{way_out}"
            )


def cache_folder() -> Path:
    """The folder of downloads: WORKBENCH_CACHE, otherwise the user's cache folder."""
    return Path(os.environ.get("WORKBENCH_CACHE") or platformdirs.user_cache_dir("cg-workbench"))


def cached(group: str, name: str) -> Path | None:
    """The matrix file in the cache, as it was found; None where it would have to be downloaded."""
    folder = cache_folder() / "suitesparse" / group
    paths = (folder / f"{name}{ending}" for ending in (".tar.gz", ".mtx.gz", ".mtx"))
    return next((path for path in paths if path.exists()), None)
