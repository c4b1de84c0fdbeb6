"""Level-set subdomains: the phases of the fluid, or blocks cut along the phases."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.deflation.base import Deflation
from workbench.deflation.blocks import Blocks
from workbench.errors import InputError
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class LevelSet(Deflation):
    """Subdomains that follow the interfaces: with k = 0 one vector for each bubble and one for what surrounds them,
    with k > 0 the parts into which the phases cut each of k blocks per side. Subdomains that hold no unknown are left
    out.

    Needs a problem that says where its phases are. Source: Tang and Vuik 2007, section 3 (level-set deflation).
    """

    name: ClassVar[str] = "levelset"
    title: ClassVar[str] = "level-set subdomains"
    needs_phases: ClassVar[bool] = True

    k: int = parameter(8, "blocks per side, cut by the phases; 0 takes the phases alone", low=0, high=4096)

    def labels(self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None = None) -> np.ndarray:
        if phase is None:
            raise InputError("deflation levelset needs a problem with phases, such as bubbles-3d; use deflation blocks")
        blocks = Blocks(self.k or 1).labels(size, grid).astype(np.int64)
        both = blocks * (int(phase.max()) + 1) + phase
        return np.unique(both, return_inverse=True)[1].astype(np.int32)
