"""A bound kernel as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbench.devices.bound import Bound
from workbench.devices.operator_protocols import OperatorTraits
from workbench.lines.types import OperatorDot

if TYPE_CHECKING:
    import numpy as np

    from workbench.devices.bound import Request
    from workbench.devices.operator_protocols import DeviceVector, Dots, KernelCalls


class BindingDevice(Protocol):
    """A device as far as the operators of all devices need it."""

    sums_columns: bool

    def bind(self, request: Request) -> Bound:
        """A kernel of the kernel language."""
        ...

    def zeros(self, size: int, dtype: np.dtype) -> DeviceVector:
        """A new vector of zeros, shape (size,)."""
        ...


class Applied(OperatorTraits):
    """Applies a kernel to vectors; the order of the arguments is that of the kernel's text.

    Further arguments, such as the names of dot products, are ignored.
    """

    def __init__(self, bound: Bound) -> None:
        self.bound, self._count = bound, len(bound.free)
        self.fused_dots = tuple(OperatorDot) if bound.form.sums and bound.request.columns == 1 else ()
        self.column_sums = bound.column_sums

    def apply(self, *vectors: DeviceVector | str) -> Dots:
        """Returns the dot products, None for an operator without any."""
        return self.bound(*vectors[: self._count])

    def calls(self, x: DeviceVector, out: DeviceVector) -> KernelCalls | None:
        return [(self.bound, (x, out))] if self._count == 2 else None

    @property
    def traffic(self) -> int:
        return self.bound.traffic

    @property
    def flops(self) -> int:
        return self.bound.flops


class InTwoPasses(OperatorTraits):
    """u = F^H (F r) by two bound kernels, with (r, u), (u, u) and (r, r) in the second one.

    first: from r to `between`, F r. second: from that to u, with the dot products of r and u. Work space: `between`.
    """

    def __init__(self, first: Bound, second: Bound, between: DeviceVector) -> None:
        self._first, self._second, self._between = first, second, between

    def apply(self, r: DeviceVector, u: DeviceVector, *_: str) -> Dots:
        """u = F^H F r. The two may not be the same vector."""
        self._first(r, self._between)
        return self._second(self._between, u, r)

    def calls(self, x: DeviceVector, out: DeviceVector) -> KernelCalls:
        return [(self._first, (x, self._between)), (self._second, (self._between, out, x))]

    @property
    def traffic(self) -> int:
        return self._first.traffic + self._second.traffic

    @property
    def flops(self) -> int:
        return self._first.flops + self._second.flops
