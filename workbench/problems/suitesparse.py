"""Matrices of the SuiteSparse collection, downloaded once into the user's cache."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import ClassVar

import numpy as np
import platformdirs

from workbench.devices.host.slab import Slab
from workbench.errors import InputError, printable_path
from workbench.files import opened
from workbench.files.columns import VectorFile
from workbench.lazy import sparse
from workbench.operators import ComplexSymmetricMatrix, Matrix, Size
from workbench.problems.base import LinearSystem, Problem
from workbench.problems.catalogue import group_and_name, known_entry
from workbench.problems.download import downloaded, verify
from workbench.problems.files import matrix_system, rows_of
from workbench.problems.given_rhs import given_rhs, given_rhs_name
from workbench.problems.matrix_market import read_entries, size_of
from workbench.registry import parameter, register

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
