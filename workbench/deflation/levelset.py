"""Level-set subdomains: the phases of the fluid, or blocks split by phase."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from workbench.deflation.base import Deflation, DeflationContext, combine_sides
from workbench.deflation.blocks import Blocks
from workbench.deflation.subspace import PiecewiseConstant, Subspace
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.slab import Slab, boxes_along
from workbench.errors import InputError
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class LevelSet(Deflation):
    """Subdomains that follow the interfaces between phases; empty subdomains are omitted.

    k = 0: one vector for each bubble and one for the surrounding fluid. k > 0: the intersections of the phases with k
    blocks per side.

    Raises InputError for a problem without phases.

    Source: Tang and Vuik 2007, section 3 (level-set deflation).
    """

    name: ClassVar[str] = "levelset"
    title: ClassVar[str] = "level-set subdomains"
    needs_phases: ClassVar[bool] = True
    on_ranks: ClassVar[bool] = True

    k: int = parameter(
        8,
        "k x k blocks (k x k x k in 3D), split at phase boundaries; 0 = one per bubble, and the fluid",
        low=0,
        high=4096,
    )

    def estimated_count(self, size: int, grid: tuple[int, ...] | None, interface: float) -> int | None:
        """The boxes, and those that interfaces split."""
        if grid is None or not self.k:
            return None
        return self.k ** len(grid) + round(interface * self.k ** (len(grid) - 1))

    def estimated_box(self, grid: tuple[int, ...]) -> tuple[float, ...]:
        return tuple(cells / (self.k or 1) for cells in grid)

    def check(self, sides: tuple[int, ...]) -> None:
        Blocks(self.k or 1).check(sides)

    def space(self, context: DeflationContext) -> Subspace | None:
        grid, phase, device = context.grid, context.phase, context.device
        if context.slab is None and phase is not None and grid is not None and self.k:
            self.check(grid)
            numbered = device.numbered_parts(phase, grid, (self.k,) * len(grid), context.earlier)
            if numbered:
                return PiecewiseConstant(*numbered, None if isinstance(numbered[0], np.ndarray) else device)
        return super().space(context)

    def slab_space(self, context: DeflationContext, slab: Slab) -> Subspace:
        from workbench.deflation.slab_subspace import PartsOfSlab, SlabSubspace, numbered

        assert context.phase is not None
        self.check(slab.grid)
        device: Any = context.device
        per_side = (self.k or 1,) * len(slab.grid)
        along = boxes_along(slab, per_side[0])
        mine = along and device.numbered_parts(context.phase, slab.own, (along.stop - along.start, *per_side[1:]))
        if all(device.gathered(bool(mine))) and mine:
            labels, parts = mine
            boxes, first = device.joined_boxes(parts, slab.grid, per_side)
            return PartsOfSlab(device.near_labels(labels, first), slab, boxes, parts, first, device)
        kinds = int(device.largest(int(context.phase.max(initial=0)))) + 1
        in_boxes = combine_sides(Blocks(self.k or 1).sides(slab.grid), slice(slab.first, slab.last))
        own, known = numbered(in_boxes.astype(np.int64) * kinds + context.phase, device)
        sizes = device.total(np.bincount(own, minlength=known.size))
        boxes = Boxes(slab.grid, per_side, (known // kinds).astype(np.int32), (known % kinds).astype(np.int32), sizes)
        return SlabSubspace(device.with_ghosts(own, slab), slab, sizes, boxes if self.k else None)

    def labels(self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None = None) -> np.ndarray:
        return self.labels_and_boxes(size, grid, phase)[0]

    def labels_and_boxes(
        self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None
    ) -> tuple[np.ndarray, Boxes | None]:
        if phase is None:
            raise InputError("deflation levelset needs a problem with phases, such as bubbles-3d; use deflation blocks")
        phase = np.asarray(phase)
        blocks = Blocks(self.k or 1)
        if grid is not None and self.k:
            self.check(grid)
            per_side = (self.k,) * len(grid)
            from workbench.devices.host.box_parts import numbered_parts

            numbered = numbered_parts(phase, grid, per_side)
            if numbered:
                return numbered
        both = blocks.labels(size, grid).astype(np.int64) * (int(phase.max()) + 1) + phase
        return np.unique(both, return_inverse=True)[1].astype(np.int32), None
