"""How hybrid 3 would share out the rows of a system of which only the sizes are known."""

from __future__ import annotations

import math

from workbench.devices.accelerator.budget import USABLE
from workbench.devices.dry_run import Cut, Sizes
from workbench.devices.pair.decomposition import POINTERS
from workbench.errors import InputError
from workbench.machine.profile import Profile
from workbench.solvers.hybrid.hybrid3 import Hybrid3


def share_of(cores: Profile, accelerator: Profile) -> float:
    """The accelerator's part of the non-zeros with which products take equally long, as they go by the bandwidths.

    Source: Tiwari, Vadhiyar (2022), section IV-C.1, with bandwidths for measured products.
    """
    there, here = accelerator.bandwidth.value, cores.bandwidth.value
    return there / (there + here)


def fitting_share(sizes: Sizes, memory: float) -> float:
    """The largest part of the rows that fits so many bytes, of which drivers leave 90% to use; 0 to 1.

    Counts what `devices.hybrid.decomposition.bytes_needed` counts, for rows of equal length.
    """
    item, index = sizes.dtype.itemsize, sizes.index
    whole = sizes.entries * (item + index) + sizes.size * (POINTERS * index + Hybrid3.vectors * item)
    # The cores' part of one vector lies there too.
    arrived = sizes.size * item
    return min(1.0, max(0.0, (USABLE * memory - arrived) / (whole - arrived)))


def cut_by(sizes: Sizes, share: float, coupled: float | None = None) -> Cut:
    """Rows of equal length, a part `share` of them for the accelerator.

    coupled: the part of all entries in one side's rows with columns of the other's. By default that of a box on a cube
    with as many unknowns and as many entries a row: for k = nnz/N = (2 r + 1)^3 and n = N^(1/3) points a side, a cut
    between planes parts r (r + 1)/2 pairs of planes with about (2 r + 1)^2 n^2 entries each; in whole numbers that is
    3 (5n - 6)^2 of (5n - 6)^3 for r = 2. Raises InputError for a share that leaves a side without a row.
    """
    # Rounded in favour of the cores, so that a share that just fits still does.
    rows = math.ceil(sizes.size * (1 - share))
    if not 0 < rows < sizes.size:
        raise InputError(f"a share of {share:g} leaves a side without a row of {sizes.size}; take another")
    entries = min(round(sizes.entries * rows / sizes.size), sizes.entries - 1)
    side, across = sizes.size ** (1 / 3), (sizes.entries / sizes.size) ** (1 / 3)
    pairs = (across**2 - 1) / 8
    parted = pairs / (across * side) if coupled is None else coupled
    most = min(entries - rows, sizes.entries - entries - (sizes.size - rows))
    border = round(max(0.0, across - 1) / 2 * side**2)
    return Cut(rows, entries, max(0, min(round(parted * sizes.entries), most)), max(1, border))


def box_cut(n: int, planes: int) -> Cut:
    """The 125-point operator on n^3 cells with so many planes for the cores: every number as in the matrix.

    A cut between planes parts three pairs of them, each with (5n - 6)^2 entries on either side. Raises InputError where
    a side would have fewer than two planes.
    """
    if not 2 <= planes <= n - 2:
        raise InputError(f"a cut of {n} planes must leave at least two on either side, got {planes}")
    entries = (5 * n - 6) ** 2
    # Planes 0 and 1 reach three and four planes, the others on this side five.
    return Cut(planes * n * n, (5 * planes - 3) * entries, 3 * entries, 2 * n * n)
