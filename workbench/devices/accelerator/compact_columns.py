"""AZ on an accelerator, without its empty rows."""

from __future__ import annotations

import numpy as np

from workbench.compiler.kinds import Array
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import deflation as kernels
from workbench.lazy import sparse


class CompactColumns:
    """AZ in CSR form without its empty rows."""

    def __init__(self, device: Launcher, az: sparse.csr_array) -> None:
        rows = np.flatnonzero(np.diff(az.indptr))
        index = np.int64 if max(az.shape[0], az.nnz) > np.iinfo(np.int32).max else np.int32
        places = [rows, np.append(az.indptr[rows], az.nnz), az.indices]
        self._places = [device.array(place, index) for place in places]
        self._data, self._touched = device.array(az.data, az.dtype), rows.size
        kind = Array(np.dtype(index), 1)
        of_places = {"rows": kind, "starts": kind, "columns": kind}
        self._subtract = device.function(kernels.subtract_rows, az.dtype, annotations=of_places)

    def subtract(self, w: Vector, coarse: Vector) -> None:
        """w = w - AZ a in place."""
        if self._touched:
            self._subtract.over(self._touched, *self._places, self._data, w, coarse)

    @property
    def traffic(self) -> int:
        stored = self._data.nbytes + sum(place.nbytes for place in self._places)
        return stored + 2 * self._touched * self._data.itemsize

    @property
    def entries(self) -> int:
        return self._data.size
