"""Connected bubbles: numbers that persist from step to step, and the volume that each is to keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.devices.host.components import numbered_components, overlaps
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch


class Components:
    """The connected components of the cells inside bubbles; neighbours share a face.

    labels: int32, shape of the grid, 0 outside, else the number of the bubble; in the memory where `place` puts a NumPy
    array, by default that of the host. volumes: by number, the volume that the bubble is to keep, 0 for numbers without
    a bubble. Bubbles that merge have the sum; the pieces of one that splits share its volume in proportion to their
    cells; one that vanishes leaves its volume to the nearest. has_regrouped: true if bubbles have merged, split,
    appeared or vanished in the last step. moved_cells: the flat places whose labels that step has changed, None if it
    has numbered all cells again. numbers: of the present bubbles, ascending.

    Cost of a step: a copy of the labels where cells have moved; where bubbles merge, split, appear or vanish, or may
    have split, that of `numbered_components`.
    """

    def __init__(self, inside: np.ndarray, place: Callable[[np.ndarray], Any] = lambda labels: labels) -> None:
        self._place = place
        labels = numbered_components(inside.view(np.uint8), inside.shape).reshape(inside.shape)
        self.restore(labels, np.zeros(int(labels.max(initial=0)) + 1))

    def restore(self, labels: Any, volumes: np.ndarray) -> None:
        """Continue from the labels and volumes of another step. labels: on the host, or in place already."""
        self.labels = self._place(labels) if isinstance(labels, np.ndarray) else labels
        self.volumes, self.has_regrouped = volumes, False
        self.moved_cells: np.ndarray | None = None
        self.numbers = np.flatnonzero(np.bincount(np.asarray(labels).reshape(-1))[1:]) + 1
        self._mirror: np.ndarray | None = None
        """A copy of the labels in host memory, shape (N,), made by the first step that needs it."""

    @property
    def count(self) -> int:
        """The number of bubbles."""
        return self.numbers.size

    def follow(self, moved: np.ndarray, inside: Callable[[], np.ndarray]) -> bool:
        """Number the components of the next step; True if cells have moved. moved: flat places of the cells that are
        newly inside or outside, ascending. inside: a function for the cells that are inside, bool, shape of the grid.
        """
        self.has_regrouped, self.moved_cells = False, moved
        if not moved.size:
            return False
        grid, on_host = self.labels.shape, isinstance(self.labels, np.ndarray)
        if on_host or self._mirror is None:
            self._mirror = np.array(self.labels).reshape(-1)
        before, known, failed = self._mirror, self._mirror[moved], np.zeros(1, np.int64)
        shape = np.array((1, *grid)[-3:], np.int64)
        launch(moved.size, _follow, before, shape, moved, np.zeros((2, 27), np.int64), failed)
        if not failed[0]:
            self.labels = before.reshape(grid) if on_host else self.labels.changed(moved, before[moved])
            return True
        before[moved] = known
        self._number_again(before, inside())
        return True

    def _number_again(self, before: np.ndarray, inside: np.ndarray) -> None:
        """Number all components, and share the volumes by the cells that old and new ones have in common. before: the
        labels of the last step, shape (N,)."""
        labels = numbered_components(inside.view(np.uint8), inside.shape, before)
        old, new = self.volumes.size, int(labels.max(initial=0)) + 1
        common = overlaps(before, labels, old, new)[1:, 1:]
        shares = common / np.maximum(common.sum(axis=1, keepdims=True), 1)
        for vanished in np.flatnonzero((self.volumes[1:] > 0) & ~common.any(axis=1)):
            # A piece of a cell or two that crosses to its neighbours has no cell in common with itself.
            if labels.any():
                shares[vanished, _nearest(before == 1 + vanished, labels, inside.shape) - 1] = 1.0
        volumes = np.zeros(max(old, new))
        volumes[1:new] = self.volumes[1:] @ shares
        is_same = np.array_equal(np.flatnonzero(volumes[1:]), np.flatnonzero(self.volumes[1:]))
        has_split = bool(((shares > 0) & (shares < 1)).any())
        self.restore(labels.reshape(inside.shape), volumes)
        self.has_regrouped = has_split or not is_same


def _nearest(cells: np.ndarray, labels: np.ndarray, grid: tuple[int, ...]) -> int:
    """The number of the bubble with the cell that is nearest to the middle of some cells. cells: bool; labels: some
    are above 0; both of shape (N,). Cost: a pass over the cells of all bubbles."""
    middle = np.mean(np.unravel_index(np.flatnonzero(cells), grid), axis=1, keepdims=True)
    others = np.flatnonzero(labels)
    distances = np.square(np.array(np.unravel_index(others, grid)) - middle).sum(axis=0)
    return int(labels[others[distances.argmin()]])


@kernel()
def _follow(taken, labels, shape, moved, near, failed):  # pragma: no cover
    """Change the labels of the cells that moved, one after another. failed[0] = 1 where a bubble appears or vanishes,
    where two merge, and where the neighbours of a cell that leaves are connected by no path next to it.

    near: memory for the 27 cells around a cell, shape (2, 27): their labels, and 1 for those that a path reaches.
    """
    for thread in threads(taken):
        for _ in shared(taken, thread, 1):
            for n in range(moved.size):
                i = moved[n]
                face = _copy_neighbours(labels, shape, i, near)
                if face < 0:
                    failed[0] = 1
                    break
                if labels[i] == 0:
                    labels[i] = near[0, face]
                    continue
                labels[i] = 0
                # The cell itself is the middle one of 27.
                near[0, 13] = 0
                if not _is_connected(near, face):
                    failed[0] = 1
                    break


def _copy_neighbours(labels, shape, i, near):  # pragma: no cover
    """Copy the labels around cell i to near[0], 0 outside of the grid. Returns the place in it of a neighbour inside
    that shares a face; -1 where there is none, or where such neighbours are of several bubbles."""
    nz, ny, nx = shape[0], shape[1], shape[2]
    z, y, x = i // (nx * ny), (i // nx) % ny, i % nx
    number, face, several = 0, -1, False
    for k in range(27):
        dz, dy, dx = k // 9 - 1, (k // 3) % 3 - 1, k % 3 - 1
        label = 0
        if 0 <= z + dz < nz and 0 <= y + dy < ny and 0 <= x + dx < nx:
            label = labels[i + (dz * ny + dy) * nx + dx]
        near[0, k], near[1, k] = label, 0
        if label > 0 and abs(dz) + abs(dy) + abs(dx) == 1:
            several = several or (number != 0 and label != number)
            number, face = label, k
    return -1 if several else face


def _is_connected(near, start):  # pragma: no cover
    """True if paths from cell `start` within the 27 cells reach all neighbours inside that share a face with the
    middle. A step of a path crosses a face."""
    near[1, start] = 1
    grown = True
    while grown:
        grown = False
        for k in range(27):
            if near[0, k] > 0 and near[1, k] == 0:
                reached = (
                    (k % 3 > 0 and near[1, k - 1] > 0)
                    or (k % 3 < 2 and near[1, k + 1] > 0)
                    or ((k // 3) % 3 > 0 and near[1, k - 3] > 0)
                    or ((k // 3) % 3 < 2 and near[1, k + 3] > 0)
                    or (k > 8 and near[1, k - 9] > 0)
                    or (k < 18 and near[1, k + 9] > 0)
                )
                if reached:
                    near[1, k] = 1
                    grown = True
    connected = True
    for k in (4, 10, 12, 14, 16, 22):
        connected = connected and not (near[0, k] > 0 and near[1, k] == 0)
    return connected
