"""Z^T (b - A x) for a stencil and piecewise constant Z, in one pass that writes no vector.

The residual of a chunk is kept in the cache, summed over the runs of equal labels, and forgotten.
"""

from __future__ import annotations

import numpy as np

from workbench.devices.cpu.subdomain_text import GROUPS, Labelling, bounds, over_groups
from workbench.devices.cpu.subdomains import Subdomains
from workbench.host.stencil_entries import Entries, distances
from workbench.jit import generated
from workbench.jit.compiled import Kernel
from workbench.jit.threads import chunks_of, cores, launch, prepare


class RestrictedResidual:
    """Z^T (b - A x). entries, arrays: as in the product; dtype: of b and x. Work space: a chunk for each core."""

    def __init__(
        self, entries: Entries, arrays: tuple[np.ndarray, ...], dtype: np.dtype, subdomains: Subdomains
    ) -> None:
        self._subdomains = subdomains
        size = subdomains.size
        room = np.zeros((cores(), -(-size // chunks_of(size)) + 1 + subdomains.labelling.align), dtype)
        self._fixed = (*arrays, room, *subdomains.stored)
        self._kernel: Kernel = generated.kernel(_text(entries, subdomains.labelling))
        vector = np.empty(0, dtype)
        prepare(self._kernel, vector, vector, *self._fixed)

    def apply(self, b: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Shape (d,), in double precision; the array is reused by the next call."""
        launch(x.size, self._kernel, b, x, *self._fixed)
        return self._subdomains.coarse


def _text(entries: Entries, labelling: Labelling) -> str:
    """Python source: a loop without branches for the rows that have all neighbours, and one for each end."""
    text = [f"def kernel(taken, b, x, {entries.arguments}, room, {labelling.arguments}, {GROUPS}):", "    n = x.size"]
    text += [f"    {line}" for line in (*distances(entries.bands), *entries.head())]
    return "\n".join([*text, *(f"    {line}" for line in over_groups(_chunk(entries, labelling)))]) + "\n"


def _chunk(entries: Entries, labelling: Labelling) -> list[str]:
    views = entries.views("low_end", "high_end")
    views |= {"s_b": "b[low_end:high_end]", "s_y": "y[low_end - low:high_end - low]"}
    text = [*bounds(labelling.align), "low_end = max(low, first)", "high_end = max(low_end, min(high, last))"]
    text += ["y = room[thread]", *(f"{name} = {view}" for name, view in views.items())]
    text += [
        "for i in range(high_end - low_end):",
        *(f"    {line}" for line in entries.row()),
        "    s_y[i] = s_b[i] - v",
    ]
    for start, stop in (("low", "min(high, first)"), ("max(low, last)", "high")):
        text += [f"for i in range({start}, {stop}):", *(f"    {line}" for line in entries.edge_row())]
        text += ["    y[i - low] = b[i] - v"]
    return [*text, *labelling.restrict("y", "low")]
