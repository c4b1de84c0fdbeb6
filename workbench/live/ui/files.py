"""Files as values: the output of a writer in memory, as one file to hand over."""

from __future__ import annotations

import dataclasses
import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.errors import InputError
from workbench.files import TemporaryFolder

Write = Callable[[Path], Sequence[Path]]
"""Writes files into a folder that is there, and returns the paths that it names to the user."""


@dataclasses.dataclass(frozen=True)
class File:
    """A name without a folder, and the content of the file."""

    name: str
    content: bytes


def written(write: Write) -> list[File]:
    """The files that `write` writes, by name. Cost: disk space for them until this returns, since writers write to
    paths.

    Nothing is left on the disk, whatever it raises. Raises what `write` raises, and InputError where the disk is full.
    """
    try:
        with TemporaryFolder("files") as folder:
            write(folder)
            return [File(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]
    except OSError as error:
        raise InputError(f"the file cannot be made: {error.strerror}; make room on the kernel's disk") from None


def as_one(files: Sequence[File], stem: str) -> File:
    """A single file as it is, several as STEM.zip with all of them: browsers ask before they save several."""
    if len(files) == 1:
        return files[0]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(file.name, file.content)
    return File(f"{stem}.zip", content.getvalue())
