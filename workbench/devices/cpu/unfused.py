"""CPU operators without a kernel: functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.devices.clock import TimedCalls
from workbench.devices.operator_protocols import OperatorTraits
from workbench.lines.types import OperatorDot, accumulator


class CoarseLevel:
    """E^-1 a by a function of NumPy arrays. parts: the calls in it that a trace records separately."""

    waits = False
    notes = ()

    def __init__(
        self, solve: Callable[[np.ndarray], np.ndarray], parts: Callable[[], TimedCalls] = lambda: iter(())
    ) -> None:
        self.solve, self.parts = solve, parts

    def correct_curvature(self, dots: np.ndarray, coarse: np.ndarray, solved: np.ndarray) -> np.ndarray:
        """Subtract (coarse, solved) from the first dot product, (p, A p)."""
        dots[0] -= np.vdot(coarse, solved)
        return dots


class CallableProduct(OperatorTraits):
    """out = f(x) for a Python function, with those dot products in NumPy that are requested."""

    traffic = 0
    flops = 0

    def __init__(self, product: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype) -> None:
        self._product = product
        self._shape = (size,)
        self._dots = np.zeros(3, accumulator(dtype))

    def apply(self, x: np.ndarray, out: np.ndarray, *wanted: str) -> np.ndarray:
        out[:] = np.reshape(self._product(x), self._shape)
        if wanted:
            vectors = {name: vector.astype(self._dots.dtype, copy=False) for name, vector in (("x", x), ("y", out))}
            for left, right in wanted:
                self._dots[OperatorDot(left + right).place] = np.vdot(vectors[left], vectors[right])
        return self._dots
