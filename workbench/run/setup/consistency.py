"""Vectors of a singular system: b in the range of A, x0 orthogonal to its null space."""

from __future__ import annotations

import math

import numpy as np

from workbench import devices
from workbench.arrays.scaling import max_abs, scaled_scalar
from workbench.devices.accelerator.user_vector import UserVector
from workbench.devices.constant import entries
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators.null_space import NullSpace
from workbench.problems.right_hand_sides import NOTHING_LEFT
from workbench.run.choices.configuration import Configuration
from workbench.words.numbers import chosen, count, relative

ROUNDING = 500
"""A component below this many units of roundoff of its vector is left where it is."""


def on_host(device: Device) -> Device:
    """A device for vectors in host memory, with the sums over ranks that this one has."""
    return getattr(device, "on_host", None) or devices.device("cpu")


def is_zero(values: DeviceVector, device: Device) -> bool:
    """True if all entries are zero, on all ranks. Cost: a read of a vector that begins with zero."""
    return device.largest(float(max_abs(entries(values[:1])) != 0 or entries(values).any())) == 0


def range_complement(configuration: Configuration, null_space: NullSpace) -> NullSpace:
    """The vectors to which the range of A is orthogonal."""
    return null_space.conjugate() if configuration.solver.complex_symmetric else null_space


def make_consistent(
    b: DeviceVector,
    complement: NullSpace,
    exponent: int = 0,
    device: Device | None = None,
    order: np.ndarray | None = None,
) -> tuple[DeviceVector, float, str]:
    """Project b orthogonally onto the range of A. complement: of the range.

    device: for vectors in host memory, by default the cores. order: the row of A of each unknown, by default its place.

    Returns the projection, the norm of the removed component, and a sentence on b times 2^exponent, empty where nothing
    was removed. Raises InputError for a b of which nothing is left.
    """
    if not complement:
        return b, 0.0, ""
    mean, device = None, device or devices.device("cpu")
    # A vector in the memory of a device stays there.
    if isinstance(b, UserVector) and complement.is_constant:
        total, length = b.sum_and_norm()
        size, mean = b.size, total / b.size
    else:
        b = np.asarray(b)
        length, size = device.norm(b), device.total(b.size)
        if complement.is_constant:
            mean = device.total(b.sum(dtype=np.result_type(b.dtype, np.float64)).item()) / size
    # One pass where there is nothing to remove.
    if mean is not None and abs(mean) * math.sqrt(size) <= rounding(b.dtype) * length:
        return b, 0.0, ""
    if isinstance(b, UserVector) and mean is not None:
        projected, removed = b.less(mean), abs(mean) * math.sqrt(size)
        left = projected.sum_and_norm()[1]
    else:
        projected, removed = complement.complement(b, device)
        left = device.norm(projected)
    if removed <= rounding(b.dtype) * length:
        return b, 0.0, ""
    component = f"the component of b to which the range of A is orthogonal, {relative(removed / length)} of ||b||,"
    if mean is not None:
        component = f"the mean of b, {_in_words(mean, exponent, b.dtype)},"
    elif (parts := complement.components) and (
        found := parts.largest_mean(np.asarray(b), rounding(b.dtype) * length, device, order)
    ):
        component = (
            f"the mean of b in {count(found.above)} of the {count(parts.count)} components of A, "
            f"{relative(removed / length)} of ||b|| and {_in_words(found.value, exponent, b.dtype)} in that of row "
            f"{found.row},"
        )
    if left <= rounding(b.dtype) * length:
        raise InputError(NOTHING_LEFT.format(component))
    return projected, removed, f"A is singular: {component} was removed so that a solution exists"


def _in_words(mean: complex, exponent: int, dtype: np.dtype) -> str:
    """A mean of b times 2^exponent."""
    value = complex(scaled_scalar(mean.real, exponent), scaled_scalar(mean.imag, exponent))
    return f"{value:.6g}" if dtype.kind == "c" else chosen(value.real)


def start_complement(
    x: DeviceVector, null_space: NullSpace, device: Device, *, given: bool
) -> tuple[DeviceVector, bool]:
    """A start orthogonal to the null space of A, and whether more than rounding was removed of a given one."""
    dtype = x.dtype
    x, removed = null_space.complement(x, device)
    return x, given and removed > rounding(dtype) * math.hypot(removed, device.norm(x))


def rounding(dtype: np.dtype) -> float:
    """The component in the null space of a vector, relative to its norm, that counts as rounding."""
    return ROUNDING * float(np.finfo(dtype).eps)
