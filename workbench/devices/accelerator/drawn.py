"""Random vectors made in device memory, with the numbers that NumPy draws."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.arrays.validation import Drawn
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.user_vector import UserVector
from workbench.devices.constant import constant
from workbench.devices.kernels import draw as texts

MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
"""The multiplier of PCG64."""
WORD, WHOLE = 1 << 64, 1 << 128


class DrawnVector(UserVector):
    """A vector in device memory that stands for one of the host; never written to."""

    def __init__(self, device: Launcher, vector: Vector) -> None:
        self.vector, self.device, self._place = vector, device.name, device

    def astype(self, dtype: np.dtype, *, copy: bool = True) -> Any:
        return self if dtype == self.dtype else np.asarray(self, dtype)

    def any(self) -> bool:
        return self._place.norm(self.vector) > 0

    def sum_and_norm(self) -> tuple[complex, float]:
        return complex(self._place.vdot(self._constant(1), self.vector)), self._place.norm(self.vector)

    def less(self, number: complex) -> DrawnVector:
        made = self._constant(number)
        self._place.subtract_from(self.vector, made)
        return DrawnVector(self._place, made)

    def _constant(self, number: complex) -> Vector:
        real = self.dtype.kind == "f"
        return self._place.array(constant(number.real if real else number, self.size, self.dtype), self.dtype)

    def __getitem__(self, place: slice) -> np.ndarray:
        """A slice of the vector on the host. Only its entries are copied if it begins with the first, else all are."""
        if place.start is not None or place.step is not None or place.stop < 0:
            return np.asarray(self)[place]
        values = np.empty(min(place.stop, self.size), self.dtype)
        self._place.fetch(self.vector, values)
        return values

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._place.to_host(self.vector), dtype)


def drawn(device: Launcher, numbers: Drawn, dtype: np.dtype) -> DrawnVector | None:
    """The numbers in device memory; None where the device does not compute in double precision."""
    if not device.layout.double:
        return None
    made = device.empty(numbers.shape, dtype)
    given = np.random.PCG64(numbers.seed).state["state"]
    state, increment = given["state"], given["inc"]
    groups = device.layout.groups_for(made.size)
    stride = 1 if device.layout.chunked else groups * device.layout.group
    jumps, table = _jumps(increment)
    # The stride of a work-item is a power of two, or a few of them.
    times, plus = 1, 0
    for bit, (factor, term) in enumerate(jumps):
        if stride >> bit & 1:
            times, plus = times * factor % WHOLE, (factor * plus + term) % WHOLE
    kernel = device.kernel(texts.draw(device.layout.language), "draw", dtype)
    words = map(np.uint64, _words(state, times, plus))
    device.launch_over(kernel, made.size, device.array(table, np.uint64), *words, np.int64(numbers.first), made)
    found = DrawnVector(device, made)
    return found.less(found.sum_and_norm()[0] / made.size) if numbers.centred else found


@functools.lru_cache(16)
def _jumps(increment: int) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Factor and term of 1, 2, 4, .. steps, and the same as words."""
    jumps = [(MULTIPLIER, increment)]
    while len(jumps) < texts.BITS:
        jumps.append(_twice(*jumps[-1]))
    return jumps, np.array([list(_words(*jump)) for jump in jumps], np.uint64)


def _twice(factor: int, term: int) -> tuple[int, int]:
    """x -> factor x + term, applied twice."""
    return factor * factor % WHOLE, (factor * term + term) % WHOLE


def _words(*numbers: int) -> Iterator[int]:
    """The high and the low word of each number."""
    for number in numbers:
        yield from divmod(number, WORD)
