"""The 2D test problem of the two-level paper: a heavy fluid over a light one."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.devices.constant import constant
from workbench.devices.host.slab import Slab
from workbench.operators import Size, Stencil
from workbench.problems.base import LARGEST_SQUARE, LinearSystem, Problem
from workbench.problems.diffusion import assemble_two_phases, two_phase_rows
from workbench.registry import Former, parameter, register

SIDES = "y-:dirichlet"


@register
@dataclasses.dataclass(frozen=True)
class TwoLayer(Problem):
    """Two fluid layers on the unit square: density 1 below y = 0.5, 1/density_ratio above, b = 1, x0 random.

    N = n x n. Dirichlet on y = 0 with the wall one cell away from the centres (the paper's (n + 1) x n grid with one
    row eliminated), Neumann elsewhere; A is not scaled by 1/h^2. For odd n the middle row belongs to the upper layer.
    Phase 0 is the lower layer, 1 the upper. Cost: 18 bytes per cell. Raises InputError for invalid parameters.

    Source: Gupta, van Gijzen, Vuik 2013, section 2. The paper does not specify the boundary conditions, b, x0 and the
    scale of A; they were fitted to its Table 2. For the scale: with 2n stripes and Neu1, Neu2 to 1e-6 ||b||, means over
    seeds 0 to 4 are 86, 69 (n = 128) and 127, 103 (n = 256) without 1/h^2, near the printed 76, 61 and 117, 92, but
    202, 163 and 388, 314 with it.
    """

    name: ClassVar[str] = "two-layer"
    title: ClassVar[str] = "Two layers, heavy over light (2D)"
    has_phases: ClassVar[bool] = True
    on_ranks: ClassVar[bool] = True

    n: int = parameter(256, "cells per side", low=4, high=LARGEST_SQUARE)
    density_ratio: float = parameter(
        1e-3, "ε, the density of the lower layer over that of the upper", low=1e-9, high=1e9
    )
    contrast = Former("density_ratio", reciprocal=True)

    @property
    def interface(self) -> float:
        return 1.0

    @property
    def known_size(self) -> Size:
        return Size.of_two_phases((self.n,) * 2)

    def assemble(self, seed: int = 0) -> LinearSystem:
        self.check_memory()
        phase = self._phase(slice(0, self.n))
        return self._system(assemble_two_phases(phase, self._coefficients, SIDES, dirichlet_distance=1.0), phase)

    def rows(self, slab: Slab, seed: int = 0) -> LinearSystem:
        phase = self._phase(slab.planes)
        operator = two_phase_rows(phase, self._coefficients, SIDES, slab, dirichlet_distance=1.0)
        return self._system(operator, phase.reshape(-1)[slab.inner], slab)

    @property
    def _coefficients(self) -> tuple[float, float]:
        return 1.0, self.density_ratio

    def _phase(self, planes: slice) -> np.ndarray:
        upper = 2 * np.arange(planes.start, planes.stop) + 1 >= self.n
        return np.repeat(upper.astype(np.uint8), self.n).reshape(-1, self.n)

    def _system(self, operator: Stencil, phase: np.ndarray, slab: Slab | None = None) -> LinearSystem:
        return LinearSystem(
            operator,
            constant(1, phase.size, np.float64),
            grid=(self.n,) * 2,
            coefficients=self._coefficients,
            phase=phase.reshape(-1),
            random_start=True,
            slab=slab,
        )
