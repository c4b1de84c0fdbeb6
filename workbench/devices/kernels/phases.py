"""Kernels of the phase of each cell."""

from __future__ import annotations

from workbench.compiler.words import items
from workbench.devices.kernels.parameters import Bytes, LongPlaces, Places


def codes(phase: Places, nx: int, ny: int, directions: int, made: Bytes, n: int) -> None:
    """The codes of faces between two phases, without wall terms."""
    for i in items(n, 0, n):
        line = i // nx
        layer = line // ny
        code = _face(phase, i, 1, i == line * nx)
        if directions > 1:
            code |= _face(phase, i, nx, line == layer * ny) << 2
        if directions > 2:
            code |= _face(phase, i, nx * ny, layer == 0) << 4
        made[i] = code


def _face(phase, i, step, edge):
    """The number of cells inside among a cell and its neighbour before it; 3 at the edge of the grid."""
    found = 3
    if not edge:
        found = (phase[i] > 0) + (phase[i - step] > 0)
    return found


def bits(phase: Places, cells: int, made: Bytes, n: int) -> None:
    """Bits that say of each cell whether it is inside, in the order of `numpy.packbits`."""
    for byte in items(n, 0, n):
        found = 0
        for k in range(8):
            found *= 2
            if 8 * byte + k < cells and phase[8 * byte + k] > 0:
                found += 1
        made[byte] = found


def gather(phase: Places, places: LongPlaces, values: Places, n: int) -> None:
    """values[k] = phase[places[k]]."""
    for k in items(n, 0, n):
        values[k] = phase[places[k]]


def scatter(places: LongPlaces, values: Places, phase: Places, n: int) -> None:
    """phase[places[k]] = values[k]."""
    for k in items(n, 0, n):
        phase[places[k]] = values[k]
