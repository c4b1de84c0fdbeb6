"""The default accelerator of this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar

from workbench import devices
from workbench.errors import InputError

ORDER = ("cuda", "opencl")
_taken: ContextVar[tuple[str, ...]] = ContextVar("accelerators", default=ORDER)


@contextlib.contextmanager
def accelerators_among(names: tuple[str, ...]) -> Generator[None]:
    """Inside, the default accelerator is one of these: none of them for (), where accelerators are left out."""
    before = _taken.set(names)
    try:
        yield
    finally:
        _taken.reset(before)


def default_accelerator() -> tuple[str, str]:
    """This machine's accelerator, cuda before opencl, and a sentence on it; the name is empty without one."""
    from workbench.devices.accelerator.device import as_accelerator

    missing = []
    for name in _taken.get():
        try:
            found = as_accelerator(devices.device(name))
        except InputError as sentence:
            missing.append(str(sentence))
        else:
            itself = (
                " That is the processor itself: sharing work with it gains nothing." if found.layout.chunked else ""
            )
            return name, f"{found.note}.{itself}"
    if not _taken.get():
        return "", "Accelerators are left out, as was chosen."
    return "", f"There is no accelerator here: {'; '.join(missing)}"
