"""The best iterate so far: a copy of x, by column, returned when later iterates are worse.

At its attainable accuracy the residual of a method may grow by orders of magnitude before a breakdown, that of DEF1
among them. x is copied whenever the norm has fallen by `FALL` since the last copy: 27 copies for 16 digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device

FALL = 4.0
"""Ratio of the norms at two consecutive copies: the norm of the copy is within this factor of the smallest."""


class BestIterates:
    """A copy of x, a vector (N,) or a block vector (N, s). Memory: one of these, and a vector for a block vector.

    iterations: of the copies, by column.
    """

    def __init__(self, device: Device, x: DeviceVector) -> None:
        self._device = device
        x = device.whole(x)
        self._column: list[DeviceVector] | None = None
        if len(x.shape) == 1:
            self.x: DeviceVector = device.copy(x)
        else:
            size, columns = x.shape
            self.x = device.zero_block(size, columns, x.dtype)
            device.assign(self.x, x)
            self._column = [device.zeros(size, x.dtype)]
            device.prepare_columns(self.x, self._column)
        columns = math.prod(x.shape[1:])
        self.iterations, self._norms = [0] * columns, [math.inf] * columns

    def release(self) -> None:
        """Drop the copy."""
        self.x = self._column = None

    def update(self, norms: Sequence[float], iteration: int, x: DeviceVector, frozen: np.ndarray) -> None:
        """Copy the columns whose norms are smaller by `FALL` than those of their last copies, unless they have ended.

        frozen: shape (s,), bool. Cost: nothing, or one copy of each.
        """
        better = [j for j, norm in enumerate(norms) if norm * FALL <= self._norms[j] and not frozen[j]]
        if iteration:
            self._copy(x, better)
        for j in better:
            self.iterations[j], self._norms[j] = iteration, norms[j]

    def _copy(self, x: DeviceVector, columns: list[int]) -> None:
        if len(columns) == len(self.iterations):
            self._device.assign(self.x, self._device.whole(x))
            return
        for j in columns:
            assert self._column is not None
            self._device.take_columns(x, j, self._column)
            self._device.put_columns(self._column, self.x, j)

    def column(self, j: int) -> DeviceVector:
        """The copy of a column, shape (N,)."""
        if self._column is None:
            return self.x
        taken = self._device.zeros(self.x.shape[0], self.x.dtype)
        self._device.take_columns(self.x, j, [taken])
        return taken
