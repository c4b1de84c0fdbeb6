"""Block products with long rows of CSR matrices: several sums, to which the entries of a row go in turn."""

from __future__ import annotations

from workbench.compiler.words import add_scaled, put, shared, take, threads, unrolled, zeros
from workbench.devices.bound import Request, RowForm, override
from workbench.devices.on_cores import OnCores
from workbench.devices.ops.csr import csr
from workbench.jit.compiled import REORDERED, Kernel, kernel
from workbench.jit.tiles import widths

LONG = 32
"""Mean row length from which that is faster: additions to one sum wait for one another."""
NUMBERS = 32
"""Numbers of a row of the result that are summed at once, in registers."""
MOST_SUMS = 8
"""Sums of a tile, at most: enough to hide the latency of additions."""


@override(csr, "cpu")
def several_sums(_device: object, request: Request) -> OnCores | None:
    """The product with block vectors where rows are long, else None."""
    long = request.columns > 1 and request.entries >= LONG * request.rows
    return SeveralSums(request) if long else None


class SeveralSums(OnCores):
    """out = A x, or out + A x."""

    def frame(self, form: RowForm) -> Kernel:
        covering = widths(form.columns, form.vector)
        tiles = ((first, width, max(1, min(MOST_SUMS, NUMBERS // width))) for first, width in covering)
        places = (self.request.kernel.parameters.index(name) for name in ("data", "indices", "starts", "x", "y"))
        return _product.of(tiles=tuple(tiles), places=tuple(places), added=form.arguments["y"].read)


@kernel(*REORDERED)
def _product(taken, arguments, begins, *, tiles, places, added):
    """places: of data, indices, starts, x and y among the arguments. tiles: with the number of sums of each."""
    for thread in threads(taken):
        for chunk in shared(taken, thread, begins.size - 1):
            data, indices, starts = arguments[places[0]], arguments[places[1]], arguments[places[2]]
            x, y = arguments[places[3]], arguments[places[4]]
            for row in range(begins[chunk], begins[chunk + 1]):
                first, end = starts[row], starts[row + 1]
                # A row without entries adds nothing.
                if not added or first < end:
                    for column, width, count in tiles:
                        start = row, column, first, end
                        _tile(*start, data, indices, x, y, width=width, count=count, added=added)


def _tile(row, column, first, end, data, indices, x, y, *, width, count, added):
    """A tile of a row of the product. count: its sums."""
    sums = (take(y, row, column, width) if added else zeros(y, width),) + (zeros(y, width),) * (count - 1)
    even = first + (end - first) // count * count
    for j in range(first, even, count):
        for k in unrolled(count):
            sums[k] = add_scaled(sums[k], data[j + k], take(x, indices[j + k], column, width))
    for j in range(even, end):
        sums[0] = add_scaled(sums[0], data[j], take(x, indices[j], column, width))
    for k in unrolled(count - 1):
        sums[0] = add_scaled(sums[0], 1, sums[k + 1])
    put(y, row, column, sums[0])
