"""Tali, Vainikko: the figures that explain: a work grid, COO and CSR of a matrix, a reduction in local memory,
which Listing 2 prints with a mistake."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.extensions.formats.scenes import Array, arrays_of, arrays_scene, matrix_scene
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.lazy import sparse
from workbench.plots.figures import draw
from workbench.plots.scenes.labelled_cells import labelled_cells
from workbench.plots.scenes.scene import Scene

GROUPS, ITEMS = 3, 4
"""Per side: 9 groups of 16 work-items."""
EXAMPLE = np.array([[0, 5, 1, 0], [2, 0, 8, 3], [0, 0, 5, 0], [0, 9, 4, 0]])
"""The matrix of Figures 2 and 3."""
MATRIX = sparse.csr_array(EXAMPLE)
COO_ORDER = ((1, 0), (0, 1), (0, 2), (1, 2), (3, 1), (2, 2), (1, 3), (3, 2))
"""The order in which its entries are printed."""
LENGTH = 8
"""The length of the array in Figure 4."""
GROUPS_OF = (8, 16, 64)
"""Sizes of work-groups for which both forms of Listing 2 are run."""


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


def reduction(values: np.ndarray, more: int) -> list[tuple[int, np.ndarray]]:
    """The offset of each step of Listing 2 with the array after it, the first being the array itself.

    values: shape (n,), or (n, m) for m arrays at once. more: the increment of the loop on the offset, which the text
    has as 1; its body doubles the offset too.
    """
    length, offset, mask, steps = len(values), 1, 1, [(0, values)]
    while offset < length:
        places, after = np.flatnonzero((np.arange(length) & mask) == 0), steps[-1][1].copy()
        after[places] += steps[-1][1][places + offset]
        steps.append((offset, after))
        offset, mask = 2 * offset + more, 2 * mask + 1
    return steps


def fig4(max_n: int, progress: Progress) -> Reproduction:
    """The reduction of 8 numbers in place."""
    steps = reduction(np.arange(1, LENGTH + 1), 0)
    rows = [
        {"step": k, "work_items": LENGTH // 2**k if k else 0, "sum": int(values[0])}
        for k, (_, values) in enumerate(steps)
    ]
    notes = ["log2 8 = 3 steps; the numbers are 1 to 8, whose sum is in position 0 after the last."]
    return Reproduction("fig4", "Figure 4: reduction in local memory", rows, notes, draw(_steps("reduction", steps)))


def _steps(name: str, steps: list[tuple[int, np.ndarray]], x: str = "position") -> Scene:
    """The array after each step; work-items that still add are in another colour."""
    words = {(k, j): str(value) for k, (_, values) in enumerate(steps) for j, value in enumerate(values)}
    used = np.array([[j % 2**k == 0 for j in range(LENGTH)] for k in range(len(steps))])
    kinds = {"sums": used, "done": ~used}
    return labelled_cells(name, used.shape, kinds, words, x=x, y="step", styles=(6, 1))


LISTING = {"as printed": 1, "without offset += 1": 0}
"""Forms of Listing 2 by the increment of its loop."""


def listing2(max_n: int, progress: Progress) -> Reproduction:
    """The reduction of Listing 2 as printed, and in the form that adds all numbers."""
    rows: list[dict[str, Any]] = []
    numbers, scenes = np.arange(1, LENGTH + 1), []
    for form, more in LISTING.items():
        steps, units = (reduction(each, more) for each in (numbers, np.eye(LENGTH, dtype=int)))
        for k, ((offset, values), (_, parts)) in enumerate(zip(steps, units, strict=True)):
            added = " + ".join(str(numbers[place]) for place in np.flatnonzero(parts[0]))
            rows.append({"form": form, "step": k, "offset": offset, "position_0": added, "sum": int(values[0])})
        scenes.append(_steps(form, steps, f"position, {form}"))
    taken = reduction(np.eye(LENGTH, dtype=int), LISTING["as printed"])[-1][1][0]
    lost = [str(number) for number in numbers[taken == 0]]
    sums = {n: [int(reduction(np.arange(1, n + 1), more)[-1][1][0]) for more in LISTING.values()] for n in GROUPS_OF}
    notes = [
        "A misprint: the loop has offset += 1 in its head and offset <<= 1 in its body, so that offsets are 1, 3, 7 "
        f"in place of 1, 2, 4. Step 2 goes wrong: position 0 adds the {numbers[3]} of position 3 instead of the sum in "
        f"position 2, and {', '.join(lost)} are never added.",
        "Sums of 1 to n, as printed and without the increment: "
        + ", ".join(f"{printed} and {right} for n = {n}" for n, (printed, right) in sums.items())
        + ".",
        "The reductions of the workbench are those of Figure 4.",
    ]
    title = "Listing 2: reduction in a kernel, as printed and without offset += 1"
    return Reproduction("listing2", title, rows, notes, draw(*scenes, side_by_side=True))
