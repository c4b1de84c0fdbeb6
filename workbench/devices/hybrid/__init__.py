"""Cores and an accelerator at work on one system: lanes, copies, decomposition, and what it all takes."""

from workbench.devices.hybrid.decomposition import decompose, measure
from workbench.devices.hybrid.estimate import iteration_seconds
from workbench.devices.hybrid.pair import Pair
from workbench.devices.hybrid.rates import Rates, measured_rates, product_seconds, profile_rates
from workbench.devices.hybrid.split import SUMS, Split

__all__ = [
    "SUMS",
    "Pair",
    "Rates",
    "Split",
    "decompose",
    "iteration_seconds",
    "measure",
    "measured_rates",
    "product_seconds",
    "profile_rates",
]
