"""The cache of the site: what takes long is kept in `build/docs/cache` by a hash of what it was made from."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Generator
from importlib.metadata import distributions
from pathlib import Path

from scripts.site.places import BUILD, CACHE, ROOT, SITE

SOURCES = ("workbench", "data", "docs", "notebooks", "scripts", "tests/browser/lab.py", "README.md")
PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""Files and folders of the checkout that the site is made from, and those of them that are pages."""
UNUSED = 30
"""Days after which an entry that no site has used is removed."""
STAMP = "made"


def digest(*paths: Path) -> str:
    """A hash of the contents of files and of all files in folders, but for hidden ones and caches of Python."""
    found = hashlib.sha256()
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            parts = file.relative_to(ROOT).parts
            if file.is_file() and not any(part == "__pycache__" or part.startswith(".") for part in parts):
                found.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return found.hexdigest()[:16]


@functools.cache
def library() -> str:
    """A hash of all that pictures are computed by: the package, its data, Python and the versions of packages."""
    versions = sorted(f"{each.metadata['Name']} {each.version}" for each in distributions())
    made_by = "\n".join([platform.python_version(), platform.machine(), *versions])
    return hashlib.sha256(f"{digest(ROOT / 'workbench', ROOT / 'data')} {made_by}".encode()).hexdigest()[:16]


def entry(name: str, *paths: Path) -> Path:
    """The folder in the cache of what is made by the library from these files, whether it exists or not."""
    key = hashlib.sha256(f"{library()} {digest(*paths)}".encode()).hexdigest()[:16]
    return CACHE / f"{name}-{key}"


@contextlib.contextmanager
def filled(folder: Path) -> Generator[Path]:
    """An empty folder, which takes the name of an entry once the block has ended without an error."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
    try:
        yield made
        with contextlib.suppress(FileExistsError):
            # Another run may have been faster; its entry is as good. A folder is renamed as a whole or not at all.
            if not folder.exists():
                made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def used(folder: Path) -> Path:
    """An entry, marked as used today."""
    os.utime(folder)
    return folder


def pruned() -> None:
    """Remove entries that no site has used for `UNUSED` days, and what a run that was killed has left."""
    oldest = time.time() - 86400 * UNUSED
    # Names of entries end with a key; folders that hold entries have none.
    for folder in [each for pattern in ("*-*", ".*", "*/*-*", "*/.*") for each in CACHE.glob(pattern)]:
        if folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def alone() -> Generator[None]:
    """Wait until no other run makes the site of this checkout, and make others wait."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def whole() -> str:
    """A hash of all that the site is made from."""
    return f"{library()} {digest(*(ROOT / name for name in (*SOURCES, *PROJECT)))}"


def is_made() -> bool:
    """True if the site was made to its end from the present files."""
    stamp = BUILD / STAMP
    return (SITE / "index.html").exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == whole()


def begun() -> str:
    """Say that there is no whole site; returns the hash for `ended`, of the files as they are before they are read."""
    (BUILD / STAMP).unlink(missing_ok=True)
    return whole()


def ended(key: str) -> None:
    """Say that the site of these files is whole."""
    (BUILD / STAMP).write_text(key, encoding="utf-8")
