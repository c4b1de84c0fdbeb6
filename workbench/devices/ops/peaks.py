"""Planes and 3D grids of cells, downsampled to the resolution of a picture on an accelerator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from workbench.compiler.words import real
from workbench.devices.bound import Request
from workbench.devices.slices import PlaneSlice, VolumeSlice
from workbench.kernel_language.row_kernels import kernel

if TYPE_CHECKING:
    from workbench.devices.bound import Bound
    from workbench.devices.operator_protocols import DeviceVector


@kernel()
def block_peak(
    row, x, first, layer_stride, row_stride, column_stride, layers, rows, columns, step, offset, cells_read, high,
    width, out,
):  # fmt: skip
    """The value of largest magnitude, with its sign, of cells_read^3 cells in a block of step^3, from `offset` on.

    Of equal magnitudes the positive value. The cells begin at x[first], with a stride along each side; a plane has one
    layer. high, width: rows and columns of the result.
    """
    front = min(row // (width * high) * step + offset, layers - 1)
    top = min(row // width % high * step + offset, rows - 1)
    left = min(row % width * step + offset, columns - 1)
    found = real(x[first + front * layer_stride + top * row_stride + left * column_stride])
    for z in range(front, min(front + cells_read, layers)):
        for y in range(top, min(top + cells_read, rows)):
            for c in range(left, min(left + cells_read, columns)):
                other = real(x[first + z * layer_stride + y * row_stride + c * column_stride])
                # NaN wins over everything and is never replaced.
                if abs(other) > abs(found) or (abs(other) == abs(found) and other > found) or other != other:
                    found = other
    out[row] = found


class _Downsampling(Protocol):
    """An accelerator as far as `downsampled` needs it."""

    def bind(self, request: Request) -> Bound:
        """A kernel of the kernel language."""
        ...

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> DeviceVector:
        """An uninitialized vector."""
        ...

    def to_host(self, vector: DeviceVector) -> np.ndarray:
        """The vector as a new NumPy array; waits for the device."""
        ...


def downsampled(device: _Downsampling, vector: DeviceVector, part: PlaneSlice | VolumeSlice) -> np.ndarray:
    """The slice `part` of a vector, as a new NumPy array of shape `part.result_shape`; no other values are copied.

    Waits for the device. Cost: one read of the whole slice for peaks, else of a cell for each block. Raises InputError
    where the array does not fit.
    """
    if isinstance(part, PlaneSlice):
        first, strides, cells = part.first, (0, *part.strides), (1, *part.shape)
    else:
        first, strides, cells = 0, (part.grid[1] * part.grid[2], part.grid[2], 1), part.grid
    out = device.empty(part.result_shape, np.finfo(vector.dtype).dtype)
    numbers = (first, *strides, *cells, part.step, part.offset, part.cells_read, *part.result_shape[-2:])
    fixed = dict(zip(block_peak.parameters[1:-1], map(int, numbers), strict=True)) | {"out": out}
    device.bind(Request(block_peak, out.size, vector.dtype, fixed))(vector)
    return device.to_host(out)
