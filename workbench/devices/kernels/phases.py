"""Kernels of the phase of each cell."""

from __future__ import annotations

from workbench.devices.kernels.source import read

CODES = read("phase_codes")
"""The codes of faces between two phases, without wall terms."""

BITS = read("phase_bits")
"""Whether each cell is inside, in the order of `numpy.packbits`."""

GATHER, SCATTER = read("phase_gather"), read("phase_scatter")
"""values[k] = phase[places[k]], and phase[places[k]] = values[k]."""
