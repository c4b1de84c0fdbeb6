"""Connected components of cells from their runs along the fastest side."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch

CELLS_PER_CHUNK = 1 << 18


class ComponentRuns:
    """The runs of cells whose phase is above 0, joined where they touch across faces.

    phase: numbers from 0, shape (N,) or that of the grid. count: of the components. Cost: two reads of the phases.
    """

    def __init__(self, phase: np.ndarray, grid: tuple[int, ...]) -> None:
        self._phase = np.ascontiguousarray(phase.reshape(-1))
        self._width, size = grid[-1], self._phase.size
        lines = size // self._width
        self._chunks = max(1, min(lines, size // CELLS_PER_CHUNK))
        self._firsts = np.zeros(lines + 1, np.int64)
        launch(size, _count, self._phase, self._width, self._chunks, self._firsts)
        np.cumsum(self._firsts, out=self._firsts)
        self._starts, self._ends = (np.empty(self._firsts[-1], np.int32) for _ in range(2))
        given = self._phase, self._width, self._chunks
        launch(size, _find, *given, self._firsts, self._starts, self._ends)
        self._numbers, count = np.empty(self._firsts[-1], np.int64), np.zeros(1, np.int64)
        per_plane = grid[-2] if len(grid) > 1 else 1
        # On one thread: runs are few.
        launch(0, _join, self._firsts, self._starts, self._ends, per_plane, self._numbers, count)
        self.count = int(count[0])

    def labels(self) -> np.ndarray:
        """The component of each cell, counted from 1 in the order of first cells; 0 elsewhere. int32, shape (N,)."""
        labels = np.zeros(self._phase.size, np.int32)
        given = self._width, self._chunks, self._firsts, self._starts, self._ends, self._numbers
        launch(labels.size, _label, *given, labels)
        return labels


@kernel()
def _count(taken, phase, width, chunks, firsts):  # pragma: no cover
    lines = firsts.size - 1
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for line in range(lines * chunk // chunks, lines * (chunk + 1) // chunks):
                row = phase[line * width : (line + 1) * width]
                # Without branches, so that it is vectorized.
                begun = np.int32(row[0] > 0)
                for x in range(1, width):
                    begun += np.int32(row[x] > 0) & np.int32(row[x - 1] == 0)
                firsts[line + 1] = begun


@kernel()
def _find(taken, phase, width, chunks, firsts, starts, ends):  # pragma: no cover
    lines = firsts.size - 1
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for line in range(lines * chunk // chunks, lines * (chunk + 1) // chunks):
                at, end, inside = firsts[line], firsts[line + 1], False
                to_the_end = end - (phase[(line + 1) * width - 1] > 0)
                for x in range(width):
                    if at == end or (inside and at == to_the_end):
                        break
                    if (phase[line * width + x] > 0) != inside:
                        inside = not inside
                        if inside:
                            starts[at] = x
                        else:
                            ends[at] = x
                            at += 1
                if inside:
                    ends[at] = width


def _root(numbers, run):  # pragma: no cover
    while numbers[run] != run:
        numbers[run] = numbers[numbers[run]]
        run = numbers[run]
    return run


@kernel()
def _join(taken, firsts, starts, ends, per_plane, numbers, count):  # pragma: no cover
    # The number of a run is an earlier one of its component, or its own.
    for run in range(numbers.size):
        numbers[run] = run
    for line in range(firsts.size - 1):
        for k in range(2):
            other = line - per_plane if k else line - 1
            if other < 0 or (k == 0 and line % per_plane == 0):
                continue
            here, there = firsts[line], firsts[other]
            while here < firsts[line + 1] and there < firsts[other + 1]:
                if starts[here] < ends[there] and starts[there] < ends[here]:
                    one, two = _root(numbers, here), _root(numbers, there)
                    numbers[max(one, two)] = min(one, two)
                if ends[here] < ends[there]:
                    here += 1
                else:
                    there += 1
    # Then that of its component, from 1.
    for run in range(numbers.size):
        if numbers[run] == run:
            count[0] += 1
            numbers[run] = count[0]
        else:
            numbers[run] = numbers[numbers[run]]


@kernel()
def _label(taken, width, chunks, firsts, starts, ends, numbers, labels):  # pragma: no cover
    lines = firsts.size - 1
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for line in range(lines * chunk // chunks, lines * (chunk + 1) // chunks):
                for run in range(firsts[line], firsts[line + 1]):
                    for x in range(starts[run], ends[run]):
                        labels[line * width + x] = numbers[run]
