"""Connected bubbles: numbers that persist from step to step, and the volume that each is to keep."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(eq=False)
class Components:
    """The connected components of the cells inside, neighbours sharing a face.

    labels: int32, shape of the grid, 0 outside, else the number of the bubble. volumes: of each number, what it keeps;
    where bubbles merge the sum, where one splits a part of its own in proportion to the cells. changed: whether the last
    call of `follow` found that bubbles have merged, split or vanished.

    Cost: `scipy.ndimage.label` and three passes over the cells a step.
    """

    labels: np.ndarray
    volumes: np.ndarray
    changed: bool = True

    @classmethod
    def of(cls, inside: np.ndarray) -> Components:
        """Numbered in the order of their first cell; volumes are zero, to be measured."""
        labels, count = _labelled(inside)
        return cls(labels, np.zeros(count + 1))

    @property
    def count(self) -> int:
        """Bubbles."""
        return int(np.unique(self.labels).size - 1)

    def follow(self, inside: np.ndarray) -> None:
        """Number the components of the next step: each takes the number with which it has most cells in common."""
        found, count = _labelled(inside)
        known = self.volumes.size
        common = np.bincount(self.labels.reshape(-1) * (count + 1) + found.reshape(-1), minlength=known * (count + 1))
        common = common.reshape(known, count + 1)[1:, 1:]
        present = self._present
        # The common case: every bubble overlaps itself alone.
        numbers = np.zeros(count + 1, np.int32)
        volumes = np.zeros(known)
        if not count:
            self.labels, self.volumes, self.changed = found, volumes, bool(present.size)
            return
        shared = np.maximum(common.sum(axis=1, keepdims=True), 1)
        inherited = (self.volumes[1:, None] * common / shared).sum(axis=0)
        best_of_new, best_of_old = common.argmax(axis=0), common.argmax(axis=1)
        free = [number for number in range(1, known + count + 1) if number not in present]
        for new in range(count):
            old = int(best_of_new[new])
            keeps = common[old, new] > 0 and best_of_old[old] == new
            numbers[new + 1] = old + 1 if keeps else free.pop(0)
        volumes = np.zeros(max(known, int(numbers.max()) + 1))
        volumes[numbers[1:]] = inherited
        self.changed = set(numbers[1:].tolist()) != set(present.tolist())
        self.labels, self.volumes = numbers[found], volumes

    @property
    def _present(self) -> np.ndarray:
        numbers = np.unique(self.labels)
        return numbers[numbers > 0]


def _labelled(inside: np.ndarray) -> tuple[np.ndarray, int]:
    from scipy import ndimage

    labels, count = ndimage.label(inside, output=np.int32)  # pyright: ignore[reportGeneralTypeIssues]
    return labels, count
