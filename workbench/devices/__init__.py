"""Where arithmetic runs. Only this package imports numba, CuPy or PyOpenCL."""

from typing import Any

from workbench.blocks import unknown_name
from workbench.errors import InputError

DEVICES = ("cpu",)


def names() -> tuple[str, ...]:
    """The devices that this machine has."""
    return DEVICES


def device(name: str = "cpu") -> Any:
    """The device of that name. Raises InputError for an unknown one, with the nearest known."""
    if name not in DEVICES:
        raise InputError(unknown_name("device", name, DEVICES))
    # Imported here because numba takes a second to import and `workbench --help` needs none of it.
    from workbench.devices.cpu import Cpu

    return Cpu()
