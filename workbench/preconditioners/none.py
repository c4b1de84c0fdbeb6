"""Identity preconditioner."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.devices.protocol import Device
from workbench.operators import Operator, Size
from workbench.preconditioners.base import ElementWise, Preconditioner
from workbench.registry import register


@register
@dataclasses.dataclass(frozen=True)
class NoPreconditioner(Preconditioner):
    """M = I, without storage or work."""

    name: ClassVar[str] = "none"
    title: ClassVar[str] = "none"
    also: ClassVar[tuple[str, ...]] = ("identity", "no")
    on_ranks: ClassVar[bool] = True
    element_wise: ClassVar[bool] = True
    follows_scale: ClassVar[bool] = False

    def needed_bytes(self, size: Size, item: int, *, on_host: bool) -> int:
        return 0

    def setup(self, operator: Operator, device: Device) -> ElementWise:
        return ElementWise("v", {})
