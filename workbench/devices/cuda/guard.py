"""The context of every call of CUDA."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from workbench.errors import DeviceError, InputError

if TYPE_CHECKING:
    from types import ModuleType, TracebackType


class Guard:
    """A context with the device selected and locked; errors of CUDA are raised as one sentence.

    Entered at every launch, so one object serves all; a thread may enter it again. where: the device in a sentence.
    """

    def __init__(self, cupy: ModuleType, device: Any, where: str) -> None:
        self._lock, self._number, self._cuda, self._where = threading.RLock(), device.id, cupy.cuda, where
        self._runtime, self._before = cupy.cuda.runtime, list[int]()

    def __enter__(self) -> None:
        self._lock.acquire()
        # As CuPy's context of a device does, in half the time.
        self._before.append(before := self._runtime.getDevice())
        if before != self._number:
            self._runtime.setDevice(self._number)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if (before := self._before.pop()) != self._number:
            self._runtime.setDevice(before)
        self._lock.release()
        if error is None:
            return
        where, cuda = self._where, self._cuda
        if isinstance(error, cuda.memory.OutOfMemoryError):
            raise InputError(f"{where} is out of memory; take a smaller problem or device cpu") from None
        if isinstance(error, cuda.compiler.CompileException):
            lines = str(error).splitlines()
            first = next((line for line in lines if "error" in line), lines[0])
            raise InputError(f"{where} cannot compile a kernel ({first})") from error
        if isinstance(error, cuda.runtime.CUDARuntimeError | cuda.driver.CUDADriverError):
            raise DeviceError(f"{where} does not answer ({str(error).splitlines()[0]}); restart Python") from None
