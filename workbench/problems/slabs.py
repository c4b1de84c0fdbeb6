"""The 3D slab problem of the two-level paper: a light layer between two heavy ones."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.devices.host.slab import Slab
from workbench.errors import InputError
from workbench.operators import Size
from workbench.problems.base import LARGEST_CUBE, LinearSystem, Problem
from workbench.problems.diffusion import dispersed_phase_rows, dispersed_phase_system
from workbench.registry import Former, parameter, register


@register
@dataclasses.dataclass(frozen=True)
class Slabs(Problem):
    """Three slabs stacked along x in the unit cube, the middle one light; all sides Neumann, so A is singular.

    N = n x n x n. Density 1 where |x - 0.5| < thickness/2 (phase 1), 1/density_ratio elsewhere (phase 0). A is
    scaled by 1/h^2, b is uniform random minus its mean, x0 uniform random.

    Cost: 18 bytes per cell. Raises InputError for invalid parameters and for a slab without cells.
    Source: Gupta, van Gijzen, Vuik 2013, section 2 and Table 3; b and the scale are not printed there and were
    fitted.
    """

    name: ClassVar[str] = "slabs-3d"
    title: ClassVar[str] = "Three slabs, the middle one light (3D)"
    has_phases: ClassVar[bool] = True
    on_ranks: ClassVar[bool] = True

    n: int = parameter(128, "cells per side", low=4, high=LARGEST_CUBE)
    thickness: float = parameter(0.5, "thickness of the middle slab", low=0.0, high=1.0, unit="side lengths")
    density_ratio: float = parameter(1e-3, "ε, the density of the middle slab over that outside", low=1e-9, high=1e9)
    contrast = Former("density_ratio")

    @property
    def interface(self) -> float:
        return 2.0

    @property
    def is_closed(self) -> bool:
        return True

    @property
    def known_size(self) -> Size:
        return Size.of_two_phases((self.n,) * 3)

    @property
    def _middle(self) -> np.ndarray:
        """True for each layer of cells in the middle slab."""
        return np.abs(2 * np.arange(self.n) + 1 - self.n) < self.thickness * self.n

    def check(self) -> None:
        if not self._middle.any():
            raise InputError(
                f"a slab of thickness {self.thickness:g} contains no cell centre of {self.n} cells per side; "
                f"use a thickness above {1 / self.n:g} or more cells"
            )
        if self._middle.all():
            raise InputError(
                f"a slab of thickness {self.thickness:g} fills the cube of {self.n} cells per side; "
                f"use a thickness of at most {1 - 1 / self.n:g}"
            )

    def assemble(self, seed: int = 0) -> LinearSystem:
        self.check_memory()
        self.check()
        phase = np.broadcast_to(self._middle.astype(np.uint8), (self.n,) * 3).copy()
        return dispersed_phase_system(phase, self.density_ratio, "neumann", seed)

    def rows(self, slab: Slab, seed: int = 0) -> LinearSystem:
        self.check()
        phase = np.broadcast_to(self._middle.astype(np.uint8), slab.taller).copy()
        return dispersed_phase_rows(phase, self.density_ratio, "neumann", seed, slab)
