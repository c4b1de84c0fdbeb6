"""Solvers of all boxes of a Schwarz method at once, exact ones and sweeps of Jacobi's method.

Vectors are local: the unknowns of each box, one box after the other, so that those in several boxes are repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from workbench.devices.host.blas import side_by_side
from workbench.devices.operator_protocols import DeviceVector, OperatorTraits, SubdomainSolves
from workbench.devices.protocol import Device
from workbench.preconditioners.schwarz.subdomain_factors import Factor, Separable, Subdomain, factor_of, joined

if TYPE_CHECKING:
    from workbench.operators.matrix import Matrix


class SubdomainSolver(Protocol):
    """The solver of all boxes, with the traits of operators."""

    @property
    def waits(self) -> bool: ...

    @property
    def varies(self) -> bool: ...

    @property
    def notes(self) -> Sequence[str]: ...

    @property
    def traffic(self) -> int: ...

    @property
    def flops(self) -> int: ...

    def apply(self, r: DeviceVector, z: DeviceVector, /) -> object:
        """z = the solutions for r."""
        ...


class ExactSolver(OperatorTraits):
    """A direct solve in every box.

    Boxes whose matrix is a Kronecker sum, as with constant coefficients, are solved by the eigenvectors of its factors
    (Lynch, Rice and Thomas 1964): 4 n^3 multiply-adds for n^2 unknowns. Other boxes have a sparse LDL^T factorization
    in minimum-degree order. Boxes with equal matrices share a factor.

    An accelerator solves if all boxes are Kronecker sums. Otherwise the host solves in all boxes, since sparse factors
    stay there: each application then copies both local vectors and waits.

    precision: dtype of the factors and solves; the residual of each box is scaled by its largest entry before.
    Raises InputError for a box that is not positive definite.
    """

    def __init__(self, boxes: Sequence[Subdomain], device: Device, dtype: np.dtype, precision: np.dtype) -> None:
        distinct: dict[bytes, Factor] = {}
        factors = [factor_of(box, precision, distinct) for box in boxes]
        sums = [factor.diagonalized for factor in factors if isinstance(factor, Separable)]
        on_device = device.fast_diagonalization(sums, dtype, precision) if len(sums) == len(boxes) else None
        self._solves: SubdomainSolves = on_device or HostSolves(factors, device, dtype, precision)
        self.waits, self.traffic, self.flops = self._solves.waits, self._solves.traffic, self._solves.flops
        methods = [
            (len(sums), "by eigenvectors of a Kronecker sum"),
            (len(boxes) - len(sums), "by sparse factorization"),
        ]
        counts = " and ".join(f"{count} {method}" for count, method in methods if count)
        place = ", on the host" if self.waits else ""
        self.notes = (f"schwarz solves {counts}, with {len(distinct)} different factors{place}",)

    def apply(self, r: DeviceVector, z: DeviceVector) -> None:
        """z = the solutions for r."""
        self._solves.apply(r, z)


class HostSolves(OperatorTraits):
    """Solves with a factor for every box, on the cores. An accelerator copies both local vectors."""

    def __init__(self, factors: Sequence[Factor], device: Device, dtype: np.dtype, precision: np.dtype) -> None:
        self._device, self._factors = device, factors
        self._ends = np.cumsum([0, *(factor.size for factor in factors)])
        self._precision, self._scaled = precision, precision != dtype
        self._result = np.zeros(self._ends[-1], dtype)
        self.waits = device.name != "cpu"
        self.flops = sum(factor.flops for factor in factors)

    def apply(self, r: DeviceVector, z: DeviceVector) -> None:
        """z = the solutions for r."""
        right = self._device.to_host(r)
        target = z if isinstance(z, np.ndarray) else self._result

        def solve(box: int) -> None:
            part = slice(self._ends[box], self._ends[box + 1])
            target[part] = self._solve(self._factors[box], right[part])

        side_by_side(solve, range(len(self._factors)))
        if target is not z:
            self._device.assign(z, self._device.array(target, target.dtype))

    def _solve(self, factor: Factor, r: np.ndarray) -> np.ndarray:
        """The solution in a box; in another precision for r over its largest entry, so that nothing underflows."""
        if not self._scaled:
            return factor.solve(r)
        largest = np.abs(r).max()
        if not largest:
            return np.zeros_like(r)
        return largest * factor.solve((r / largest).astype(self._precision)).astype(r.dtype)

    @property
    def traffic(self) -> int:
        """Bytes of the factors, each as often as it is used, and of both local vectors."""
        return sum(factor.nbytes for factor in self._factors) + 2 * self._result.nbytes


def sweep_solver(boxes: Sequence[Subdomain], device: Device, sweeps: int, precision: np.dtype) -> SubdomainSolver:
    """The solver by sweeps of Jacobi's method in every box, from zero. sweeps: the number in an application.

    Boxes in 2D of a real 5-point operator have a kernel for all sweeps; other boxes take a pass over memory for each
    product with A. Source: Chen 2022, section 1.4 and Algorithm 2 (5 M N sweeps).
    """
    dtype = boxes[0].matrix.dtype
    shapes = [(box.grid[0], box.grid[1]) for box in boxes if box.grid and len(box.grid) == 2]
    if dtype.kind == "c" or len(shapes) < len(boxes):
        return SweepSolver(joined(boxes), device, sweeps)
    bands = [_bands(box) for box in boxes]
    if all(_is_constant(band) for of_box in bands for band in of_box):
        main, lower_x, lower_y = (np.array([_constant(of_box[k]) for of_box in bands]) for k in range(3))
    else:
        main, lower_x, lower_y = (np.concatenate([of_box[k] for of_box in bands]) for k in range(3))
    precision_name = "mixed" if precision != dtype else str(dtype)
    return device.box_sweeps(shapes, main, lower_x, lower_y, sweeps, precision_name)


def _bands(box: Subdomain) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The diagonal and the lower bands along x and y of a box in 2D, each of shape (n,)."""
    assert box.grid is not None
    size, width = box.matrix.shape[0], box.grid[1]
    west, south = (np.zeros(size, box.matrix.dtype) for _ in range(2))
    # A box one point wide has no neighbours along x.
    if width > 1:
        west[1:] = box.matrix.diagonal(-1)
    if width < size:
        south[width:] = box.matrix.diagonal(-width)
    return box.matrix.diagonal(), west, south


def _is_constant(band: np.ndarray) -> bool:
    """True if all entries other than zero are equal."""
    used = band[band != 0]
    return not used.size or bool((used == used[0]).all())


def _constant(band: np.ndarray) -> float:
    """The value of a constant band; 0 for a band of zeros."""
    return float(band[np.flatnonzero(band)[0]]) if band.any() else 0.0


class SweepSolver(OperatorTraits):
    """Sweeps of Jacobi's method from zero, z = z + D^-1 (r - A z), as paper lines. matrix: of all boxes."""

    def __init__(self, matrix: Matrix, device: Device, sweeps: int) -> None:
        size, dtype = matrix.shape[0], matrix.dtype
        self._bound, self._sweeps = matrix.bind(device), sweeps
        vectors = {
            "r": device.zeros(size, dtype),
            "z": device.zeros(size, dtype),
            "e": device.array(1 / matrix.diagonal(), dtype),
        }
        self._space = device.workspace(size, dtype, vectors=vectors, operators={"A": self._bound})
        first = "z = e*r"
        sweep = "s = A(z)\nz = z + e*(r - s)"
        self._first, self._sweep = self._space.lines(first, sweep)

    def apply(self, r: DeviceVector, z: DeviceVector) -> None:
        """z = the result of all sweeps. The first one is z = D^-1 r."""
        self._space.rebind({"r": r, "z": z})
        self._first.bind()
        self._sweep.bind()
        self._first()
        for _ in range(self._sweeps - 1):
            self._sweep()

    @property
    def traffic(self) -> int:
        return self._first.bytes + (self._sweeps - 1) * self._sweep.bytes

    @property
    def flops(self) -> int:
        return self._first.flops + (self._sweeps - 1) * self._sweep.flops
