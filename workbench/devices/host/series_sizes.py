"""Sizes of a Neumann series on the cores, from which its memory is known before it is made."""

from __future__ import annotations

MOST_LEVELS = 3
"""Terms in one pass; each further one makes chunks longer and recomputes more at their ends."""
REACHES_PER_CHUNK = 4
"""Length of a chunk in units of the rows that it recomputes at its ends."""
MOST_CHUNKS = 256
BLOCK = 2048
"""Rows a level advances at a time: 16 KiB of doubles, so that a few levels and bands share a core's own caches."""
ALIGNED = 64
"""Chunks begin at multiples of this many rows, so that stores do not straddle cache lines."""


def stores_bands(directions: int, item: int) -> bool:
    """True if a series of codes of faces reads bands: two of float64 take less time than decoding for each term.
    item: bytes of an entry of a vector."""
    return directions == 2 and item == 8


def scratch_bytes(size: int, far: int, order: int, item: int) -> int:
    """Bytes of the work space of a series, before it is made. far: the largest stride; item: bytes of an entry."""
    from workbench.jit.threads import cores

    if order > MOST_LEVELS:
        rows = cores() * (MOST_LEVELS - 1)
        reach = far * (MOST_LEVELS - 1)
        return item * (2 * size + rows * row_length(size, chunks_of(size, reach), reach))
    reach = order * far
    return item * cores() * (2 * order - 1) * row_length(size, chunks_of(size, reach), 2 * reach)


def chunks_of(size: int, reach: int) -> int:
    """Chunks of a pass that recomputes `reach` rows at each end of a chunk."""
    return max(1, min(MOST_CHUNKS, size // max(1, REACHES_PER_CHUNK * reach, 8 * BLOCK)))


def row_length(size: int, chunks: int, reach: int) -> int:
    """Entries of a chunk with its neighbours, and a margin, in whole cache lines."""
    return -(-(-(-size // chunks) + reach + 5 * ALIGNED) // ALIGNED) * ALIGNED
