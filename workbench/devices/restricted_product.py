"""A product and the restriction of its result, one after the other, on any device."""

from __future__ import annotations

from workbench.devices.operator_protocols import DeviceOperator, DeviceVector, Dots, Restriction


class ProductThenRestriction:
    """out = A x, then Z^H out."""

    saved = 0

    def __init__(self, bound: DeviceOperator, z: Restriction) -> None:
        self._bound, self._z = bound, z

    def apply(self, x: DeviceVector, out: DeviceVector, *wanted: str) -> tuple[Dots, DeviceVector]:
        """Returns the dot products of A and Z^H out, shape (d,)."""
        return self._bound.apply(x, out, *wanted), self._z.restrict(out)
