"""Matrix files that come through the page, kept in the user's cache folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

from workbench.errors import InputError
from workbench.files import write
from workbench.files.unpacking import ENDINGS, stem_and_ending
from workbench.live.ui.file_names import make_folder, slug
from workbench.live.ui.words import uploads

MOST_UPLOAD = 10 << 20
"""Bytes. A Jupyter server takes messages up to that size and hangs up on larger ones."""

MOST_STORED = 2 << 30
"""Bytes of all uploads that are kept."""


def store(name: str, content: bytes) -> Path:
    """Keep an uploaded file as uploads/HASH/NAME in the cache folder; equal content is stored once.

    Returns its path, which stays valid for links and saved problems on this machine. Raises InputError for a name that
    is not a matrix file's, for an empty or too large file, when `MOST_STORED` bytes are kept already, and when the
    folder cannot be written.
    """
    check_upload(name, len(content))
    stem, ending = stem_and_ending(name)
    folder = uploads() / hashlib.sha256(content).hexdigest()[:16]
    path = folder / f"{slug(stem) or 'matrix'}{ending}"
    if path.exists():
        return path
    stored = sum(file.stat().st_size for file in uploads().glob("*/*"))
    if stored + len(content) > MOST_STORED:
        raise InputError(
            f"uploads that are kept have {stored / 2**30:.2g} GiB, at most {MOST_STORED / 2**30:.2g} GiB; ask whoever "
            "runs this server to delete old ones"
        )
    make_folder(folder)
    return write(path, content)


def check_upload(name: str, size: int) -> None:
    """Raise InputError for a name that is not a matrix file's, and for an empty or too large file; size in bytes."""
    if not name.lower().endswith(ENDINGS):
        raise InputError(f"{name[:60]!r} is no matrix file; choose one whose name ends in {', '.join(ENDINGS)}")
    if not size:
        raise InputError(f"{name[:60]!r} is empty; choose another file")
    if size > MOST_UPLOAD:
        raise InputError(
            f"{name[:60]!r} has {size / 2**20:.1f} MiB, uploads may have {MOST_UPLOAD >> 20} MiB; "
            "put it where this notebook's kernel runs and give its path"
        )
