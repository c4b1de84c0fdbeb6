"""Facts and pictures of a matrix, gathered once, so that the matrix itself need not be kept."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.live.field.pictures import MOST_PIXELS, Scene
from workbench.operators import ComplexSymmetricMatrix, Matrix
from workbench.operators.matrix_checks import SYMMETRY_TOLERANCE
from workbench.plots.figures import pattern_counts
from workbench.problems import LinearSystem, Problem
from workbench.words.numbers import amount, count, rounded, span, tick

MOST_ENTRIES = 1 << 25
"""Entries that are counted for the picture of a pattern; of a matrix with more, every k-th row is counted."""


@dataclasses.dataclass(frozen=True, eq=False)
class Facts:
    """scene: the sparsity pattern. lengths: entries of each row, shape (N,). rows: facts in words, by name. like: the
    identity as a matrix of the same size, dtype and symmetry, which the rules for methods take for A. flat: A maps
    constants to zero."""

    scene: Scene
    lengths: np.ndarray
    rows: dict[str, str]
    like: Matrix
    flat: bool


def facts(problem: Problem) -> Facts:
    """Read a problem's matrix and look at it. Cost: assembling it, twice if it is complex symmetric, then a pass over
    its indices.

    Raises InputError for a matrix that cannot be read, that no method solves with, and for an operator without entries.
    """
    operator = _assembled(problem).operator
    matrix = operator.to_csr()
    lengths = np.diff(matrix.indptr).astype(np.int64)
    size, entries = lengths.size, int(matrix.nnz)
    every = -(-entries // MOST_ENTRIES)
    if not entries:
        raise InputError(f"{problem.label} has no entries, so there is nothing to see")
    counts = pattern_counts(matrix, MOST_PIXELS // 2, every)
    sample = (f"every {every}th row is drawn",) if every > 1 else ()
    is_complex = matrix.dtype.kind == "c"
    diagonal = matrix.diagonal().real
    stored = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    bound = tick(SYMMETRY_TOLERANCE, powers=True)
    kind = ComplexSymmetricMatrix if isinstance(operator, ComplexSymmetricMatrix) else Matrix
    like = kind(sparse.csr_array(sparse.eye_array(size, dtype=matrix.dtype, format="csr")))
    symmetry = "complex symmetric" if kind is not Matrix else "Hermitian" if is_complex else "symmetric"
    rows = {
        "unknowns N": count(size),
        "entries (nnz)": count(entries),
        "density": f"{100 * entries / size**2:.3g} %",
        "entries per row": f"{span(int(lengths.min()), int(lengths.max()), count)}, {lengths.mean():.3g} on average",
        symmetry: f"yes, to {bound} of the largest entry",
        "diagonal" if kind is Matrix else "diagonal, real part": span(diagonal.min(), diagonal.max(), rounded),
        "values": f"{'complex' if is_complex else 'real'}, {matrix.dtype}",
        "memory": amount(stored),
    }
    flat = bool(np.abs(matrix.sum(axis=1)).max() <= SYMMETRY_TOLERANCE * np.abs(matrix.data).max())
    return Facts(Scene(problem.label, counts, True, size, notes=sample), lengths, rows, like, flat)


def _assembled(problem: Problem) -> LinearSystem:
    """A problem's system, as a method that fits its matrix takes it."""
    try:
        return problem.assemble()
    except InputError as error:
        if not error.changes:
            raise
        return problem.assemble_complex_symmetric()
