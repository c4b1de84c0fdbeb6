"""A bound kernel as an operator."""

from __future__ import annotations

from typing import Any

from workbench.devices.bound import Bound
from workbench.devices.operator_protocols import OperatorTraits
from workbench.lines.types import OperatorDot


class Applied(OperatorTraits):
    """Applies a kernel to vectors; the order of the arguments is that of the kernel's text.

    Further arguments, such as the names of dot products, are ignored.
    """

    def __init__(self, bound: Bound) -> None:
        self.bound, self._count = bound, len(bound.free)
        self.fused_dots = tuple(OperatorDot) if bound.form.sums and bound.request.columns == 1 else ()
        self.column_sums = bound.column_sums

    def apply(self, *vectors: Any) -> Any:
        """Returns the dot products, None for an operator without any."""
        return self.bound(*vectors[: self._count])

    @property
    def traffic(self) -> int:
        return self.bound.traffic

    @property
    def flops(self) -> int:
        return self.bound.flops
