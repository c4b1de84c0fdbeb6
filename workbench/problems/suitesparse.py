"""Matrices of the SuiteSparse collection, downloaded once into the user's cache."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import ClassVar

import numpy as np
import platformdirs

from workbench.blocks import parameter, register
from workbench.errors import InputError
from workbench.operators import Matrix
from workbench.problems.base import LinearSystem, Problem
from workbench.problems.catalogue import group_and_name, known_entry
from workbench.problems.download import download, verify
from workbench.problems.files import matrix_system
from workbench.problems.matrix_market import read_matrix

COLLECTION_URL = "https://sparse.tamu.edu/MM"


@register
@dataclasses.dataclass(frozen=True)
class SuiteSparse(Problem):
    """A matrix of the SuiteSparse collection by name or group/name; b = 1, x0 = 0.

    It is downloaded once into the cache folder (environment variable WORKBENCH_CACHE, otherwise the user's own), as
    suitesparse/GROUP/NAME.tar.gz; a .tar.gz, .mtx.gz or .mtx put there by hand is taken as well. Its checksum is
    compared with the registry's or with the one recorded at first use, N and nnz with the registry.
    WORKBENCH_SUITESPARSE_URL names a mirror. Cost: the download; later one pass over the text. Raises InputError for an
    unknown name, a failed download, a changed file, and whatever `read_matrix` refuses.
    Source: Davis, Hu (2011), The University of Florida sparse matrix collection, ACM TOMS 38(1).
    """

    name: ClassVar[str] = "suitesparse"
    title: ClassVar[str] = "A matrix of the SuiteSparse collection"

    matrix: str = parameter("bcsstk15", "name or group/name, such as HB/bcsstk15")

    def __post_init__(self) -> None:
        super().__post_init__()
        group_and_name(self.matrix)

    @property
    def label(self) -> str:
        return "/".join(group_and_name(self.matrix))

    def assemble(self, seed: int = 0) -> LinearSystem:
        group, name = group_and_name(self.matrix)
        path = fetch(group, name)
        matrix = read_matrix(path)
        self._check_facts(matrix, path)
        return matrix_system(matrix)

    def _check_facts(self, matrix: Matrix, path: Path) -> None:
        entry = known_entry(self.matrix)
        if entry is None:
            return
        found = (matrix.shape[0], int(np.count_nonzero(matrix.csr.data)))
        if found != (entry.N, entry.nnz):
            raise InputError(
                f"{path} holds {found[0]} rows and {found[1]} non-zeros, but {entry.group}/{entry.name} has "
                f"{entry.N} and {entry.nnz}; delete it to fetch it again"
            )


def cache_folder() -> Path:
    """Where downloads are kept: WORKBENCH_CACHE, otherwise the user's cache folder."""
    return Path(os.environ.get("WORKBENCH_CACHE") or platformdirs.user_cache_dir("cg-workbench"))


def cached(group: str, name: str) -> Path | None:
    """The matrix file in the cache, as it was found; None where it would have to be downloaded."""
    folder = cache_folder() / "suitesparse" / group
    paths = (folder / f"{name}{ending}" for ending in (".tar.gz", ".mtx.gz", ".mtx"))
    return next((path for path in paths if path.exists()), None)


def fetch(group: str, name: str) -> Path:
    """The matrix file in the cache, downloaded when it is not there, its checksum verified.

    Raises InputError for a failed download or a changed file.
    """
    entry = known_entry(f"{group}/{name}")
    sha256 = entry.sha256 if entry else ""
    archive = cache_folder() / "suitesparse" / group / f"{name}.tar.gz"
    path = cached(group, name)
    if path is not None:
        verify(path, sha256 if path == archive else "")
        return path
    base = os.environ.get("WORKBENCH_SUITESPARSE_URL") or COLLECTION_URL
    download(f"{base.rstrip('/')}/{group}/{name}.tar.gz", archive, sha256)
    verify(archive, sha256)
    return archive
