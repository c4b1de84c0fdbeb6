"""Copies between host and device in an OpenCL queue of copies alone."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from types import ModuleType

    from pyopencl import Context, Event

    from workbench.devices.accelerator.runtime import Handle


class OpenCLSignal:
    """The event of an OpenCL command as a `Signal`. errors: a context that raises OpenCL's errors as ours."""

    def __init__(self, event: Event, errors: AbstractContextManager[None]) -> None:
        self.event = event
        self._errors = errors

    def wait(self) -> None:
        """Block the calling thread until the command is done."""
        with self._errors:
            self.event.wait()

    def span(self) -> tuple[float, float]:
        """Start and end of the command, in s of the device's clock; OpenCL counts nanoseconds."""
        return 1e-9 * self.event.profile.start, 1e-9 * self.event.profile.end


class OpenCLStream:
    """An in-order queue of copies, concurrent with the queue of kernels; see `Stream`."""

    def __init__(self, cl: ModuleType, context: Context, errors: AbstractContextManager[None]) -> None:
        self._cl, self._errors = cl, errors
        with errors:
            self._queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    def to_host(
        self, values: np.ndarray, handle: Handle, after: OpenCLSignal | None = None, offset: int = 0
    ) -> OpenCLSignal:
        """Fill an array from device memory, not before `after`. offset: bytes, in device memory."""
        return self._copy(values, handle, after, src_offset=offset)

    def to_device(
        self, handle: Handle, values: np.ndarray, after: OpenCLSignal | None = None, offset: int = 0
    ) -> OpenCLSignal:
        """Copy an array to device memory, not before `after`. offset: bytes, in device memory."""
        return self._copy(handle, values, after, dst_offset=offset)

    def _copy(
        self, target: Handle | np.ndarray, source: Handle | np.ndarray, after: OpenCLSignal | None, **offset: int
    ) -> OpenCLSignal:
        """Enqueue a copy. offset: the keyword of PyOpenCL for the side that is device memory."""
        waits = [after.event] if after else None
        with self._errors:
            event = self._cl.enqueue_copy(self._queue, target, source, is_blocking=False, wait_for=waits, **offset)
            # Otherwise a driver may delay the copy until the host waits for it.
            self._queue.flush()
        return OpenCLSignal(event, self._errors)
