"""The right-hand side that comes with a matrix NAME: NAME_b.mtx in the same archive or folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from workbench.errors import InputError, printable_path
from workbench.files.columns import VectorFile
from workbench.files.unpacking import file_stem

PART = "_b"
ARCHIVE = ".tar.gz"


def given_rhs(path: Path) -> VectorFile:
    """The right-hand side of a matrix file. Raises InputError for a matrix without one."""
    if found := _neighbour(path):
        return VectorFile(found)
    if path.name.lower().endswith(ARCHIVE):
        return VectorFile(path, PART)
    raise InputError(
        f"no {file_stem(path)}{PART}.mtx next to {printable_path(path)}; name the file of the right-hand side, as in "
        "rhs b.mtx"
    )


def given_rhs_name(path: Path, members: Sequence[str]) -> str:
    """The name of the right-hand side that comes with a matrix, empty without one; members: the .mtx files of its
    archive."""
    names = (member for member in members if PurePosixPath(member).stem.endswith(PART))
    neighbour = _neighbour(path)
    return neighbour.name if neighbour else next(iter(names), "")


def _neighbour(path: Path) -> Path | None:
    places = (path.with_name(f"{file_stem(path)}{PART}{ending}") for ending in (".mtx", ".mtx.gz"))
    return next((place for place in places if place.is_file()), None)
