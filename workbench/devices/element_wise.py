"""Operators that act element by element: inlined into the passes of a program, or in a pass of their own."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

import numpy as np

from workbench.devices.dot_lines import DOTS, PRODUCT
from workbench.devices.operator_protocols import DeviceVector, Dots, OnePass, OperatorTraits
from workbench.devices.programs.function import LinesDevice
from workbench.lines.schedule import Inlined


@dataclasses.dataclass(frozen=True)
class ElementWise(Inlined, OperatorTraits):
    """A diagonal M^-1, applied element by element inside the fused kernels of a solver.

    formula: an expression in `v`, the argument, and in the names of `factors`, vectors on the device.

    Examples:
        >>> import numpy as np
        >>> from workbench.preconditioners import ElementWise
        >>> ElementWise("d*v", {"d": np.full(4, 0.5)}).formula
        'd*v'
    """

    formula: str
    factors: Mapping[str, DeviceVector]


class AppliedElementWise(OperatorTraits):
    """u = formula of r in a pass of its own, with (r, u), (u, u) and (r, r) where any of them is asked for."""

    def __init__(self, device: LinesDevice, operator: ElementWise, size: int, dtype: np.dtype) -> None:
        self.element_wise = operator
        self._device, self._dtype = device, dtype
        self._product = self._compiled(PRODUCT)
        self.traffic, self.flops = self._product.work(size, dtype)

    @functools.cached_property
    def _product_and_dots(self) -> OnePass:
        return self._compiled(f"{PRODUCT}\n{DOTS}")

    def _compiled(self, text: str) -> OnePass:
        return self._device.one_pass(text, ("x", "y"), self._dtype, operators={"M": self.element_wise})

    def apply(self, r: DeviceVector, u: DeviceVector, *wanted: str) -> Dots | None:
        return (self._product_and_dots if wanted else self._product).apply(r, u)
