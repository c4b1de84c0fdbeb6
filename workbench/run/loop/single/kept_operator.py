"""An operator in whose place another may be put, while the programs that apply it stay compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.devices.operator_protocols import DeviceVector, Dots

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator


class KeptOperator:
    """Whatever `inner` is; all but an application is asked of it directly."""

    def __init__(self, inner: DeviceOperator) -> None:
        self.inner = inner

    def apply(self, x: DeviceVector, out: DeviceVector, /, *wanted: str) -> Dots:
        """out = A x, and the dot products that are asked for."""
        return self.inner.apply(x, out, *wanted)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
