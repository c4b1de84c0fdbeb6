"""Kernels for the scalars of a workspace: set one, and the watch, which stores a row of them per iteration; and one
that fills a vector with a number.

A row is stored only while the run has not stopped. It stops if the squared norm of the stopping criterion is not above
the limit or exceeds the divergence bound, or if a scalar that must be positive is not; NaN stops it too. From then on
passes and scalar lines do nothing, so the vectors remain those of that iteration, however many more are launched before
the host reads.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from workbench.compiler.words import barrier, items, member, members, real
from workbench.devices.kernels.device_kernels import printed
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.parameters import Real, Sums, Vector, kinds_of
from workbench.devices.kernels.prelude import COUNT, LIMIT, MOST, STOP


def set_scalar(scalars: Vector, slot: int, number: Real, imaginary: Real, *, pairs: bool) -> None:
    """scalars[slot] = a number. pairs: scalars are complex."""
    if member() == 0:
        scalars[slot] = complex(number, imaginary) if pairs else number


def fill(out: Vector, number: Real, imaginary: Real, n: int, *, pairs: bool) -> None:
    """out = a number in every entry. pairs: they are complex."""
    for i in items(n, 0, n):
        out[i] = complex(number, imaginary) if pairs else number


def arm(scalars: Vector, limit: Real, most: Real) -> None:
    """A run begins. limit, most: of the squared norm."""
    if member() == 0:
        scalars[STOP] = 0
        scalars[COUNT] = 0
        scalars[LIMIT] = limit
        scalars[MOST] = most


def keep(scalars: Sums, rows: Sums, capacity: int, width: int, norm: int, positive: int, also_positive: int) -> None:
    """Store the scalars as a row behind the others, whose number is rows[0], and stop the run where it ends.

    norm: the slot of the squared norm. positive, also_positive: those of scalars that must be so. A slot below 0: there
    is none.
    """
    active, row = real(scalars[STOP]) == 0, int(real(scalars[COUNT]))
    barrier()
    if active and row < capacity:
        for k in range(member(), width, members()):
            rows[1 + row * width + k] = scalars[k]
        # The number of rows is among these scalars.
        barrier()
        if member() == 0:
            small = norm >= 0 and not real(scalars[norm]) > real(scalars[LIMIT])
            large = norm >= 0 and real(scalars[norm]) > real(scalars[MOST])
            first = positive >= 0 and not real(scalars[positive]) > 0
            second = also_positive >= 0 and not real(scalars[also_positive]) > 0
            scalars[COUNT] = row + 1
            rows[0] = row + 1
            if small or large or first or second:
                scalars[STOP] = 1


@functools.cache
def keep_text(wide: np.dtype) -> KernelText:
    """`keep` for scalars of a dtype; a step of persistent kernels."""
    text = printed(keep, "keep", kinds_of(keep, wide, wide, {}), (wide, wide), {}).text
    return dataclasses.replace(text, on_scalars=True)
