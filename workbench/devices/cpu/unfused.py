"""CPU operators without a dedicated kernel: compositions of others, passes of paper lines, and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.devices.base import DeviceBase
from workbench.devices.clock import TimedCalls
from workbench.devices.dot_lines import DOTS, PRODUCT
from workbench.lines.schedule import DOT_PLACES
from workbench.lines.types import accumulator


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


class DotProducts:
    """(x, y), (y, y) and (x, x) in one pass."""

    def __init__(self, device: DeviceBase, dtype: np.dtype) -> None:
        self._lines = device.lines(DOTS)
        self._lines.compile(x=np.zeros(1, dtype), y=np.zeros(1, dtype))

    def apply(self, x: np.ndarray, y: np.ndarray) -> tuple[Any, Any, Any]:
        dots = self._lines(x=x, y=y)
        return dots["xy"], dots["yy"], dots["xx"]


class AppliedElementWise:
    """u = formula of r in a separate pass, with (r, u), (u, u) and (r, r) where any of them is asked for."""

    def __init__(self, device: DeviceBase, operator: Any, size: int, dtype: np.dtype) -> None:
        self.element_wise = operator
        self._product = device.lines(PRODUCT, operators={"M": operator})
        self._product_and_dots = device.lines(f"{PRODUCT}\n{DOTS}", operators={"M": operator})
        _, compiled = self._product.compile(x=np.zeros(size, dtype), y=np.zeros(size, dtype))
        self.traffic, self.flops = compiled.bytes, compiled.flops

    def apply(self, r: np.ndarray, u: np.ndarray, *wanted: str) -> tuple[Any, Any, Any] | None:
        if not wanted:
            self._product(x=r, y=u)
            return None
        dots = self._product_and_dots(x=r, y=u)
        return dots["xy"], dots["yy"], dots["xx"]


class CallableProduct:
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
                self._dots[DOT_PLACES[left + right]] = np.vdot(vectors[left], vectors[right])
        return self._dots
