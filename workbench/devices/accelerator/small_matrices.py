"""The small matrices of block methods in the memory of an accelerator, where its kernels make and use them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, MutableMapping

import numpy as np

from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.clock import Clock
from workbench.devices.kernels import small

STATE = "state"
"""The name of what `kernels.small` calls so."""

ONES = "1"
"""The name of a row of ones."""


class SmallMatrices(MutableMapping[str, np.ndarray]):
    """Small matrices by name, in the precision of sums; the host reads and writes them as arrays.

    Reading one waits for the device, and copies it unless no kernel has written it since. columns: of the block
    vectors. clock: of a traced run. dtype: of the small matrices. stopped: lets kernels do nothing where it is not 0.
    """

    def __init__(self, device: Launcher, dtype: np.dtype, columns: int, clock: Clock | None = None) -> None:
        self._device, self.dtype = device, device.wide(np.dtype(dtype))
        self._double = np.result_type(self.dtype, np.float64)
        self._rooms: dict[str, Vector] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._read: dict[str, np.ndarray] = {}
        self._download = clock.reading(device.to_host, "copy small matrices") if clock else device.to_host
        self.stopped = self.room(STATE, (small.state_size(columns),))

    def room(self, name: str, shape: tuple[int, ...]) -> Vector:
        """The memory of a matrix, cleared when it is first asked for."""
        if name not in self._rooms:
            self._rooms[name] = self._device.zeros(int(np.prod(shape)), self.dtype)
            self._shapes[name] = shape
        return self._rooms[name]

    def ones(self, columns: int) -> str:
        """The name of a row of ones."""
        if ONES not in self:
            self[ONES] = np.ones(columns)
        return ONES

    def kernel(
        self, step: small.Step, columns: int, more: Mapping[str, Vector | tuple[Vector, ...] | np.generic] | None = None
    ) -> Callable[[], None]:
        """A launch of a kernel of one group on matrices that are named as its parameters. more: other arguments, by
        name."""
        (function, constants, annotations), arguments = step, []
        made = self._device.function(function, self.dtype, annotations=annotations, group=small.GROUP, **constants)
        for name in step.names:
            shape = (columns, columns) if name in small.SQUARES else (columns,)
            arguments.append(more[name] if more and name in more else self.room(name, shape))
        return functools.partial(made.launch, 1, *arguments)

    def changed(self) -> None:
        """Kernels may have written any of them."""
        self._read.clear()

    def made(self, name: str, shape: tuple[int, ...]) -> None:
        """Kernels have written, or will write, a matrix of this shape."""
        self._shapes[name] = shape
        self._read.pop(name, None)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._read:
            shape = self._shapes[name]
            self._read[name] = self._download(self._rooms[name]).reshape(shape).astype(self._double)
        return self._read[name]

    def __setitem__(self, name: str, value: np.ndarray) -> None:
        values = np.ascontiguousarray(value, self.dtype)
        self._device.runtime.upload(self.room(name, values.shape).handle, values)
        self._shapes[name], self._read[name] = values.shape, values.astype(self._double)

    def __delitem__(self, name: str) -> None:
        del self._shapes[name]
        self._read.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)
