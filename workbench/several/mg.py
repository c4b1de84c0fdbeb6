"""Geometric multigrid on a grid of cells whose levels are nested boxes, split by phase."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from workbench.deflation.multilevel import Multilevel
from workbench.deflation.parts import Parts
from workbench.devices.operator_protocols import DeviceVector, Dots
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import BoundOperator, Operator, Stencil, TwoPhaseStencil
from workbench.preconditioners import Preconditioner
from workbench.preconditioners.chebyshev import ChebyshevSeries, largest_row_sum
from workbench.registry import parameter, register

SMOOTHED = 0.25
"""The part of the spectrum of D^-1 A that smoothing treats: from this times its upper bound."""
DIFFUSION_BOUND = 2.0
"""Upper bound of the spectrum of D^-1 A for a diffusion stencil, whose row sums are not negative."""
MOST_UNKNOWNS = 2_000_000_000
"""Cells whose parts can be numbered in 32 bits."""


@register
@dataclasses.dataclass(frozen=True)
class Multigrid(Preconditioner):
    """M^-1 = one symmetric V-cycle of multigrid on the grid of the problem.

    A is applied without a matrix on the finest level. An unknown of the next level is what 2 x 2 x 2 cells (2 x 2 in
    2D) hold of one phase; phases are never merged, since that fails for large contrasts. Prolongation is constant,
    coarse matrices are Galerkin sums, and corrections are multiplied by `scaling`, since Galerkin sums with constant
    prolongation are twice as stiff per level as the Poisson matrix on the coarser grid. Each level smooths by the
    Chebyshev polynomial of `degree` steps for D^-1 A on [0.5, 2] before and after the correction; the last level, of at
    most 300 unknowns, is inverted. Levels below the finest are in single precision. M is symmetric and positive
    definite, on the complement of the constants for a singular A.

    Cost of an application: 2 degree applications of A and as many updates of two vectors, two passes over the parts,
    and two products with the matrices below, which have N/7 rows of about 7 entries. Setup: two passes over the cells,
    and about 60 entries read and written per unknown of the next level. Memory: 4 bytes per cell for the parts, D^-1
    and four work vectors, and about 120 bytes per unknown of the next level.

    Raises InputError for a matrix without a grid.

    Source: Trottenberg, Oosterlee, Schüller 2001, sections 2.8 and 7.7 (cell-centred and Galerkin multigrid); Braess
    1995 (scaled corrections with constant prolongation).
    """

    name: ClassVar[str] = "mg"
    title: ClassVar[str] = "geometric multigrid (V-cycle)"

    degree: int = parameter(2, "Chebyshev steps before and after the correction", low=1, high=8)
    scaling: float = parameter(1.8, "factor of the corrections from the next level", low=0.5, high=2.0)

    def setup(self, operator: Operator, device: Device) -> BoundOperator:
        return self._cycle(operator, None, device)

    def setup_of(self, system: Any, device: Device, workers: Any = None) -> BoundOperator:
        return self._cycle(system.operator, system.phase, device)

    def _cycle(self, operator: Operator, phase: np.ndarray | None, device: Device) -> BoundOperator:
        if not isinstance(operator, Stencil):
            raise InputError(
                "preconditioner mg needs the grid of the problem, and this matrix has none that it knows; use amg"
            )
        if operator.shape[0] > MOST_UNKNOWNS:
            raise InputError(
                f"preconditioner mg numbers at most {MOST_UNKNOWNS:,} cells, and this grid has "
                f"{operator.shape[0]:,}; use neumann:2 with deflation"
            )
        per_side = tuple(-(-cells // 2) for cells in operator.grid)
        phase = np.zeros(operator.shape[0], np.uint8) if phase is None else phase
        numbered = device.numbered_parts(phase, operator.grid, per_side)
        # A box of 8 cells has at most 8 phases, so that its parts are always numbered.
        assert numbered is not None
        labels, boxes = numbered
        entries = operator.box_matrix(device, labels, boxes)
        assert entries is not None
        count = boxes.box.size
        matrix = sparse.csr_array(entries, shape=(count, count)) / self.scaling
        factor = Multilevel(cycle="v", scaling=self.scaling).factor(sparse.csr_array(matrix), Parts.of(boxes))
        coarse = device.coarse_level(factor.form, factor.solve, count, operator.dtype)
        z = device.subdomains(labels, count, operator.dtype, boxes)
        bound = (
            DIFFUSION_BOUND
            if isinstance(operator, TwoPhaseStencil)
            else max(DIFFUSION_BOUND, largest_row_sum(operator))
        )
        return VCycle(operator, bound, self.degree, z, coarse, device)


class VCycle:
    """u = M^-1 r: smoothing, correction by the levels below, smoothing. z: the parts of the next level."""

    def __init__(self, operator: Stencil, bound: float, degree: int, z: Any, coarse: Any, device: Device) -> None:
        size, dtype = operator.shape[0], operator.dtype
        product = operator.bind(device)
        diagonal = operator.diagonal()
        inverse = device.array(np.divide(1, diagonal, out=np.zeros_like(diagonal), where=diagonal != 0), dtype)
        self._smoother = ChebyshevSeries(degree - 1, SMOOTHED * bound, bound, product, inverse, device)
        self._restricted, self._z, self._coarse = device.restricted_product(product, z), z, coarse
        self._work, self._change = device.zeros(size, dtype), device.zeros(size, dtype)
        self._device, self._product = device, product
        (self._step,) = (device.lines("u = u + v"),)
        self._dots = device.dots(dtype)
        self.waits = coarse.waits
        """Whether an application synchronizes with the host."""
        self.notes = tuple(coarse.notes)

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = M^-1 r, and dot products of r and u. r and u must be distinct vectors."""
        self._smoother.apply(r, u)
        self._z.add(u, self._coarse.solve(self._restricted.residual(r, u, self._work)))
        self._product.apply(u, self._work)
        self._device.subtract_from(r, self._work)
        self._smoother.apply(self._work, self._change)
        self._step(u=u, v=self._change)
        return self._dots.apply(r, u) if wanted else None

    @property
    def traffic(self) -> int:
        vector = self._work.nbytes
        return 2 * self._smoother.traffic + 2 * self._product.traffic + 2 * self._z.traffic + 11 * vector

    @property
    def flops(self) -> int:
        return 2 * self._smoother.flops + 2 * self._product.flops + 6 * self._work.size
