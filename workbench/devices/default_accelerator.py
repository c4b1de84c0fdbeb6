"""The default accelerator of this machine."""

from __future__ import annotations

from workbench import devices
from workbench.errors import InputError


def default_accelerator() -> tuple[str, str]:
    """This machine's accelerator, cuda before opencl, and a sentence on it; the name is empty where there is none."""
    from workbench.devices.accelerator.device import as_accelerator

    missing = []
    for name in ("cuda", "opencl"):
        try:
            found = as_accelerator(devices.device(name))
        except InputError as sentence:
            missing.append(str(sentence))
        else:
            itself = (
                " That is the processor itself: sharing work with it gains nothing." if found.layout.chunked else ""
            )
            return name, f"{found.note}.{itself}"
    return "", f"There is no accelerator here: {'; '.join(missing)}"
