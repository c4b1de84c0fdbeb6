"""Dry run (shape-only execution): devices that allocate and compute nothing, to record the schedule of a solver for a
system of any size."""

from workbench.devices.dry_run.device import Pair, Side, Split
from workbench.devices.dry_run.products import Cut, Sizes
from workbench.devices.dry_run.runtime import Nothing

__all__ = ["Cut", "Nothing", "Pair", "Side", "Sizes", "Split"]
