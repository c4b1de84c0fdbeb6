"""Matrices from Matrix Market files, as CG needs them."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from scipy import sparse

from workbench.errors import InputError, printable_path
from workbench.files import opened
from workbench.files.market import read_market
from workbench.files.market_header import Header, read_header
from workbench.files.unpacking import unpacked
from workbench.operators import Matrix
from workbench.operators.matrix import check_shape


def read_matrix(path: Path, kind: type[Matrix] = Matrix) -> tuple[Matrix, list[str]]:
    """Read a matrix from a Matrix Market file, see `workbench.files.market`, plain, gzipped, or in an archive of the
    SuiteSparse collection; which of these it is follows from its content (see `workbench.files.unpacking`).

    kind: the class of the matrix, which checks it. Returned with it: the names of the .mtx files in an archive.
    Cost: one pass over the text, then about 36 bytes per entry. Raises InputError with the file and, if known, the line
    or the entry.
    """
    refusal = f"cannot read {printable_path(path)}"
    with opened(path, "matrix file") as stream:
        entries, members = read_entries(stream, path.name, refusal)
    try:
        return kind(entries), members
    except InputError as error:
        raise InputError(f"{refusal}: {error}", changes=error.changes) from None
    except MemoryError:
        raise InputError(f"{refusal}: the matrix does not fit into memory") from None


def read_entries(
    stream: IO[bytes], name: str, refusal: str, *, exact: bool = False
) -> tuple[sparse.csr_array, list[str]]:
    """The entries of an open file called `name`, read to its end, and the names of the .mtx files in an archive.

    refusal, exact: as in `unpacked`. Raises InputError as `read_matrix` does, except for the checks of `Matrix`.
    """
    with unpacked(stream, name, refusal, exact=exact) as text:
        entries = sparse.csr_array(read_market(text, _check))
    return entries, text.members


def size_of(path: Path) -> int:
    """The rows of the matrix in such a file. Cost: its first lines, of a compressed one its text. Raises InputError as
    `read_matrix` does."""
    refusal = f"cannot read {printable_path(path)}"
    with opened(path, "matrix file") as stream, unpacked(stream, path.name, refusal) as text:
        return read_header(text.stream, text.most).shape[0]


def _check(header: Header) -> None:
    check_shape(header.shape)
    if header.entries < header.shape[0]:
        raise InputError(
            f"line {header.lines} declares {header.entries} entries for {header.shape[0]} rows; CG needs a full "
            "diagonal"
        )
