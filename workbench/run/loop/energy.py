"""Dot products of vectors on a device whose squares may under- or overflow, though the vectors do not."""

from __future__ import annotations

import math

import numpy as np

from workbench.arrays.scaling import in_range, is_extreme, scaled, scaled_scalar
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device


def near_one(vector: DeviceVector, device: Device) -> tuple[DeviceVector, int]:
    """The vector times 2^-e with a norm near 1, a new one, and e, where its dot products may under- or overflow; else
    the vector itself, and 0. Cost: a pass; a copy to the host and back where it is scaled."""
    norm = device.norm(vector)
    if not math.isfinite(norm) or not is_extreme(norm, vector.dtype):
        return vector, 0
    exponent = math.frexp(norm)[1]
    return device.array(scaled(device.to_host(vector), -exponent), vector.dtype), exponent


def energy_norm(a: DeviceVector, b: DeviceVector, device: Device) -> float:
    """sqrt(|(a, b)|), of which rounding may have changed the sign. Cost: a pass; three where it under- or overflows."""
    product = abs(np.real(device.vdot(a, b)))
    if in_range(product):
        return math.sqrt(product)
    (a, of_a), (b, of_b) = near_one(a, device), near_one(b, device)
    half, odd = divmod(of_a + of_b, 2)
    return scaled_scalar(math.sqrt(abs(np.real(device.vdot(a, b))) * 2**odd), half)
