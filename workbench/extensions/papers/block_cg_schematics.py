"""Tali, Vainikko: the figures that explain: a work grid, COO and CSR of a matrix, a reduction in local memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.extensions.formats.scenes import Array, arrays_of, arrays_scene, matrix_scene
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.lazy import sparse
from workbench.plots.figures import draw
from workbench.plots.scenes.labelled_cells import labelled_cells

GROUPS, ITEMS = 3, 4
"""Per side: 9 groups of 16 work-items."""
EXAMPLE = np.array([[0, 5, 1, 0], [2, 0, 8, 3], [0, 0, 5, 0], [0, 9, 4, 0]])
"""The matrix of Figures 2 and 3."""
MATRIX = sparse.csr_array(EXAMPLE)
COO_ORDER = ((1, 0), (0, 1), (0, 2), (1, 2), (3, 1), (2, 2), (1, 3), (3, 2))
"""The order in which its entries are printed."""
LENGTH = 8
"""The length of the array in Figure 4."""


def fig1(max_n: int, progress: Progress) -> Reproduction:
    """A grid of work-items in groups."""
    side = GROUPS * ITEMS
    places = np.add.outer(*(np.arange(side) // ITEMS,) * 2)
    kinds = {"a group": places % 2 == 0, "a neighbour of it": places % 2 == 1}
    rows = [{"groups": GROUPS**2, "items_of_a_group": ITEMS**2, "items": side**2}]
    scene = labelled_cells("work grid", (side, side), kinds, x="global id 0", y="global id 1", styles=(6, 1))
    return Reproduction("fig1", "Figure 1: work grid", rows, ["As printed: 9 groups of 16 work-items."], draw(scene))


def fig2(max_n: int, progress: Progress) -> Reproduction:
    """The coordinate format of a matrix."""
    row, column = np.array(COO_ORDER).T
    printed = EXAMPLE[row, column], column, row
    arrays = [array._replace(words=words) for array, words in zip(arrays_of("coo", MATRIX), printed, strict=True)]
    return _format("fig2", "Figure 2: coordinate format", arrays)


def fig3(max_n: int, progress: Progress) -> Reproduction:
    """The compressed sparse row format of the same matrix."""
    return _format("fig3", "Figure 3: compressed sparse row format", arrays_of("csr", MATRIX))


def _format(name: str, title: str, arrays: list[Array]) -> Reproduction:
    """The matrix, and the arrays of a format below it."""
    rows: list[dict[str, Any]] = [
        {"array": array.name, "values": [int(value) for value in array.words]} for array in arrays
    ]
    notes = ["The matrix and the arrays are those printed."]
    return Reproduction(name, title, rows, notes, draw(matrix_scene(MATRIX), arrays_scene(arrays)))


def fig4(max_n: int, progress: Progress) -> Reproduction:
    """The reduction of 8 numbers in place."""
    steps = [np.arange(1, LENGTH + 1)]
    while (offset := 2 ** (len(steps) - 1)) < LENGTH:
        after = steps[-1].copy()
        after[:: 2 * offset] += after[offset :: 2 * offset]
        steps.append(after)
    shape = (len(steps), LENGTH)
    words = {(k, j): str(value) for k, values in enumerate(steps) for j, value in enumerate(values)}
    used = np.array([[j % 2**k == 0 for j in range(LENGTH)] for k in range(len(steps))])
    scene = labelled_cells(
        "reduction", shape, {"sums": used, "done": ~used}, words, x="position", y="step", styles=(6, 1)
    )
    rows = [
        {"step": k, "work_items": LENGTH // 2**k if k else 0, "sum": int(values[0])} for k, values in enumerate(steps)
    ]
    notes = ["log2 8 = 3 steps; the numbers are 1 to 8, whose sum is in position 0 after the last."]
    return Reproduction("fig4", "Figure 4: reduction in local memory", rows, notes, draw(scene))
