"""Compiled programs on disk: a driver takes a tenth of a second to read a source that it has compiled before, and a
millisecond to read its own binary.

The files are those of `jit.store`. A binary is one of this driver, in this version, for this device; where the
driver refuses it, or the disk cannot be read, the source is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.jit import store

if TYPE_CHECKING:
    from types import ModuleType

    from pyopencl import Context, Device, Program


def built(cl: ModuleType, context: Context, device: Device, text: str, flags: Sequence[str]) -> Program:
    """The program of a source, from its binary if there is one. Raises what PyOpenCL raises for the source."""
    key = key_of(cl, device, text, flags)
    with warnings.catch_warnings():
        # Compilers report vectorized loops as warnings.
        warnings.simplefilter("ignore")
        if stored := store.read(key):
            with contextlib.suppress(cl.Error):
                return cl.Program(context, [device], [stored]).build(list(flags))
        program = cl.Program(context, text).build(list(flags))
        with contextlib.suppress(cl.Error):
            store.write(key, program.get_info(cl.program_info.BINARIES)[0])
    return program


def key_of(cl: ModuleType, device: Device, text: str, flags: Sequence[str]) -> str:
    """Under which the binary of a source is stored: of this driver, device and PyOpenCL."""
    versions = (device.platform.name, device.platform.version, device.name, device.version, device.driver_version)
    parts = ("opencl", cl.VERSION_TEXT, *versions, *flags, text)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
