"""Heterogeneous execution: cores and an accelerator on one system, with copies, a row distribution and cost models."""

from workbench.devices.pair.decomposition import decompose, measure
from workbench.devices.pair.estimate import iteration_seconds
from workbench.devices.pair.pair import Pair
from workbench.devices.pair.rates import Rates, measured_rates, product_seconds, profile_rates
from workbench.devices.pair.split import SUMS, Split

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
