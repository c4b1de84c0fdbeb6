"""Block products with long rows of CSR matrices: several sums, to which the entries of a row go in turn."""

from __future__ import annotations

from typing import Any

from workbench.devices.bound import Request, override
from workbench.devices.on_cores import OnCores
from workbench.devices.ops.csr import csr
from workbench.jit import generated
from workbench.jit.tiles import widths
from workbench.kernel_language import Typed

LONG = 32
"""Mean row length from which that is faster: additions to one sum wait for one another."""
NUMBERS = 32
"""Numbers of a row of the result that are summed at once, in registers."""
MOST_SUMS = 8
"""Sums of a tile, at most: enough to hide the latency of additions."""


@override(csr, "cpu")
def several_sums(_device: Any, request: Request) -> OnCores | None:
    """The product with block vectors where rows are long, else None."""
    long = request.columns > 1 and request.entries >= LONG * request.rows
    return SeveralSums(request) if long else None


class SeveralSums(OnCores):
    """out = A x, or out + A x."""

    def text(self, of: Typed) -> str:
        added = "y" in of.arguments and of.arguments["y"].read
        body = ["for row in range(begins_[chunk], begins_[chunk + 1]):"]
        body += ["    first, end = np.int64(at(starts, row)), np.int64(at(starts, row + 1))"]
        if added:
            body += ["    if first == end:", "        continue"]
        for column, width in widths(of.columns, of.vector):
            sums = max(1, min(MOST_SUMS, NUMBERS // width))
            body += [f"    t{k}_{column} = zeros(y, {width})" for k in range(sums)]
            body += [f"    t0_{column} = take(y, row, {column}, {width})"] if added else []
            body += [f"    even = first + (end - first)//{sums}*{sums}", f"    for j in range(first, even, {sums}):"]
            for k in range(sums):
                entry = f"at(data, j + {k}), take(x, np.int64(at(indices, j + {k})), {column}, {width})"
                body += [f"        t{k}_{column} = add_scaled(t{k}_{column}, {entry})"]
            body += ["    for j in range(even, end):"]
            entry = f"at(data, j), take(x, np.int64(at(indices, j)), {column}, {width})"
            body += [f"        t0_{column} = add_scaled(t0_{column}, {entry})"]
            body += [f"    t0_{column} = add_scaled(t0_{column}, 1, t{k}_{column})" for k in range(1, sums)]
            body += [f"    put(y, row, {column}, t0_{column})"]
        text = [f"def kernel(taken, {', '.join(of.arguments)}, begins_):"]
        text += [f"    {line}" for line in generated.over("begins_.size - 1", body)]
        return "\n".join(text) + "\n"
