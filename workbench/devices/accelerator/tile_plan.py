"""Tiles of boxes for groups of an accelerator: their sizes, and where they lie."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from workbench.devices.kernels import series
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
SERIES_TILES = {
    (1, 8): (64, 22, 2, 1),
    (1, 4): (32, 22, 2, 3),
    (2, 8): (32, 24, 4, 2),
    (2, 4): (64, 32, 3, 1),
    (3, 8): (32, 18, 2, 1),
    (3, 4): (64, 18, 2, 1),
}
"""Columns, lines, rows of a work-item and groups on a multiprocessor by the order and the bytes of a number, in 3D."""
SERIES_GROUP, SERIES_RESIDENT = 256, {1: 6, 2: 6, 3: 4}
"""Work-items of a group, and groups on a multiprocessor by the order, in 2D, where a work-item has one column."""
SMALL_TILE, SMALL_HEIGHT = 32, 24
"""Columns of a tile, and lines with those around it, where the group of a tile in 3D would be too large."""
MULTIPROCESSORS = 64
"""Multiprocessors of a device that does not report its own."""


def tile_in_local_memory(layout: Layout, itemsize: int) -> Tile:
    """The tile of the kernel with a launch for several sweeps."""
    return Tile(EDGE, HALOS[itemsize], layout.group, unrolled=layout.language == "cuda")


def persistent_tile(
    shapes: Sequence[tuple[int, int]], itemsize: int, multiprocessors: int, resident: int, sweeps: int
) -> Tile | None:
    """The tile of the persistent kernel with the least time by a model; None where no tile fits.

    resident: groups on a multiprocessor at once.
    Small tiles and deep halos exchange rarely, and compute points of the halo several times.
    """
    best: tuple[float, Tile] | None = None
    for halo in (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24):
        if halo > max(1, sweeps):
            break
        for edge in range(4, 96):
            tile = Tile(edge, halo, GROUP)
            if tile.local_bytes(itemsize) > LOCAL_MEMORY or count(shapes, edge) > resident * multiprocessors:
                continue
            seconds = EXCHANGE / halo + SWEEP + resident * tile.region**2 * POINT[itemsize]
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


def series_tile(layout: Layout, directions: int, order: int, itemsize: int) -> series.Tile | None:
    """The tile of a Neumann series in one sweep: the fastest on an H200, smaller where a group has fewer work-items;
    None where it has too few."""
    margin = order if directions > 2 else 0
    if not margin:
        width = min(SERIES_GROUP, layout.group)
        return series.Tile(width - 2 * order, 1, 1, SERIES_RESIDENT[order], order, margin)
    columns, lines, rows, resident = SERIES_TILES[order, itemsize]
    tile = series.Tile(columns, lines, rows, resident, order, margin)
    if layout.language == "cuda" or tile.group <= layout.group:
        return tile
    tall = layout.group // (SMALL_TILE + 2 * order)
    rows = SMALL_HEIGHT // max(1, tall)
    return series.Tile(SMALL_TILE, tall * rows - 2 * order, rows, 1, order, margin) if tall and rows else None


@functools.cache
def series_planes(tile: series.Tile, tiles: int, planes: int, multiprocessors: int) -> int:
    """Planes of a group, for which all groups take least time: each makes 2*order planes more, in waves that fill the
    chip."""
    together = (multiprocessors or MULTIPROCESSORS) * tile.resident

    def cost(of_a_group: int) -> int:
        return -(-tiles * -(-planes // of_a_group) // together) * (of_a_group + 2 * tile.halo)

    return min((-(-planes // parts) for parts in range(1, planes + 1)), key=cost)
