"""Devices: memory, compilation, operators and clocks. Only this package imports CuPy or PyOpenCL."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from workbench.errors import InputError, error_message
from workbench.process.forks import WorkLock
from workbench.registry import unknown_name
from workbench.registry.extensions import extensions

if TYPE_CHECKING:
    from workbench.devices.protocol import Device

__all__ = ["DEVICES", "device", "names"]

DEVICES = ("cpu", "opencl", "cuda", "auto")
"""Names of devices; opencl and cuda may be followed by a colon and which one: opencl:1, opencl:intel, cuda:1."""

made: dict[str, Device] = {}
"""The devices that have been created, by name."""
_making = WorkLock()
_told: list[tuple[str, ...]] = []
"""The names that another process of this machine has found."""


@functools.cache
def names() -> tuple[str, ...]:
    """The devices that drivers of this machine offer, the CPU first, and `auto` where there is a choice.

    A driver may offer a device and fail to compile for it; creating the device shows that.

    Examples:
        >>> from workbench.devices import names
        >>> names()[0]
        'cpu'
    """
    if _told:
        return _told[-1]
    from workbench.devices.discovery import cuda_devices, opencl_devices

    present = ["cpu"]
    present += ["opencl"] if opencl_devices().devices else []
    present += ["cuda"] if cuda_devices().devices else []
    return tuple([*present, "auto"] if len(present) > 1 else present)


def tell_names(found: tuple[str, ...]) -> None:
    """Let `names` return these, as another process of this machine has found them. Asking imports PyOpenCL, which most
    pages do not need."""
    _told.append(found)
    names.cache_clear()


def device(name: str = "cpu") -> Device:
    """The device of that name; `auto` is the fastest of this machine. Each device is created once and shared.

    Raises InputError for an unknown name, with the nearest known, and where a library, a driver or a device is missing.

    Examples:
        >>> from workbench.devices import device
        >>> device("cpu") is device("cpu")
        True
    """
    kind, _, which = name.partition(":")
    if kind not in DEVICES and not any(kind in extension.devices for extension in extensions().values()):
        known = [at for extension in extensions().values() for at in extension.devices]
        raise InputError(unknown_name("device", name, [*DEVICES, *known]))
    if which and kind in ("cpu", "auto"):
        raise InputError(unknown_name("device", name, DEVICES))
    # Imported here because devices take a while to import and `workbench --help` needs none of them.
    if kind == "auto":
        from workbench.devices.fastest import fastest

        return device(fastest())
    with _making:
        if name not in made:
            made[name] = _make(name)
        return made[name]


def candidates(name: str) -> tuple[str, ...]:
    """The devices that a name may stand for: for `auto` the fastest, or all that are present until it is measured."""
    from workbench.devices.fastest import fastest

    if name != "auto":
        return (name,)
    return (fastest(),) if fastest.cache_info().currsize else tuple(at for at in names() if at != "auto")


def forget(failed: Device) -> None:
    """Drop a device that has failed, with all others that share its runtime; `device` then creates a new one."""
    runtime = getattr(failed, "runtime", None)
    with _making:
        for name in [name for name, other in made.items() if getattr(other, "runtime", None) is runtime]:
            del made[name]


def _make(name: str) -> Device:
    kind, _, which = name.partition(":")
    if kind not in DEVICES:
        extension = next(each for each in extensions().values() if kind in each.devices)
        make = extension.resolved(extension.devices[kind])
        try:
            return make(which)
        except InputError:
            raise
        # Code of anybody, which may raise anything; a device may be there the next time.
        except Exception as error:
            raise InputError(f"device {name}: {error_message(error, f'extension {extension.name}')}") from error
    if kind == "cpu":
        from workbench.devices.cpu import Cpu

        return Cpu()
    from workbench.devices.accelerator.device import Accelerator

    if kind == "opencl":
        from workbench.devices.opencl import OpenCL, choose

        return Accelerator(OpenCL(choose(which), name=name))
    from workbench.devices.cuda import Cuda

    if which and not which.isdigit():
        raise InputError(f"CUDA devices are chosen by number, as in cuda:0, got cuda:{which}")
    return Accelerator(Cuda(int(which or 0)))
