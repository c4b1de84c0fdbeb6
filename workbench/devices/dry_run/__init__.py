"""Devices that compute nothing: a schedule that runs on them tells what it would do, for systems of any size."""

from workbench.devices.dry_run.device import Pair, Side, Split
from workbench.devices.dry_run.products import Cut, Sizes
from workbench.devices.dry_run.runtime import Nothing

__all__ = ["Cut", "Nothing", "Pair", "Side", "Sizes", "Split"]
