"""Row splits for hybrid 3, for systems of which only the sizes are known."""

from __future__ import annotations

from workbench.devices.accelerator.budget import USABLE
from workbench.devices.dry_run import Cut, Sizes
from workbench.devices.pair.decomposition import POINTERS
from workbench.errors import InputError
from workbench.machines.profile import Profile
from workbench.solvers.hybrid.hybrid3 import Hybrid3


def balanced_share(cores: Profile, accelerator: Profile) -> float:
    """The accelerator's share of the non-zeros that balances the matrix-vector products, by memory bandwidths.

    Source: Tiwari, Vadhiyar 2021, section IV-C.1, with bandwidths in place of measured products.
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
