"""Heterogeneous execution: cores and an accelerator on one system, with copies, a row distribution and cost models."""

from workbench.devices.pair.decomposition import decompose, measure
from workbench.devices.pair.pair import Pair, PairWorkspace, WithCores, pair_of
from workbench.devices.pair.rates import Rates, measured_rates, product_seconds, profile_rates
from workbench.devices.pair.split import SUMS, RowBlocks, Split, SplitWorkspace, split_of

__all__ = [
    "SUMS",
    "Pair",
    "PairWorkspace",
    "Rates",
    "RowBlocks",
    "Split",
    "SplitWorkspace",
    "WithCores",
    "decompose",
    "measure",
    "measured_rates",
    "pair_of",
    "product_seconds",
    "profile_rates",
    "split_of",
]
