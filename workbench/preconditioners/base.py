"""What a first-level preconditioner is: a registered block whose setup gives M^-1 as an operator on a device."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from workbench.devices.protocol import Device
from workbench.operators import Operator
from workbench.registry import Block


@dataclasses.dataclass(frozen=True)
class Preconditioner(Block):
    """Base of all first-level preconditioners."""

    kind: ClassVar[str] = "preconditioner"
    element_wise: ClassVar[bool] = False
    """`setup` gives an `ElementWise`."""

    def check(self, device: Device) -> None:
        """Raise InputError, before anything is set up, where the device cannot apply M^-1."""

    def setup(self, operator: Operator, device: Device) -> Any:
        """M^-1 for A on a device: an object with apply(r, u) that sets u = M^-1 r, or an `ElementWise`.

        Raises InputError with a sentence when A does not allow it.
        """
        raise TypeError(f"preconditioner {self.name} does not say how it is set up")


@dataclasses.dataclass(frozen=True)
class ElementWise:
    """M^-1 that acts element by element: it joins the passes of a solver instead of making one of its own.

    formula: an expression in `v`, the argument, and the names of `factors`, vectors on the device.
    """

    formula: str
    factors: Mapping[str, Any]
