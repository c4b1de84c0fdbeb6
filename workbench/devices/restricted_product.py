"""A product and the restriction of its result, one after the other, on any device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.devices.operator_protocols import DeviceOperator, DeviceVector, Dots, Restriction

if TYPE_CHECKING:
    from workbench.devices.protocol import Device


class ProductThenRestriction:
    """out = A x, then Z^H out."""

    saved = 0
    pairs = False

    def __init__(self, device: Device, bound: DeviceOperator, z: Restriction) -> None:
        self._device, self._bound, self._z = device, bound, z

    def apply(self, x: DeviceVector, out: DeviceVector, *wanted: str) -> tuple[Dots, DeviceVector]:
        """Returns the dot products of A and Z^H out, shape (d,)."""
        return self._bound.apply(x, out, *wanted), self._z.restrict(out)

    def residual(self, b: DeviceVector, x: DeviceVector, work: DeviceVector) -> DeviceVector:
        """Z^H (b - A x), shape (d,)."""
        self._bound.apply(x, work)
        self._device.subtract_from(b, work)
        return self._z.restrict(work)
