"""Dry run (shape-only execution): the schedule of a solver for a system of any size, without computing."""

from workbench.devices.dry_run.execution import ITERATIONS, Cores, Pair, Split, execute, steady_seconds
from workbench.devices.dry_run.sizes import Cut, Sizes, cut_for_share

__all__ = ["ITERATIONS", "Cores", "Cut", "Pair", "Sizes", "Split", "cut_for_share", "execute", "steady_seconds"]
