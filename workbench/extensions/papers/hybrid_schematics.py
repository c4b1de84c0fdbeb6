"""Tiwari, Vadhiyar: the decomposition that explains hybrid 3, of a small matrix."""

from __future__ import annotations

import numpy as np

from workbench.devices.pair.split import split_rows
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.lazy import sparse
from workbench.plots.figures import draw
from workbench.plots.scenes.labelled_cells import labelled_cells

ROWS, CORES = 5, 2
"""N of the matrix, and its rows on the cores, as in the paper."""


def fig3(max_n: int, progress: Progress) -> Reproduction:
    """The 2-D decomposition of a matrix with N = 5 and nnz = 15."""
    dense = np.eye(ROWS) + sum(np.eye(ROWS, k=k) for k in (-3, -1, 1, 3))
    # Without one pair of neighbours it has as many entries as the paper's.
    dense[2, 3] = dense[3, 2] = 0
    matrix = sparse.csr_array(dense)
    splits = split_rows(matrix.indices, matrix.indptr, CORES)
    kinds: dict[str, list[tuple[int, int]]] = {}
    for row in range(ROWS):
        side = "cpu" if row < CORES else "gpu"
        for k in range(matrix.indptr[row], matrix.indptr[row + 1]):
            near = (k < splits[row]) == (row < CORES)
            kinds.setdefault(f"nnz{1 if near else 2} {side}", []).append((row, int(matrix.indices[k])))
    words = {cell: f"a({cell[0] + 1},{cell[1] + 1})" for cells in kinds.values() for cell in cells}
    rows = [{"part": kind, "entries": len(cells), "of_nnz": matrix.nnz} for kind, cells in sorted(kinds.items())]
    scene = labelled_cells("decomposition", (ROWS, ROWS), dict(sorted(kinds.items())), words, styles=(6, 0, 1, 3))
    notes = [
        f"N = {ROWS}, nnz = {matrix.nnz} and {CORES} rows on the cores, as in the paper; the places are ours.",
        "nnz1 needs the part of m that its side has, nnz2 the other, which is copied meanwhile.",
    ]
    return Reproduction("fig3", "Figure 3: 2-D decomposition", rows, notes, draw(scene))
