"""Connected components of phases, with numbers that persist while they move."""

from __future__ import annotations

import numpy as np

SAMPLE = 4096
"""Cells that are looked at before all are."""


def numbered_components(phase: np.ndarray, grid: tuple[int, ...], before: np.ndarray | None = None) -> np.ndarray:
    """Number the connected components of the cells whose phase is above 0; cells touch across faces.

    phase: numbers from 0, shape (N,) or that of the grid. before: numbers of an earlier step, shape (N,); a component
    keeps the number with which it shares most cells, the larger overlap first, and others get the smallest free
    numbers. Returns int32 of shape (N,), 0 where the phase is 0. Cost: two reads of the phases.

    Multilevel cycles merge what boxes hold of one number, and two bubbles with one number couple what A does not.
    """
    from workbench.devices.host.component_runs import ComponentRuns

    runs = ComponentRuns(phase, grid)
    labels, count = runs.labels(), runs.count
    if before is None or count == 0:
        return labels
    most = int(before.max(initial=0))
    common = overlaps(labels, before, count + 1, most + 1)
    numbers = np.zeros(count + 1, np.int32)
    taken: set[int] = set()
    for place in np.argsort(-common, axis=None, kind="stable")[: np.count_nonzero(common)].tolist():
        label, number = divmod(place, most + 1)
        if not numbers[label] and number not in taken:
            numbers[label] = number
            taken.add(number)
    free = iter(number for number in range(1, most + count + 1) if number not in taken)
    for label in range(1, count + 1):
        if not numbers[label]:
            numbers[label] = next(free)
    return numbers[labels]


def overlaps(first: np.ndarray, second: np.ndarray, most: int, most_second: int) -> np.ndarray:
    """Counts of cells by their number in the first and in the second, both above 0; shape (most, most_second)."""
    places = np.flatnonzero(first)
    pairs = first[places] * np.int64(most_second) + second[places]
    common = np.bincount(pairs, minlength=most * most_second).reshape(most, most_second)
    common[:, 0] = 0
    return common


def has_unnumbered_components(phase: np.ndarray, grid: tuple[int, ...]) -> bool:
    """True if a phase of 0 and 1 alone has several connected components. Cost: at most three reads."""
    # Mostly a few cells show larger numbers; an odd step meets all columns of a grid.
    some = phase.reshape(-1)[:: phase.size // SAMPLE | 1]
    if some.max(initial=0) > 1 or phase.max(initial=0) != 1:
        return False
    from workbench.devices.host.component_runs import ComponentRuns

    return ComponentRuns(phase, grid).count > 1
