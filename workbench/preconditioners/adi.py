"""Alternating directions: solves along the lines of a grid, a preconditioner for each direction."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import numpy as np

from workbench.devices.bound import Request
from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits
from workbench.devices.ops.triangular import line_solve
from workbench.devices.protocol import Device
from workbench.devices.traffic import product_flops
from workbench.errors import InputError
from workbench.operators import Operator, Stencil, check_diagonal
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.preconditioner_sum import PreconditionerSum
from workbench.registry import parameter, register
from workbench.solvers.multi.members import SingleMember

AXES = "xyz"
SMALLEST_PIVOT = 1e-12
"""A pivot below this times the diagonal entry counts as zero."""


@register
@dataclasses.dataclass(frozen=True)
class Adi(Preconditioner):
    """The sum of (H_k + rho D/d)^-1 over the d directions of a grid: exact solves along all lines of each.

    A is the sum of the H_k, tridiagonal on every line; H_k has the couplings of its direction, and of the diagonal D
    what they sum to, with that of missing neighbours where A has it. With solver `mpcg` each direction gives a search
    direction of its own; other solvers take the sum. In two dimensions with rho = 0 the two M_k sum to A, and `mpcg`
    that keeps the last block alone (`mpcg:keep=1`) makes the iterates of all blocks. Lines without a wall need rho > 0.

    Cost: stores 1/E for each direction; one application reads bands, 1/E and vectors twice for each.

    Raises InputError for an A that is no stencil, and where a line is not positive definite.

    Source: Peaceman and Rachford 1955; Bridson and Greif 2006, for several at once.
    """

    name: ClassVar[str] = "adi"
    title: ClassVar[str] = "alternating directions (ADI)"
    also: ClassVar[tuple[str, ...]] = ("lines", "peaceman-rachford")
    needs_stencil: ClassVar[bool] = True

    rho: float = parameter(0.1, "shift, times the diagonal over the number of directions", low=0.0, high=1e6)

    def setup(self, operator: Operator, device: Device) -> PreconditionerSum:
        if not isinstance(operator, Stencil):
            raise InputError(
                "preconditioner adi needs a nearest-neighbour stencil on a grid; use ic or amg",
                changes={"preconditioner": "ic"},
            )
        check_diagonal(operator.main)
        members = [
            SingleMember(
                f"{AXES[part.axis]} lines", Lines(part, operator, device), device, part.low.size, part.low.dtype
            )
            for part in parts_of(operator, self.rho)
        ]
        return PreconditionerSum(members, device, operator.dtype, ())


class Part(NamedTuple):
    """M_k, the part of A along an axis, shifted by rho. diagonal, low: of all unknowns, shape (N,); step, length: of
    its lines."""

    axis: int
    diagonal: np.ndarray
    low: np.ndarray
    step: int
    length: int
    rho: float


def parts_of(operator: Stencil, rho: float = 0.0) -> list[Part]:
    """The parts of A along each axis with more than one unknown, with rho D/d on their diagonals; they sum to
    A + rho D."""
    grid, main = operator.grid, np.real(operator.main).astype(np.float64)
    axes = [axis for axis, side in enumerate(grid[::-1]) if side > 1] or [0]
    coupled, absent = zip(*(_couplings(operator.lower[axis], grid, axis) for axis in axes), strict=True)
    excess, missing = main - sum(coupled), sum(absent)
    # Where no neighbour is missing, or its coupling is unknown, all axes have an equal share.
    inner = missing == 0
    missing = np.where(inner, 1, missing)
    return [
        Part(
            axis,
            along + excess * np.where(inner, 1 / len(axes), gone / missing) + rho * main / len(axes),
            operator.lower[axis],
            operator.strides[axis],
            grid[::-1][axis],
            rho,
        )
        for axis, along, gone in zip(axes, coupled, absent, strict=True)
    ]


def _couplings(low: np.ndarray, grid: tuple[int, ...], axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The sizes of both couplings along an axis in sum, and those that are missing at walls, taken to be as large as
    those on the other side; each of shape (N,)."""
    before = np.moveaxis(np.abs(low).astype(np.float64).reshape(grid), -1 - axis, 0)
    behind, missing = np.zeros_like(before), np.zeros_like(before)
    behind[:-1] = before[1:]
    missing[0] += behind[0]
    missing[-1] += before[-1]
    coupled, absent = (np.moveaxis(each, 0, -1 - axis).ravel() for each in (before + behind, missing))
    return coupled, absent


def pivots_of(part: Part, grid: tuple[int, ...]) -> np.ndarray:
    """E of M_k = (E + L) E^-1 (E + L^H), shape (N,). Raises InputError for one that is not positive."""
    diagonal, low = (np.moveaxis(each.reshape(grid), -1 - part.axis, 0) for each in (part.diagonal, part.low))
    pivots, sizes = np.array(diagonal), np.abs(low).astype(np.float64)
    for k in range(part.length):
        if k:
            # A square might leave the range of numbers, where the quotient does not.
            pivots[k] -= sizes[k] * (sizes[k] / pivots[k - 1])
        if not np.all(pivots[k] > SMALLEST_PIVOT * np.abs(diagonal[k])):
            larger = max(0.1, 2 * part.rho)
            raise InputError(
                f"adi: A along {AXES[part.axis]} is singular or not positive definite on a line, as where it ends at "
                f"no wall with u = 0; use rho above {part.rho:g}, such as adi:{larger:g}, or preconditioner ic",
                changes={"preconditioner.rho": larger},
            )
    return np.moveaxis(pivots, 0, -1 - part.axis).ravel()


class Lines(OperatorTraits):
    """u = M_k^-1 r on a device, line by line."""

    fused_dots = ()

    def __init__(self, part: Part, operator: Stencil, device: Device) -> None:
        self._size, self._dtype = part.low.size, part.low.dtype
        inverse = (1 / pivots_of(part, operator.grid)).astype(np.finfo(self._dtype).dtype)
        fixed = {"low": part.low, "inverse": inverse, "step": part.step, "length": part.length}
        lines = self._size // part.length
        self._bound = device.bind(Request(line_solve, lines, self._dtype, fixed, each=part.length))
        self._dots = device.dots(self._dtype)

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = M_k^-1 r, and dot products of r and u in a pass of their own."""
        self._bound(r, u)
        return self._dots.apply(r, u) if wanted else None

    @property
    def traffic(self) -> int:
        """Bytes: r, u and u again, the band and 1/E twice."""
        real = np.finfo(self._dtype).dtype.itemsize
        return self._size * (6 * self._dtype.itemsize + 2 * real)

    @property
    def flops(self) -> int:
        return 2 * product_flops(self._size, self._dtype) + 2 * self._size
