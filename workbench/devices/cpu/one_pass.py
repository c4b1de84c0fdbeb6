"""Paper lines of one pass as a function of NumPy arrays."""

from __future__ import annotations

import numpy as np

from workbench.devices.cpu.passes import PassKernel, compile_pass
from workbench.devices.lines import one_pass
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.lines.types import accumulator


class OnePass(one_pass.OnePass):
    """See `one_pass.OnePass`; the next application overwrites the dot products."""

    _kernel: PassKernel
    _size = 0
    _more: tuple[np.ndarray, ...]
    """The scalars, the places of those that the kernel uses, and memory for partial sums."""
    _dots: np.ndarray | None

    def prepare(self, dtype: np.dtype) -> None:
        """Compile for vectors of this dtype, ahead of the first application."""
        slots, numbers = self._slots(0), len(self._numbers)
        self._kernel = compile_pass(self._step, self._shapes, slots, dtype)
        scalars = np.zeros(len(slots), accumulator(dtype))
        scalars[:numbers] = list(self._numbers.values())
        self._dots = scalars[numbers:] if self._kernel.sums else None
        self._more = scalars, self._kernel.slots, np.zeros((1, max(1, self._kernel.sums)), scalars.dtype)
        vector = np.empty(0, dtype)
        prepare(self._kernel.kernel, *[vector] * len(self._places), *self._more)

    def apply(self, *vectors: np.ndarray) -> np.ndarray | None:
        """Run on vectors of one size, in the order of the names."""
        if vectors[0].size != self._size:
            self._resize(vectors[0].size)
        launch(self._size, self._kernel.kernel, *self._arrays(vectors), *self._more)
        return self._dots

    def _resize(self, size: int) -> None:
        scalars, slots, partial = self._more
        self._size, self._more = size, (scalars, slots, np.zeros((chunks_of(size), partial.shape[1]), partial.dtype))
