"""Tiles of boxes for groups of an accelerator: their sizes, and where they lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.devices.kernels.box_sweeps import EDGE, Tile
from workbench.devices.kernels.prelude import Layout

LOCAL_MEMORY = 46 * 1024
"""Bytes of local memory that a tile may take: what any CUDA device gives a group, less the arguments."""
HALOS = {4: 8, 8: 4}
"""Halo of the tiles in local memory by the bytes of a number: the same bytes for both precisions."""
GROUP = 512
"""Work-items of a group of the persistent kernel: half of those that a group may have, for twice the registers."""
GROUPS_PER_MULTIPROCESSOR = (1, 2, 4)
EXCHANGE = 2e-6
"""Seconds of a barrier between all groups and the exchange of borders: two trips to the second cache and back."""
SWEEP = 4e-8
"""Seconds of a sweep of a small tile: local memory, and a barrier in the group."""
POINT = {4: 6e-11, 8: 1.2e-10}
"""Seconds per point of a sweep on one multiprocessor, by the bytes of a number: a dozen instructions on 128 lanes."""


def tile_in_local_memory(layout: Layout, itemsize: int) -> Tile:
    """The tile of the kernel with a launch for several sweeps."""
    return Tile(EDGE, HALOS[itemsize], layout.group, unrolled=layout.language == "cuda")


def persistent_tile(
    shapes: Sequence[tuple[int, int]], itemsize: int, multiprocessors: int, held: int, sweeps: int
) -> Tile | None:
    """The tile of the persistent kernel with the least time by a model, `held` groups per multiprocessor; else None.

    Small tiles and deep halos exchange rarely, and compute points of the halo several times.
    """
    best: tuple[float, Tile] | None = None
    for halo in (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24):
        if halo > max(1, sweeps):
            break
        for edge in range(4, 96):
            tile = Tile(edge, halo, GROUP)
            if tile.local_bytes(itemsize) > LOCAL_MEMORY or count(shapes, edge) > held * multiprocessors:
                continue
            seconds = EXCHANGE / halo + SWEEP + held * tile.region**2 * POINT[itemsize]
            if best is None or seconds < best[0]:
                best = seconds, tile
    return best[1] if best else None


def count(shapes: Sequence[tuple[int, int]], edge: int) -> int:
    """Number of tiles of all boxes."""
    return sum(-(-rows // edge) * -(-width // edge) for rows, width in shapes)


def tiles(shapes: Sequence[tuple[int, int]], edge: int) -> np.ndarray:
    """Box, first row and first column of every tile, shape (tiles, 3)."""
    corners = [
        (box, top, left)
        for box, (rows, width) in enumerate(shapes)
        for top in range(0, rows, edge)
        for left in range(0, width, edge)
    ]
    return np.array(corners, np.int64)
