"""What there is to say and to see of a matrix, gathered once, so that the matrix itself need not be kept."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.errors import InputError
from workbench.figures import pattern_counts
from workbench.live.field.pictures import MOST_PIXELS, Scene
from workbench.number_text import amount, count, rounded, span, tick
from workbench.operators.matrix import SYMMETRY_TOLERANCE
from workbench.problems import Problem

MOST_ENTRIES = 1 << 25
"""That are counted for the picture of a pattern; of a matrix with more, every k-th row is."""


@dataclasses.dataclass(frozen=True, eq=False)
class Facts:
    """scene: the sparsity pattern. lengths: entries of each row, shape (N,). rows: what is said, by name."""

    scene: Scene
    lengths: np.ndarray
    rows: dict[str, str]


def facts(problem: Problem) -> Facts:
    """Read a problem's matrix and look at it. Cost: assembling it, then a pass over its indices.

    Raises InputError for a matrix that cannot be read or solved, and for an operator without entries.
    """
    matrix = problem.assemble().operator.to_csr()
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
    rows = {
        "unknowns N": count(size),
        "entries (nnz)": count(entries),
        "density": f"{100 * entries / size**2:.3g} %",
        "entries per row": f"{span(int(lengths.min()), int(lengths.max()), count)}, {lengths.mean():.3g} on average",
        "Hermitian" if is_complex else "symmetric": f"yes, to {bound} of the largest entry",
        "diagonal": span(diagonal.min(), diagonal.max(), rounded),
        "values": f"{'complex' if is_complex else 'real'}, {matrix.dtype}",
        "memory": amount(stored),
    }
    return Facts(Scene(problem.label, counts, True, size, notes=sample), lengths, rows)
