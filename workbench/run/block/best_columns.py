"""The best columns so far: a copy of each, returned where later ones are worse."""

from __future__ import annotations

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device
from workbench.run.best import FALL


class BestColumns:
    """A copy of every column of X, made whenever its norm has fallen by `FALL`. Memory: a block vector and a column.

    iterations, shape (s,): of the copies.
    """

    def __init__(self, device: Device, X: DeviceVector, size: int, columns: int, dtype: np.dtype) -> None:
        self._device = device
        self.X: DeviceVector = device.zero_block(size, columns, dtype)
        device.assign(self.X, X)
        self._column = [device.zeros(size, dtype)]
        device.prepare_columns(self.X, self._column)
        self.iterations = np.zeros(columns, int)
        self._norms = np.full(columns, np.inf)

    def release(self) -> None:
        """Drop the copies."""
        self.X, self._column = None, []

    def update(self, norms: np.ndarray, iteration: int, X: DeviceVector) -> None:
        """Copy the columns whose norms are smaller by `FALL` than those of their last copies."""
        fallen = norms * FALL <= self._norms
        if iteration:
            for j in np.flatnonzero(fallen):
                self._device.take_columns(X, int(j), self._column)
                self._device.put_columns(self._column, self.X, int(j))
        self.iterations[fallen], self._norms[fallen] = iteration, norms[fallen]
