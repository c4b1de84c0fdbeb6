"""The scale of a first level next to the second.

M1 = P^T M^-1 + Q and its kin add a first level, whose size the user may choose, to Q, whose size is that of A^-1. With
M^-1 = I the error of an approximate E^-1 in P^T M^-1 is ||A|| times what Q can repair, and CG stagnates; rounding in
vectors of single precision does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import BoundOperator, Operator
from workbench.preconditioners import ElementWise, Preconditioner
from workbench.run.choices.in_memory import InMemoryPreconditioner

if TYPE_CHECKING:
    from workbench.preconditioners.preconditioner_sum import PreconditionerSum

STEPS = 10
"""Steps of the power method, which give the largest eigenvalue to about a factor of 2."""


def alike(
    preconditioner: Preconditioner,
    first_level: BoundOperator | ElementWise,
    operator: Operator,
    bound: BoundOperator,
    device: Device,
) -> BoundOperator | ElementWise:
    """The first level times the power of 2 that brings the largest eigenvalue of M^-1 A near 1; itself where it follows
    the scale of A. Cost: nothing for the identity, else ten products with A and M."""
    if preconditioner.follows_scale:
        return first_level
    if isinstance(first_level, ElementWise):
        return ElementWise(
            f"{_reciprocal(_largest_of(operator, bound, device))!r}*({first_level.formula})", first_level.factors
        )
    factor = _reciprocal(largest_eigenvalue(bound, first_level, operator, device))
    if factor == 1:
        return first_level
    if isinstance(preconditioner, InMemoryPreconditioner):
        return preconditioner.times(factor).setup(operator, device)
    return cast("PreconditionerSum", first_level).times(factor)


def _reciprocal(value: float) -> float:
    """1/value rounded to a power of 2, with which products are exact; 1 for a value that is none."""
    return 2.0 ** -round(np.log2(value)) if 0 < value < np.inf else 1.0


def _largest_of(operator: Operator, bound: BoundOperator, device: Device) -> float:
    """The largest diagonal entry of A, or its largest eigenvalue where the diagonal is not available."""
    try:
        return device.largest(float(np.abs(operator.diagonal()).max()))
    except InputError:
        return largest_eigenvalue(bound, None, operator, device)


def largest_eigenvalue(bound: BoundOperator, M: BoundOperator | None, operator: Operator, device: Device) -> float:
    """The largest eigenvalue of M^-1 A, from below, by the power method. Waits for the device once a step."""
    size, dtype = operator.shape[0], operator.dtype
    v = device.array(np.random.default_rng(0).random(size) - 0.5, dtype)
    product, image = (device.zeros(size, dtype) for _ in range(2))
    u = product if M is None else image
    scale = device.lines("v = f*u")
    largest, before = 0.0, device.norm(v)
    for _ in range(STEPS):
        bound.apply(v, product)
        if M is not None:
            M.apply(product, image)
        norm = device.norm(u)
        largest = norm / before
        if not 0 < largest < np.inf:
            break
        scale(v=v, u=u, f=1 / norm)
        before = 1.0
    return largest
