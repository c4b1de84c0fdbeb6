"""Copies in a separate OpenCL queue."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from types import ModuleType

    from pyopencl import Context, Event

    from workbench.devices.accelerator.runtime import Handle


class OpenCLSignal:
    """An event of OpenCL."""

    def __init__(self, event: Event, errors: AbstractContextManager[None]) -> None:
        self.event = event
        self._errors = errors

    def wait(self) -> None:
        with self._errors:
            self.event.wait()

    def span(self) -> tuple[float, float]:
        return 1e-9 * self.event.profile.start, 1e-9 * self.event.profile.end


class OpenCLStream:
    """An in-order queue for copies, next to that for kernels."""

    def __init__(self, cl: ModuleType, context: Context, errors: AbstractContextManager[None]) -> None:
        self._cl, self._errors = cl, errors
        with errors:
            self._queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    def to_host(
        self, values: np.ndarray, handle: Handle, after: OpenCLSignal | None = None, offset: int = 0
    ) -> OpenCLSignal:
        return self._copy(values, handle, after, src_offset=offset)

    def to_device(
        self, handle: Handle, values: np.ndarray, after: OpenCLSignal | None = None, offset: int = 0
    ) -> OpenCLSignal:
        return self._copy(handle, values, after, dst_offset=offset)

    def _copy(
        self, target: Handle | np.ndarray, source: Handle | np.ndarray, after: OpenCLSignal | None, **offset: int
    ) -> OpenCLSignal:
        waits = [after.event] if after else None
        with self._errors:
            event = self._cl.enqueue_copy(self._queue, target, source, is_blocking=False, wait_for=waits, **offset)
            # Without this a driver may delay the copy until it is waited for.
            self._queue.flush()
        return OpenCLSignal(event, self._errors)
