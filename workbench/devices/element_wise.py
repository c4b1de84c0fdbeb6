"""Operators that act element by element, so that a program inlines them into its passes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from workbench.devices.operator_protocols import DeviceVector


@dataclasses.dataclass(frozen=True)
class ElementWise:
    """A diagonal M^-1, applied element by element inside the fused kernels of a solver.

    formula: an expression in `v`, the argument, and in the names of `factors`, vectors on the device.
    """

    formula: str
    factors: Mapping[str, DeviceVector]
