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
    """The connected components of the cells inside, neighbours sharing a face.

    labels: int32, shape of the grid, 0 outside, else the number of the bubble; what `placed` makes of a NumPy array.
    volumes: of each number, what it keeps; where bubbles merge the sum, where one splits a part in proportion to its
    cells. changed: whether components have merged, split or vanished when it last followed them. moved: the cells whose
    labels it then changed, None where it numbered all anew. numbers: of the bubbles there are, ascending.

    Cost: a copy of the labels where cells have changed; where bubbles merge, split, appear or vanish, or may have
    split, that of `numbered_components`.
    """

    def __init__(self, inside: np.ndarray, placed: Callable[[np.ndarray], Any] = lambda labels: labels) -> None:
        self._placed = placed
        labels = numbered_components(inside.view(np.uint8), inside.shape).reshape(inside.shape)
        self.take(labels, np.zeros(int(labels.max(initial=0)) + 1))

    def take(self, labels: Any, volumes: np.ndarray) -> None:
        """Begin with these."""
        self.labels = self._placed(labels) if isinstance(labels, np.ndarray) else labels
        self.volumes, self.changed = volumes, False
        self.moved: np.ndarray | None = None
        self.numbers = np.flatnonzero(np.bincount(np.asarray(labels).reshape(-1))[1:]) + 1
        self._mirror: np.ndarray | None = None
        """A copy in host memory of labels that are placed elsewhere."""

    @property
    def count(self) -> int:
        """The number of bubbles."""
        return self.numbers.size

    def follow(self, moved: np.ndarray, inside: Callable[[], np.ndarray]) -> bool:
        """Number the components of the next step; True if a cell has changed. moved: flat places of the cells that
        have gone inside or outside, ascending. inside: gives whether each cell is inside, shape of the grid."""
        self.changed, self.moved = False, moved
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
        labels = numbered_components(inside().view(np.uint8), grid, before)
        old, new = self.volumes.size, int(labels.max(initial=0)) + 1
        common = overlaps(before, labels, old, new)[1:, 1:]
        shares = common / np.maximum(common.sum(axis=1, keepdims=True), 1)
        volumes = np.zeros(max(old, new))
        volumes[1:new] = self.volumes[1:] @ shares
        was = np.flatnonzero(self.volumes[1:])
        changed = not np.array_equal(np.flatnonzero(volumes[1:]), was) or bool(((shares > 0) & (shares < 1)).any())
        self.take(labels.reshape(grid), volumes)
        self.changed = changed
        return True


@kernel()
def _follow(taken, labels, shape, moved, near, failed):  # pragma: no cover
    """Change the labels of the cells that moved, one after another; failed[0] = 1 where a bubble appears or vanishes,
    where two merge, and where the neighbours of a cell that leaves are connected by no path next to it.

    near: room for the 27 cells around one, and for those that are reached.
    """
    nz, ny, nx = shape[0], shape[1], shape[2]
    for thread in threads(taken):
        for _ in shared(taken, thread, 1):
            for n in range(moved.size):
                i = moved[n]
                z, y, x = i // (nx * ny), (i // nx) % ny, i % nx
                number, start = 0, 0
                for k in range(27):
                    dz, dy, dx = k // 9 - 1, (k // 3) % 3 - 1, k % 3 - 1
                    there = 0
                    if 0 <= z + dz < nz and 0 <= y + dy < ny and 0 <= x + dx < nx:
                        there = labels[i + (dz * ny + dy) * nx + dx]
                    near[0, k], near[1, k] = there, 0
                    if there > 0 and abs(dz) + abs(dy) + abs(dx) == 1:
                        if number != 0 and there != number:
                            failed[0] = 1
                        number, start = there, k
                if number == 0 or failed[0] != 0:
                    failed[0] = 1
                    break
                if labels[i] == 0:
                    labels[i] = number
                    continue
                labels[i] = 0
                near[0, 13], near[1, start] = 0, 1
                grown = 1
                while grown > 0:
                    grown = 0
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
                                grown = 1
                for k in (4, 10, 12, 14, 16, 22):
                    if near[0, k] > 0 and near[1, k] == 0:
                        failed[0] = 1
                if failed[0] != 0:
                    break
