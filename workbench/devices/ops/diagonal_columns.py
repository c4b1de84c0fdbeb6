"""AZ as N x d by diagonals, coalesced on GPUs: 5 N words for stripes in 2D.

Source: Gupta, van Gijzen, Vuik 2013, section 5.2, figure 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.compiler.words import wide
from workbench.devices.bound import Request
from workbench.devices.host import storage
from workbench.devices.ops.storage import by_rows
from workbench.kernel_language.row_kernels import kernel
from workbench.lazy import sparse

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.devices.ops.applied import BindingDevice


@kernel()
def diagonal_columns(row, data, labels, shifts, each, width, size, count, coarse, w, *, even, rowwise):
    """w = w - AZ a. Entry k of a row has the column of its label + shifts[k] - count, if that is one of AZ.

    even: the label of a row is row // each.
    """
    own = row // each if even else labels[row]
    value = wide(w[row])
    for k in range(width):
        column = own + shifts[k] - count
        if column >= 0 and column < count:
            value -= data[row * width + k if rowwise else row + k * size] * coarse[column]
    w[row] = value


class DiagonalColumns:
    """AZ, shape (N, d), with a value for each row and each distance between a column and the label of its row."""

    def __init__(self, device: BindingDevice, az: sparse.csr_array, labels: np.ndarray) -> None:
        rows, count = labels.size, az.shape[1]
        distances, each = storage.diagonals(az, labels), storage.runs_of_labels(labels, count)
        form = {"even": each > 0, "rowwise": by_rows(device)}
        fixed: dict[str, Any] = {
            "data": storage.dia_values(az, distances, labels, rowwise=form["rowwise"]),
            # Indices have no sign on the cores.
            "shifts": distances + count,
            "width": distances.size,
            "size": rows,
            "count": count,
            **({"each": each} if each else {"labels": labels}),
        }
        self.entries = int(fixed["data"].size)
        """Entries that are multiplied, padding included."""
        self._bound = device.bind(
            Request(
                diagonal_columns,
                rows,
                az.dtype,
                fixed,
                constants=form,
                summed=False,
                each=distances.size,
                wides=("coarse",),
            )
        )
        self.traffic = self._bound.fixed_bytes + 2 * rows * az.dtype.itemsize

    def subtract(self, w: DeviceVector, coarse: DeviceVector) -> None:
        """w = w - AZ a in place, for a of shape (d,) in the precision of sums."""
        self._bound(coarse, w)
