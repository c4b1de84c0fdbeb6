"""Connected bubbles: numbers that persist from step to step, and the volume that each is to keep."""

from __future__ import annotations

import numpy as np

from workbench.host.components import numbered_components, overlaps


class Components:
    """The connected components of the cells inside, neighbours sharing a face.

    labels: int32, shape of the grid, 0 outside, else the number of the bubble. volumes: of each number, what it keeps;
    where bubbles merge the sum, where one splits a part in proportion to its cells. changed: whether components have
    merged, split or vanished when it last followed them. count: how many bubbles there are.

    Cost: that of `numbered_components` where a cell has changed, and two passes.
    """

    def __init__(self, inside: np.ndarray) -> None:
        labels = numbered_components(inside.view(np.uint8), inside.shape).reshape(inside.shape)
        self.take(labels, np.zeros(int(labels.max(initial=0)) + 1))

    def take(self, labels: np.ndarray, volumes: np.ndarray) -> None:
        """Begin with these."""
        self.labels, self.volumes, self.changed = labels, volumes, False
        self.count = int(np.count_nonzero(np.bincount(labels.reshape(-1))[1:]))

    def follow(self, inside: np.ndarray) -> bool:
        """Number the components of the next step; whether any cell has changed."""
        before, self.changed = self.labels.reshape(-1), False
        if np.array_equal(inside, self.labels > 0):
            return False
        labels = numbered_components(inside.view(np.uint8), inside.shape, before)
        old, new = self.volumes.size, int(labels.max(initial=0)) + 1
        common = overlaps(before, labels, old, new)[1:, 1:]
        shares = common / np.maximum(common.sum(axis=1, keepdims=True), 1)
        volumes = np.zeros(max(old, new))
        volumes[1:new] = self.volumes[1:] @ shares
        was = np.flatnonzero(self.volumes[1:])
        changed = not np.array_equal(np.flatnonzero(volumes[1:]), was) or bool(((shares > 0) & (shares < 1)).any())
        self.take(labels.reshape(inside.shape), volumes)
        self.changed = changed
        return True
