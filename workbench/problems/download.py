"""Fetching a file once: into a temporary file, its length and checksum verified, renamed when whole."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import http.client
import os
import ssl
import tempfile
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tqdm import tqdm

from workbench.errors import InputError

CHUNK = 1 << 18
TIMEOUT_SECONDS = 30


def download(url: str, target: Path, sha256: str = "") -> None:
    """Fetch `url` into `target` with a progress bar on a terminal; whatever goes wrong, nothing half-written stays.

    sha256: what the file must have; where it is empty, the length that the server announces is compared, or, without
    one, the file is unpacked as a test. Raises InputError with the URL, the reason and where to put the file by hand.
    """
    by_hand = f"; try again, or fetch that file elsewhere and put it at {target}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _temporary_file(target.parent) as (stream, path):
            announced, received = _receive(url, stream)
            stream.close()
            if announced is not None and received != announced:
                raise InputError(f"{url} sent {received} of {announced} bytes{by_hand}")
            if sha256 and file_sha256(path) != sha256:
                raise InputError(
                    f"{url} sent a file with another SHA-256 than the registry's {sha256}; "
                    f"try another network, or put the .mtx file into {target.parent} by hand"
                )
            if not _is_gzip(path, thorough=announced is None):
                raise InputError(f"{url} sent something that is not a compressed archive{by_hand}")
            os.replace(path, target)
    except urllib.error.HTTPError as error:
        error.close()
        raise InputError(f"{url} answered {error.code} {error.reason}{by_hand}") from None
    except (urllib.error.URLError, http.client.HTTPException, ssl.SSLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(f"cannot download {url} ({reason}){by_hand}") from None
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from None


def verify(path: Path, sha256: str = "") -> None:
    """Compare a file with `sha256`, or with what PATH.sha256 recorded at first use; record it there at first use.

    Cost: one read of the file. Raises InputError when the file has changed.
    """
    actual = file_sha256(path)
    record = path.with_name(path.name + ".sha256")
    if sha256 and actual != sha256:
        raise InputError(f"{path} has another SHA-256 than the registry; delete it to fetch it again")
    if not sha256 and record.exists() and record.read_text(encoding="utf-8").split()[:1] != [actual]:
        raise InputError(f"{path} has another SHA-256 than {record} says; delete both to fetch it again")
    if not sha256 and not record.exists():
        # A cache that cannot be written is no reason to refuse a file that can be read.
        with contextlib.suppress(OSError), _temporary_file(path.parent) as (stream, temporary):
            stream.write(f"{actual}  {path.name}\n".encode())
            stream.close()
            os.replace(temporary, record)


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file as hexadecimal text."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _receive(url: str, stream: IO[bytes]) -> tuple[int | None, int]:
    """Copy the response into the stream: bytes announced (None where the server does not say) and received."""
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "cg-workbench"})
    except ValueError:
        raise InputError(f"{url} is not a URL; check the environment variable WORKBENCH_SUITESPARSE_URL") from None
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        length = response.headers.get("Content-Length", "")
        announced = int(length) if length.isdecimal() else None
        name = url.rpartition("/")[2]
        with tqdm(total=announced, unit="B", unit_scale=True, desc=name, disable=None) as bar:
            while chunk := response.read(CHUNK):
                stream.write(chunk)
                bar.update(len(chunk))
    return announced, stream.tell()


def _is_gzip(path: Path, *, thorough: bool) -> bool:
    try:
        with gzip.open(path, "rb") as stream:
            while stream.read(CHUNK) and thorough:
                pass
    except (OSError, EOFError, zlib.error):
        return False
    return True


@contextlib.contextmanager
def _temporary_file(folder: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """A new file beside its target, so that renaming it is one step; removed unless it was renamed."""
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as stream:
        try:
            yield stream, Path(stream.name)
        finally:
            Path(stream.name).unlink(missing_ok=True)
