"""Products by tiles, in CSR and coordinates: a group multiplies the entries of some rows, then adds those of each row.

Entries are read in storage order for any lengths of rows, and products are kept in local memory.
Source: Greathouse, Daga 2014, CSR-stream and, for rows longer than a tile, CSR-vector.
"""

from __future__ import annotations

from workbench.devices.kernels.products import result_arguments, row_result
from workbench.devices.kernels.source import dots, fill

PER_ITEM = 4
"""Entries of a tile for every work-item of the group."""


def csr_tiles(*, based: bool = False, scaled: bool = False, summed: bool = True) -> str:
    """y = A x, or based: y = (base - A x)*scale, for a CSR matrix whose tile t is the rows bounds[t] to bounds[t + 1].

    A tile has at most PER_ITEM*GROUP entries, or is one row.
    """
    return _tiles("csr_tiles", based=based, scaled=scaled, summed=summed)


def coo_tiles(*, summed: bool = True) -> str:
    """y = A x for coordinates sorted by row, whose tile t is the rows firsts[t] to firsts[t + 1] with the entries
    bounds[t] to bounds[t + 1]; a work-item finds its row among them by bisection. Tiles as those of `csr_tiles`."""
    return _tiles("coo_tiles", based=False, scaled=False, summed=summed)


def _tiles(name: str, *, based: bool, scaled: bool, summed: bool) -> str:
    return fill(
        name,
        per_item=PER_ITEM,
        products=fill("tile_products", per_item=PER_ITEM),
        result_arguments=result_arguments(based=based, scaled=scaled, summed=summed),
        result=row_result(based=based, scaled=scaled, summed=summed),
        **dots("left[row]", wanted=summed),
    )
