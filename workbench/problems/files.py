"""Matrix files as problems, and parsing of problem names."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import os
from pathlib import Path
from typing import ClassVar

import numpy as np

from workbench.devices.constant import constant, constant_of
from workbench.devices.host.slab import Slab
from workbench.errors import InputError, printable_path
from workbench.files.columns import VectorFile
from workbench.files.data_files import path_of
from workbench.files.unpacking import ENDINGS, file_stem
from workbench.operators import ComplexSymmetricMatrix, LinearOperatorAdapter, Matrix
from workbench.operators.matrix_rows import MatrixRows
from workbench.problems.base import LinearSystem, Problem
from workbench.problems.catalogue import catalogue, known_entry
from workbench.problems.matrix_market import given_coordinates, given_rhs, given_rhs_name, read_matrix, size_of
from workbench.registry import known, of_any_case, parameter, register, registered, unknown_name

RECORD = ".seq.npz"
"""Ending of a recorded sequence."""


@register
@dataclasses.dataclass(frozen=True)
class MatrixFile(Problem):
    """A Hermitian matrix from a file; b = 1, x0 = 0.

    Read are Matrix Market files (.mtx, .mtx.gz, or a .tar.gz of SuiteSparse) and PETSc's binary format (.petsc).
    On ranks each reads the whole file and checks it, and keeps its rows: until then it holds the whole matrix.

    Cost: one pass over the file, then about 36 bytes per entry. Raises InputError as `read_matrix` and `Matrix` do.
    Source: Boisvert, Pozo, Remington (1996), The Matrix Market Exchange Formats, NISTIR 5935.
    """

    name: ClassVar[str] = "matrix-file"
    title: ClassVar[str] = "A matrix from a file"
    has_grid: ClassVar[bool] = False
    on_ranks: ClassVar[bool] = True

    path: str = parameter("", "path of the .mtx, .mtx.gz or .petsc file")

    @property
    def words(self) -> str:
        return f"matrix {file_stem(Path(self.path))}" if self.path else "a matrix file, not chosen yet"

    def check(self) -> None:
        if not self.path:
            raise InputError("matrix-file needs a path, such as matrix-file:bcsstk15.mtx.gz", at="problem.path")

    def assemble(self, seed: int = 0) -> LinearSystem:
        return self._read(Matrix)

    def rows(self, slab: Slab, seed: int = 0) -> LinearSystem:
        return rows_of(self.assemble(seed), slab)

    @property
    def unknowns_of_rows(self) -> int:
        return size_of(self._file)

    def assemble_complex_symmetric(self, seed: int = 0) -> LinearSystem:
        return self._read(ComplexSymmetricMatrix)

    def _read(self, kind: type[Matrix]) -> LinearSystem:
        matrix, members = read_matrix(self._file, kind)
        return matrix_system(matrix, given_rhs_name(self._file, members))

    def given_rhs(self) -> VectorFile:
        return given_rhs(self._file)

    def coordinates(self) -> np.ndarray | None:
        return given_coordinates(self._file, self.unknowns_of_rows)

    @property
    def _file(self) -> Path:
        self.check()
        return Path(self.path)


def matrix_system(matrix: Matrix, given_rhs_name: str = "") -> LinearSystem:
    """The system A x = b with b = 1 in the dtype of the matrix."""
    return LinearSystem(matrix, constant(1, matrix.shape[0], matrix.dtype), given_rhs_name=given_rhs_name)


def rows_of(system: LinearSystem, slab: Slab) -> LinearSystem:
    """The rows of a slab of a system that is in memory. Raises InputError for an A without entries, and for given null
    vectors."""
    if isinstance(system.operator, LinearOperatorAdapter):
        raise InputError("ranks share the rows of A, which a LinearOperator does not show; pass a sparse matrix")
    if system.null_space is not None:
        raise InputError("ranks find out alone whether A maps constants to zero; leave out nullspace")
    matrix = system.operator
    whole = matrix.to_csr()
    rows = MatrixRows.of(whole[slab.rows], slab, precision=getattr(matrix, "precision", None))
    value = constant_of(system.b)
    b = np.ascontiguousarray(system.b[slab.rows]) if value is None else constant(value.item(), slab.size, matrix.dtype)
    return dataclasses.replace(system, operator=rows, given_b=b, grid=None, phase=None, coefficients=None, slab=slab)


def problem_from_text(text: str) -> Problem:
    """Parse a problem: a registered name (`name` or `name:argument`), the path of a matrix file or a SuiteSparse name.

    Raises InputError for a path without a file and for an unknown name.

    Examples:
        >>> from workbench.problems import problem_from_text
        >>> problem_from_text("two-layer:64").n
        64
    """
    if known("problem", text.partition(":")[0]):
        return Problem.named(text)
    if text.endswith(RECORD):
        return Problem.named("recorded").changed({"path": text})
    # A text that is not a valid path may still be a name.
    with contextlib.suppress(InputError):
        path = path_of(text)
        # Folders and pipes with the suffix of a matrix file are reported by the reader.
        if path.is_file() or (text.lower().endswith(ENDINGS) and path.exists()):
            return MatrixFile(path=str(path))
    if known_entry(text):
        return Problem.named(f"suitesparse:{text}")
    if text.lower().endswith(ENDINGS) or any(mark in text for mark in (os.sep, os.altsep or os.sep)):
        raise InputError(f"no file at {printable_path(text)}")
    name = text.partition(":")[0]
    if of_any_case(name, registered("problem")) != name:
        return Problem.named(text)
    near = difflib.get_close_matches(text, [*registered("problem"), *catalogue()], n=1, cutoff=0.5)
    raise InputError(unknown_name("problem", text, near or registered("problem")))
