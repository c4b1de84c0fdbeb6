"""The colour map of what has a sign, which Matplotlib does not have."""

from __future__ import annotations

from matplotlib.colors import LinearSegmentedColormap

STOPS = (
    "#001261", "#022b71", "#034481", "#0c5e92", "#2f7ca6", "#609dbc", "#92bdd2", "#c5dbe5",
    "#ece5e1", "#e9cbb9", "#dcab8f", "#cf8e68", "#c37243", "#b3531f", "#932e06", "#741506",
    "#590008",
)  # fmt: skip
"""At even distances, from the published table of 256 colours."""
VIK = LinearSegmentedColormap.from_list("vik", STOPS)
"""Blue below zero, light at zero, red above it: what the page draws on a light ground. Source: Crameri (2018)."""
