"""Cores and an accelerator at work on one system: lanes, copies, and the decomposition of a matrix."""

from workbench.devices.hybrid.decomposition import decompose
from workbench.devices.hybrid.pair import Pair
from workbench.devices.hybrid.split import Split

__all__ = ["Pair", "Split", "decompose"]
