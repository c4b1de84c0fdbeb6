"""Connected bubbles: numbers that persist from step to step, and the volume that each is to keep."""

from __future__ import annotations

import numpy as np

from workbench.host.components import numbered_components


class Components:
    """The connected components of the cells inside, neighbours sharing a face.

    labels: int32, shape of the grid, 0 outside, else the number of the bubble. volumes: of each number, what it keeps;
    where bubbles merge the sum, where one splits a part in proportion to its cells. changed: whether components have
    merged, split or vanished when it last followed them.

    Cost: that of `numbered_components` where a cell has changed, and two passes.
    """

    def __init__(self, inside: np.ndarray) -> None:
        self.labels = numbered_components(inside.view(np.uint8), inside.shape).reshape(inside.shape)
        self.volumes = np.zeros(int(self.labels.max(initial=0)) + 1)
        self.changed = False

    @property
    def numbers(self) -> np.ndarray:
        """Of the bubbles that there are."""
        found = np.unique(self.labels)
        return found[found > 0]

    def follow(self, inside: np.ndarray) -> bool:
        """Number the components of the next step; whether any cell has changed."""
        before, self.changed = self.labels.reshape(-1), False
        if np.array_equal(inside.reshape(-1), before > 0):
            return False
        labels = numbered_components(inside.view(np.uint8), inside.shape, before.astype(np.int64))
        old, new = self.volumes.size, int(labels.max(initial=0)) + 1
        common = np.bincount(before * np.int64(new) + labels, minlength=old * new).reshape(old, new)[1:, 1:]
        shares = common / np.maximum(common.sum(axis=1, keepdims=True), 1)
        volumes = np.zeros(max(old, new))
        volumes[1:new] = self.volumes[1:] @ shares
        was = np.flatnonzero(self.volumes[1:])
        self.changed = not np.array_equal(np.flatnonzero(volumes[1:]), was) or bool(
            ((shares > 0) & (shares < 1)).any()
        )
        self.labels, self.volumes = labels.reshape(inside.shape), volumes
        return True
