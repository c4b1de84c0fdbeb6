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
    row, x, first, behind, down, across, layers, rows, columns, step, begins, reach, high, width, out
):  # fmt: skip
    """The value of largest magnitude, with its sign, in a block of reach^3 cells; of equal magnitudes the positive one.

    Blocks are `step` cells apart. Cells are `behind`, `down` and `across` apart in x, from `first` on; a plane has one
    layer.
    """
    front = min(row // (width * high) * step + begins, layers - 1)
    top = min(row // width % high * step + begins, rows - 1)
    left = min(row % width * step + begins, columns - 1)
    found = real(x[first + front * behind + top * down + left * across])
    for z in range(front, min(front + reach, layers)):
        for y in range(top, min(top + reach, rows)):
            for c in range(left, min(left + reach, columns)):
                other = real(x[first + z * behind + y * down + c * across])
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
    """The values that `part` shows of a vector, as a new NumPy array of shape `part.seen`; no others are copied.

    Waits for the device. Cost: one read of the cells that count. Raises InputError where the array does not fit.
    """
    if isinstance(part, PlaneSlice):
        first, apart, cells = part.first, (0, *part.apart), (1, *part.shape)
    else:
        first, apart, cells = 0, (part.grid[1] * part.grid[2], part.grid[2], 1), part.grid
    out = device.empty(part.seen, np.finfo(vector.dtype).dtype)
    numbers = (first, *apart, *cells, part.step, part.begins, part.reach, *part.seen[-2:])
    fixed = dict(zip(block_peak.parameters[1:-1], map(int, numbers), strict=True)) | {"out": out}
    device.bind(Request(block_peak, out.size, vector.dtype, fixed))(vector)
    return device.to_host(out)
