"""Matrices from files, in Matrix Market or PETSc's binary format, as CG needs them, and the right-hand side that comes
with one.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

import numpy as np

from workbench.errors import InputError, printable_path
from workbench.files import opened
from workbench.files.columns import VectorFile
from workbench.files.market import read_market
from workbench.files.market_header import PATTERN, SKEW, Header, read_header
from workbench.files.petsc_binary import MARK_BYTES, is_petsc, read_petsc, rows_of
from workbench.files.unpacking import file_stem, unpacked
from workbench.lazy import sparse
from workbench.operators import Matrix
from workbench.operators.matrix_checks import check_shape

PART, PLACES = "_b", "_coord"
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


def given_coordinates(path: Path, size: int) -> np.ndarray | None:
    """The places of the unknowns that come with a matrix, shape (N, 2) or (N, 3); None for a matrix without them.

    They are NAME_coord.mtx in its archive, as the SuiteSparse collection has them, or next to it, there also .mtx.gz,
    .mtx.bz2 or .npy. Cost: that file; for an archive one pass over it, and two where they are in it. Raises InputError
    for a damaged file, and one of another shape.
    """
    found = _neighbour(path, PLACES, (".mtx", ".mtx.gz", ".mtx.bz2", ".npy"))
    if found is None and not (path.name.lower().endswith(ARCHIVE) and _has_places(path)):
        return None
    places = np.real(VectorFile(found or path, "" if found else PLACES).read(size)).astype(np.float64)
    if places.shape[1] not in (2, 3):
        raise InputError(f"{(found or path).name} places unknowns by {places.shape[1]} numbers each; it must be 2 or 3")
    return places


def _has_places(path: Path) -> bool:
    """True for an archive with coordinates."""
    with opened(path, "matrix file") as stream:
        with unpacked(stream, path.name, f"cannot read {printable_path(path)}") as text:
            pass
        return any(PurePosixPath(member).stem.endswith(PLACES) for member in text.members)


def _neighbour(path: Path, part: str = PART, endings: Sequence[str] = (".mtx", ".mtx.gz", ".mtx.bz2")) -> Path | None:
    places = (path.with_name(f"{file_stem(path)}{part}{ending}") for ending in endings)
    return next((place for place in places if place.is_file()), None)


EMPTIEST = 1000
"""Rows for each entry, at most: a damaged head is not to take memory for rows that are not there."""


def read_matrix(source: Path | str | IO[bytes] | IO[str], kind: type[Matrix] = Matrix) -> tuple[Matrix, list[str]]:
    """Read a matrix from a file in Matrix Market or PETSc's binary format, plain, packed by gzip or bzip2, or in an
    archive of the SuiteSparse collection; which of these it is follows from its content (see
    `workbench.files.unpacking`).

    source: a path, or an open file or stream, which is read from its present place to its end and need not seek. kind:
    the class of the matrix, which checks it: what it refuses was read, and cannot be used. Returned with it: the names
    of the .mtx files in an archive.
    Cost: one pass over the text, then about 36 bytes per entry; a copy of a stream. Raises InputError with the file
    and, if known, the line or the entry.

    Examples:
        >>> import io
        >>> from workbench.problems.matrix_market import read_matrix
        >>> text = "%%MatrixMarket matrix coordinate real symmetric\\n2 2 3\\n1 1 2\\n2 1 -1\\n2 2 2\\n"
        >>> read_matrix(io.StringIO(text))[0].csr.toarray().tolist()
        [[2.0, -1.0], [-1.0, 2.0]]
    """
    path = Path(source) if isinstance(source, str | Path) else None
    name = printable_path(path) if path else "the stream"
    refusal = f"cannot read {name}"
    with opened(path, "matrix file") if path else _copied(source, refusal) as stream:
        found = read_entries(stream, path.name if path else "", refusal)
    try:
        return kind(found.matrix), found.members
    except InputError as error:
        raise InputError(f"cannot use {name}: {found.refused(error)}", changes=error.changes) from None
    except MemoryError:
        raise InputError(f"{refusal}: the matrix does not fit into memory") from None


def _copied(source: object, refusal: str) -> io.BytesIO:
    """The rest of a stream of bytes or of a text, in memory. Raises InputError for anything else."""
    try:
        content = source.read()  # type: ignore[attr-defined]
    except (AttributeError, OSError, ValueError) as error:
        raise InputError(f"{refusal}: {error}; pass a path, or a file that is open for reading") from None
    return io.BytesIO(content.encode(errors="replace") if isinstance(content, str) else content)


class Entries(NamedTuple):
    """matrix: all entries of a file. members: the names of the .mtx files in its archive. kind: pattern or
    skew-symmetric, where line 1 says so."""

    matrix: sparse.csr_array
    members: list[str]
    kind: str

    def refused(self, error: InputError) -> str:
        """The sentence of a matrix that cannot be used."""
        if self.kind == SKEW:
            return "it is skew-symmetric, A^T = -A, and CG needs a symmetric positive definite matrix"
        return f"it is a pattern, whose entries count as 1, and {error}" if self.kind == PATTERN else str(error)


def read_entries(stream: IO[bytes], name: str, refusal: str, *, exact: bool = False) -> Entries:
    """The entries of an open file called `name`, read to its end.

    refusal, exact: as in `unpacked`. Raises InputError as `read_matrix` does, except for the checks of `Matrix`.
    """
    kind = ""

    def check(header: Header) -> None:
        nonlocal kind
        kind = next((word for word in (SKEW, PATTERN) if word in (header.symmetry, header.field)), "")
        _check(header.shape, header.entries, f"line {header.lines}")

    with unpacked(stream, name, refusal, exact=exact) as text:
        first = text.stream.read(MARK_BYTES)
        text.stream.seek(0)
        if is_petsc(first):
            entries = read_petsc(text, lambda shape, count: _check(shape, count, "the head"))
        else:
            entries = sparse.csr_array(read_market(text, check))
    return Entries(entries, text.members, kind)


def size_of(path: Path) -> int:
    """The rows of the matrix in such a file. Cost: its first lines, of a compressed one its text. Raises InputError as
    `read_matrix` does."""
    refusal = f"cannot read {printable_path(path)}"
    with opened(path, "matrix file") as stream, unpacked(stream, path.name, refusal) as text:
        first = text.stream.read(MARK_BYTES)
        text.stream.seek(0)
        return rows_of(text) if is_petsc(first) else read_header(text.stream, text.most).shape[0]


def _check(shape: tuple[int, int], entries: int, where: str) -> None:
    check_shape(shape)
    if shape[0] > EMPTIEST * max(1, entries):
        raise InputError(
            f"{where} declares {entries} entries for {shape[0]} rows, of which nearly all would be empty; leave empty "
            "rows out"
        )
