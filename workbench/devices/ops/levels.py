"""A level of a coarse system: passes over its matrix, and transfers to the next level and back (see `cycles`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from workbench.compiler.words import conj, narrow, wide
from workbench.devices.bound import Bound, Request
from workbench.devices.coarse import Level, Levels
from workbench.kernel_language.row_kernels import kernel

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector, Dots

Bind = Callable[[Request], Bound]
"""Binds a kernel to a device."""


@kernel(sums=2)
def level_pass(
    row, data, indices, starts, one, two, source, other, target, *, based=False, smoothed=False, onto=False
):  # fmt: skip
    """target = E source, with (source, other) and (source, target).

    based: other - E source. smoothed: one source - two E source; onto: added to the target.
    """
    product = 0
    for j in range(starts[row], starts[row + 1]):
        product += data[j] * source[indices[j]]
    value = one * source[row] - two * product if smoothed else (other[row] - product if based else product)
    target[row] = target[row] + value if onto else value
    return conj(wide(source[row])) * wide(other[row]), conj(wide(source[row])) * wide(value)


@kernel()
def level_restriction(row, starts, weights, r, below, *, modes=1):
    """below = W^H r; the rows of a part are consecutive."""
    part, mode = row // modes, row % modes
    value = 0
    for i in range(starts[part], starts[part + 1]):
        value += conj(weights[i * modes + mode]) * r[i]
    below[row] = value


@kernel()
def level_correction(row, parents, weights, below, x, *, modes=1):
    """x = x + W below."""
    value = x[row]
    for mode in range(modes):
        value += weights[row * modes + mode] * below[parents[row] * modes + mode]
    x[row] = value


@kernel()
def level_solution(row, order, scale, x, solved):
    """solved = D^-1/2 x, in the order of the unknowns."""
    solved[order[row]] = wide(scale[row]) * wide(x[row])


@kernel()
def widened(row, r, right):
    """right = r, in the precision of sums."""
    right[row] = wide(r[row])


@kernel(dots=True)
def narrowed(row, solved, r, u):
    """u = solved, in the precision of vectors, with the dot products of r and u."""
    value = narrow(solved[row])
    u[row] = value
    return r[row], value


class LevelOperations(ABC):
    """One level on a device; all vectors have one entry per row, except those of the next level.

    Vectors are in the precision of the level, sums in double precision.
    """

    def __init__(self, bind: Bind, level: Level, scaling: float) -> None:
        dtype, real, modes = level.data.dtype, np.finfo(level.data.dtype).dtype, level.modes
        one, two = (real.type(value) for value in level.smoother)
        fixed = {"data": level.data, "indices": level.indices, "starts": level.indptr, "one": one, "two": two}

        def over_matrix(**form: bool) -> Bound:
            request = Request(level_pass, level.size, dtype, fixed, work=level.indptr, constants=form, summed=not form)
            return bind(request)

        self._energy = over_matrix()
        # The matrix as the device has it.
        fixed |= self._energy.fixed
        self._residual = over_matrix(based=True)
        self._from_zero, self._smooth = (over_matrix(smoothed=True, onto=onto) for onto in (False, True))
        up = {"starts": level.starts, "weights": level.weights}
        parents, form = level.starts.size - 1, {"modes": modes}
        work = level.starts if modes == 1 else np.append(0, np.cumsum(np.repeat(np.diff(level.starts), modes)))
        self._restrict = bind(Request(level_restriction, parents * modes, dtype, up, work, form))
        self._correct = bind(correction(level, scaling))
        self._sums: Dots = None

    def smooth_from_zero(self, b: DeviceVector, x: DeviceVector) -> None:
        """x = a b - b' E b."""
        self._from_zero(b, x)

    def residual(self, b: DeviceVector, x: DeviceVector, r: DeviceVector) -> None:
        """r = b - E x."""
        self._residual(x, b, r)

    def restrict(self, r: DeviceVector, below: DeviceVector) -> None:
        """below = W^H r."""
        self._restrict(r, below)

    def correct(self, x: DeviceVector, below: DeviceVector) -> None:
        """x = x + scaling W below."""
        self._correct(below, x)

    def smooth(self, r: DeviceVector, x: DeviceVector) -> None:
        """x = x + a r - b' E r."""
        self._smooth(r, x)

    def energy(self, p: DeviceVector, r: DeviceVector, s: DeviceVector) -> None:
        """s = E p, and (p, r) and (p, s) for the next step."""
        self._sums = self._energy(p, r, s)

    @abstractmethod
    def first_step(self, p: DeviceVector, s: DeviceVector, b: DeviceVector, x: DeviceVector, r: DeviceVector) -> None:
        """alpha = (p, r)/(p, s), x = alpha p, r = b - alpha s."""

    @abstractmethod
    def orthogonalize(self, z: DeviceVector, s: DeviceVector, p: DeviceVector) -> None:
        """p = z - (s, z)/(p, s) p."""

    @abstractmethod
    def last_step(self, p: DeviceVector, x: DeviceVector) -> None:
        """alpha = (p, r)/(p, s), x = x + alpha p."""


def correction(level: Level, scaling: float) -> Request:
    """The kernel that adds `scaling` W times a vector of the next level, its argument, to one of a level."""
    weights = (scaling * level.weights).astype(level.weights.dtype)
    fixed = {"parents": level.parents, "weights": weights}
    return Request(level_correction, level.size, level.data.dtype, fixed, constants={"modes": level.modes})


def solution(bind: Bind, form: Levels, x: DeviceVector, solved: DeviceVector) -> Bound:
    """A call without arguments: `solved` from the solution x of the first level."""
    fixed = {"order": form.order, "scale": form.scale, "x": x, "solved": solved}
    return bind(Request(level_solution, form.order.size, form.bottom.dtype, fixed))
