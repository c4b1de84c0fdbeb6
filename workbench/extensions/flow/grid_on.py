"""The staggered grid of a flow, in the memory of a device."""

from __future__ import annotations

from workbench.extensions.flow.padded_grid import PaddedGrid


def grid_on(device: str, cells: tuple[int, ...], h: float, no_slip: tuple[bool, ...]) -> PaddedGrid:
    """The grid in device memory for an accelerator, else in host memory; see `PaddedGrid` for the other arguments.

    Raises InputError for a device that is missing, or does not compute in double precision.
    """
    from workbench import devices
    from workbench.devices.accelerator.device import Accelerator
    from workbench.extensions.flow.device_grid import DeviceGrid

    found = None if device == "cpu" else devices.device(device)
    if isinstance(found, Accelerator):
        return DeviceGrid(cells, h, no_slip, found)
    return PaddedGrid(cells, h, no_slip)
