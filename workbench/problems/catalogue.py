"""The catalogue of downloadable matrices, `data/matrices.toml`."""

from __future__ import annotations

import dataclasses
import functools
import re
import tomllib

from workbench.errors import InputError
from workbench.files.data_files import data_folder
from workbench.registry import unknown_name

PART = re.compile(r"(?=.*[A-Za-z0-9])[A-Za-z0-9_.+-]{1,100}")
"""A group or a name: a part of an address, and the name of a folder or a file."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """One matrix of the SuiteSparse collection.

    nnz: nonzero entries of both triangles. zeros: explicitly stored zeros (papers often print the sum of both).
    sha256: of the .tar.gz file; empty if unknown.
    """

    name: str
    group: str
    N: int
    nnz: int
    zeros: int = 0
    sha256: str = ""


@functools.cache
def catalogue() -> dict[str, Entry]:
    """All entries by name. Raises InputError if the file is missing."""
    path = data_folder() / "matrices.toml"
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"no file at {path}; install the workbench from its checkout with pip install -e .") from None
    return {entry["name"]: Entry(**entry) for entry in plain["matrix"]}


def known_entry(text: str) -> Entry | None:
    """The entry for `name` or `group/name`, or None."""
    group, _, name = text.rpartition("/")
    entry = catalogue().get(name)
    return entry if entry and group in ("", entry.group) else None


def group_and_name(text: str) -> tuple[str, str]:
    """Group and name of a matrix in the catalogue or written `group/name`. Raises InputError for other texts."""
    entry = known_entry(text)
    if entry:
        return entry.group, entry.name
    group, slash, name = text.partition("/")
    if not slash:
        raise InputError(f"{unknown_name('matrix', text, catalogue())}; or write group/name as on sparse.tamu.edu")
    if not (PART.fullmatch(group) and PART.fullmatch(name)):
        raise InputError(f"a matrix of the collection is written group/name, such as HB/bcsstk15, got {text[:60]!r}")
    return group, name
