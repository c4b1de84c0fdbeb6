"""Row splits for hybrid 3, for systems of which only the sizes are known."""

from __future__ import annotations

import math

from workbench.devices.accelerator.budget import USABLE
from workbench.devices.dry_run import Cut, Sizes
from workbench.devices.pair.decomposition import POINTERS
from workbench.errors import InputError
from workbench.machine.profile import Profile
from workbench.solvers.hybrid.hybrid3 import Hybrid3


def balanced_share(cores: Profile, accelerator: Profile) -> float:
    """The accelerator's share of the non-zeros that balances the matrix-vector products, by memory bandwidths.

    Source: Tiwari, Vadhiyar (2022), section IV-C.1, with bandwidths in place of measured products.
    """
    remote, local = accelerator.bandwidth.value, cores.bandwidth.value
    return remote / (remote + local)


def largest_share(sizes: Sizes, memory: float) -> float:
    """The largest share of the rows, 0 to 1, that fits the usable 90% of an accelerator's memory in bytes.

    Counts the same arrays as `devices.pair.decomposition.bytes_needed`, for rows of equal length.
    """
    item, index = sizes.dtype.itemsize, sizes.index
    all_rows = sizes.entries * (item + index) + sizes.size * (POINTERS * index + Hybrid3.vectors * item)
    # The accelerator also stores the cores' part of one vector.
    received = sizes.size * item
    return min(1.0, max(0.0, (USABLE * memory - received) / (all_rows - received)))


def cut_for_share(sizes: Sizes, share: float, coupled: float | None = None) -> Cut:
    """A split of rows of equal length, with the fraction `share` of them on the accelerator.

    coupled: the fraction of all entries that lie in one side's rows and the other side's columns. The default is that
    of a box stencil on a cube with the same numbers of unknowns and of entries per row. For k = nnz/N = (2 r + 1)^3
    and n = N^(1/3) points per side, a cut between planes separates r (r + 1)/2 pairs of planes, each coupled by about
    (2 r + 1)^2 n^2 entries; exactly, that is 3 (5n - 6)^2 of (5n - 6)^3 for r = 2.

    Raises InputError for a share that leaves a side without a row.
    """
    # Rounded up for the cores, so that a share that just fits the accelerator still fits.
    rows = math.ceil(sizes.size * (1 - share))
    if not 0 < rows < sizes.size:
        raise InputError(f"a share of {share:g} leaves a side without a row of {sizes.size}; choose another share")
    entries = min(round(sizes.entries * rows / sizes.size), sizes.entries - 1)
    side, width = sizes.size ** (1 / 3), (sizes.entries / sizes.size) ** (1 / 3)
    plane_pairs = (width**2 - 1) / 8
    fraction = plane_pairs / (width * side) if coupled is None else coupled
    limit = min(entries - rows, sizes.entries - entries - (sizes.size - rows))
    border = round(max(0.0, width - 1) / 2 * side**2)
    return Cut(rows, entries, max(0, min(round(fraction * sizes.entries), limit)), max(1, border))


def box_cut(n: int, planes: int) -> Cut:
    """The exact split of the 125-point operator on n^3 cells, with `planes` planes on the cores.

    A cut between planes separates three pairs of coupled planes, each with (5n - 6)^2 entries on either side. Raises
    InputError if a side would have fewer than two planes.
    """
    if not 2 <= planes <= n - 2:
        raise InputError(f"a cut of {n} planes must leave at least two on either side, got {planes}")
    entries = (5 * n - 6) ** 2
    # Planes 0 and 1 are coupled to three and four planes, the others on this side to five.
    return Cut(planes * n * n, (5 * planes - 3) * entries, 3 * entries, 2 * n * n)
