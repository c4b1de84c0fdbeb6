"""Solves with triangles of CSR matrices, of uncoupled blocks or of colours, and along the lines of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.compiler.words import conj, wide
from workbench.devices.bound import Bound, Request
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.ops.applied import Applied
from workbench.devices.traffic import product_flops
from workbench.kernel_language.row_kernels import kernel
from workbench.lazy import sparse

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector, KernelCalls
    from workbench.devices.ops.applied import BindingDevice


@kernel(sums=3)
def block_solve(
    row, low, low_columns, low_starts, up, up_columns, up_starts, inverse, scale, size, block, members, bounds, r, u, *,
    listed=False,
):  # fmt: skip
    """u = scale M^-1 r for a block (`row`), with the dot products of r and u; M = (E + L) E^-1 (E + L^H).

    listed: block b has the unknowns members[bounds[b]] to members[bounds[b + 1] - 1], in this order.
    """
    first = bounds[row] if listed else row * block
    end = bounds[row + 1] if listed else min(first + block, size)
    for k in range(first, end):
        i = members[k] if listed else k
        value = scale * r[i]
        for j in range(low_starts[i], low_starts[i + 1]):
            value -= low[j] * u[low_columns[j]]
        u[i] = value * inverse[i]
    ru = wide(0)
    uu = wide(0)
    rr = wide(0)
    for k in range(end - first):
        i = members[end - 1 - k] if listed else end - 1 - k
        value = 0
        for j in range(up_starts[i], up_starts[i + 1]):
            value += up[j] * u[up_columns[j]]
        solved = u[i] - value * inverse[i]
        u[i] = solved
        left = wide(r[i])
        right = wide(solved)
        ru += conj(left) * right
        uu += conj(right) * right
        rr += conj(left) * left
    return ru, uu, rr


@kernel()
def line_solve(row, low, inverse, step, length, r, u):
    """u = M^-1 r on a line (`row`) of `length` unknowns, `step` apart; M = (E + L) E^-1 (E + L^H)."""
    first = row // step * (step * length) + row % step
    last = first + (length - 1) * step
    u[first] = r[first] * inverse[first]
    for k in range(1, length):
        i = first + k * step
        u[i] = (r[i] - low[i] * u[i - step]) * inverse[i]
    for k in range(1, length):
        i = last - k * step
        u[i] -= conj(low[i + step]) * u[i + step] * inverse[i]


class CsrFactor(Applied):
    """u = scale M^-1 r for M = (E + L) E^-1 (E + L^H), with (r, u), (u, u) and (r, r).

    lower: L, strictly lower triangular, without couplings between blocks; inverse: 1/E, shape (N,); block: unknowns of
    a block; scale: M^-1 is taken this many times. L^H is stored as a separate CSR matrix. Blocks run in parallel, on
    processors each on one core. (Sharing the rows of a level was measured on two cores: with 2 levels it gains nothing,
    with 181 it takes ten times as long.)

    parts: blocks of any unknowns, as those of all blocks, one block after the other, ascending within each, shape (N,),
    and the first of each, and N.

    Applied to r and u, which may not be the same vector.
    """

    def __init__(
        self,
        device: BindingDevice,
        lower: sparse.csr_array,
        inverse: DeviceVector,
        block: int,
        scale: float,
        parts: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        upper = sparse.csr_array(lower.conj().T.tocsr())
        size, dtype, self._entries = inverse.size, inverse.dtype, lower.nnz
        fixed = {"low": lower.data, "low_columns": lower.indices, "low_starts": lower.indptr}
        fixed |= {"up": upper.data, "up_columns": upper.indices, "up_starts": upper.indptr}
        fixed |= {"inverse": inverse, "scale": np.finfo(dtype).dtype.type(scale)}
        if parts is None:
            fixed |= {"size": size, "block": block}
            ends = np.minimum(block * np.arange(-(-size // block) + 1), size)
            work = lower.indptr[ends] + ends
        else:
            fixed |= {"members": parts[0], "bounds": parts[1]}
            ends = parts[1]
            work = np.append(0, np.cumsum(np.diff(lower.indptr)[parts[0]] + 1))[ends]
        constants = {"listed": parts is not None}
        super().__init__(device.bind(Request(block_solve, ends.size - 1, dtype, fixed, work=work, constants=constants)))

    @property
    def traffic(self) -> int:
        fixed = self.bound.fixed
        matrices = [fixed[f"{half}{part}"] for half in ("low", "up") for part in ("", "_columns", "_starts")]
        listed = 2 * fixed["members"].nbytes if "members" in fixed else 0
        return sum(array.nbytes for array in matrices) + 7 * fixed["inverse"].nbytes + listed

    @property
    def flops(self) -> int:
        inverse = self.bound.fixed["inverse"]
        return 2 * (product_flops(self._entries, inverse.dtype) + inverse.size)


@kernel()
def colour_solve(row, data, columns, starts, members, inverse, r, u, *, backward=False):
    """Unknowns of a colour of (E + L) u = r, or of (I + E^-1 L^H) u = u where `backward`; they read other colours."""
    i = members[row]
    value = 0 if backward else r[i]
    for j in range(starts[row], starts[row + 1]):
        value -= data[j] * u[columns[j]]
    u[i] = u[i] + value * inverse[row] if backward else value * inverse[row]


class ColourFactor(OperatorTraits):
    """u = M^-1 r for M = (E + L) E^-1 (E + L^H), colour after colour; no two unknowns of a colour are coupled.

    lower: L in the order of colours, strictly lower triangular; inverse: 1/E in that order, shape (N,). members: the
    unknowns in that order, shape (N,), those of colour c from bounds[c] on. A solve with a triangle is a kernel for
    each colour, whose rows run in parallel; the last colour has nothing to do on the way back. No dot products.

    Applied to r and u, which may not be the same vector.
    """

    fused_dots = ()

    def __init__(
        self,
        device: BindingDevice,
        lower: sparse.csr_array,
        inverse: np.ndarray,
        members: np.ndarray,
        bounds: np.ndarray,
    ) -> None:
        dtype, upper = lower.dtype, sparse.csr_array(lower.conj().T.tocsr())
        members = members.astype(lower.indices.dtype)

        def solves(matrix: sparse.csr_array, colour: int, *, backward: bool) -> Bound:
            first, end = bounds[colour], bounds[colour + 1]
            rows = matrix[first:end]
            fixed = {"data": rows.data, "columns": members[rows.indices], "starts": rows.indptr}
            fixed |= {"members": members[first:end], "inverse": inverse[first:end].astype(dtype)}
            constants = {"backward": backward}
            return device.bind(Request(colour_solve, int(end - first), dtype, fixed, rows.indptr, constants))

        colours = range(bounds.size - 1)
        self._forward = [solves(lower, colour, backward=False) for colour in colours]
        self._backward = [solves(upper, colour, backward=True) for colour in reversed(colours[:-1])]
        self._entries, self._size, self._dtype = lower.nnz, int(bounds[-1]), dtype

    def apply(self, r: DeviceVector, u: DeviceVector, *_: str) -> None:
        for bound, vectors in self.calls(r, u):
            bound(*vectors)

    def calls(self, x: DeviceVector, out: DeviceVector) -> KernelCalls:
        return [(bound, (x, out)) for bound in self._forward] + [(bound, (out,)) for bound in self._backward]

    @property
    def traffic(self) -> int:
        return sum(bound.traffic for bound in (*self._forward, *self._backward))

    @property
    def flops(self) -> int:
        return 2 * (product_flops(self._entries, self._dtype) + self._size)
