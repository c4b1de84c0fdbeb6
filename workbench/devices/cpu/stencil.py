"""Matrix-vector products with Hermitian stencils on the cores, as kernels generated for 1, 2 or 3 directions.

The matrix is a diagonal and lower bands at distances d0 < d1 < ..; row i of A x is main[i] x[i] + sum_k low_k[i] x[i -
d_k] + conj(low_k[i + d_k]) x[i + d_k]. Indices beyond the vector occur only in the first and the last d_max rows, which
have separate loops, so the long loop has no branch; it runs over slices, so that it vectorizes. At all other walls of
the grid the bands are zero. With codes of faces the same entries come from a byte per row (see `face_codes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.cpu.block_products import BlockStencilProduct
from workbench.devices.cpu.stencil_residual import RestrictedResidual
from workbench.devices.cpu.subdomain_text import GROUPS, Labelling, bounds, over_groups
from workbench.devices.cpu.subdomains import Subdomains
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.traffic import product_flops
from workbench.host import face_coding, stencil_entries
from workbench.host.face_codes import FaceCodes
from workbench.host.stencil_entries import Bands, Entries, Faces, distances
from workbench.jit import generated
from workbench.jit.compiled import Kernel
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.lines.types import OperatorDot, accumulator


class _Product(OperatorTraits):
    """out = A x with (x, out), (out, out) and (x, x) in the same pass.

    entries: the text of a row. arrays: those that it names, the last being the strides. size: N. dtype: of the vectors.
    """

    def __init__(self, entries: Entries, arrays: tuple[np.ndarray, ...], size: int, dtype: np.dtype) -> None:
        self._entries, self._arrays, self._size, self._dtype = entries, arrays, size, dtype
        self._kernel = generated.kernel(product_text(entries, dtype))
        self._dots = np.zeros(3, accumulator(dtype))
        partial = np.zeros((chunks_of(size), 3), self._dots.dtype)
        self._fixed = (*arrays, partial, self._dots)
        vector = np.empty(0, dtype)
        prepare(self._kernel, vector, vector, *self._fixed)

    def apply(self, x: np.ndarray, out: np.ndarray, *_: str) -> np.ndarray:
        launch(x.size, self._kernel, x, out, *self._fixed)
        return self._dots

    def restricted(self, subdomains: Subdomains) -> RestrictedStencilProduct:
        """The product that also computes Z^T out, from each chunk of out while that is in the cache."""
        text = product_text(self._entries, self._dtype, subdomains.labelling)
        residual = RestrictedResidual(self._entries, self._arrays, self._dtype, subdomains)
        return RestrictedStencilProduct(generated.kernel(text), self._fixed, self._dtype, subdomains, residual)


class StencilProduct(_Product):
    """The product with a diagonal and lower bands."""

    def __init__(self, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]) -> None:
        # A constant diagonal, as in Poisson problems, is stored as one number, which saves reading a vector.
        self._constant = bool(np.all(main == main[0]))
        self._lower = lower
        arrays = (main[:1].copy() if self._constant else main, *lower, np.array(strides, dtype=np.int64))
        super().__init__(Bands(len(lower), main.dtype, self._constant), arrays, main.size, main.dtype)

    def block(self, columns: int) -> BlockStencilProduct:
        """The product with N x columns block vectors."""
        return BlockStencilProduct(self._size, self._arrays[0], self._lower, self._arrays[-1], columns)

    @property
    def traffic(self) -> int:
        return (len(self._lower) + 2 + (not self._constant)) * self._size * self._dtype.itemsize

    @property
    def flops(self) -> int:
        return product_flops((2 * len(self._lower) + 1) * self._size, self._dtype)


class FaceProduct(_Product):
    """The product with codes of faces, a byte per row. dtype: of the vectors; arithmetic is in double precision."""

    def __init__(self, faces: FaceCodes, dtype: np.dtype) -> None:
        self._faces = faces
        super().__init__(Faces(faces.directions, faces.walled), face_arrays(faces), faces.size, np.dtype(dtype))

    def block(self, columns: int) -> BlockStencilProduct:
        """The product with N x columns block vectors, by bands, which cost little for several columns."""
        lower = tuple(face_coding.band(self._faces, direction) for direction in range(self._faces.directions))
        main = face_coding.diagonal(self._faces)
        return BlockStencilProduct(self._size, main, lower, self._arrays[-1], columns)

    @property
    def traffic(self) -> int:
        return (1 + 2 * self._dtype.itemsize) * self._size

    @property
    def flops(self) -> int:
        return self._faces.flops


def face_arrays(faces: FaceCodes) -> tuple[np.ndarray, ...]:
    """The arrays that the text of `Faces` names."""
    return faces.codes, faces.values, faces.walls, np.array(faces.strides, np.int64)


class RestrictedStencilProduct:
    """out = A x and Z^T out in one pass, for piecewise constant Z: the restriction reads no further memory."""

    def __init__(
        self,
        kernel: Kernel,
        fixed: tuple[Any, ...],
        dtype: np.dtype,
        subdomains: Subdomains,
        residual: RestrictedResidual,
    ) -> None:
        self._kernel, self._fixed, self._subdomains = kernel, (*fixed, *subdomains.stored), subdomains
        self._residual, self._dots, self._itemsize = residual, fixed[-1], dtype.itemsize
        vector = np.empty(0, dtype)
        prepare(kernel, vector, vector, *self._fixed)

    def apply(self, x: np.ndarray, out: np.ndarray, *_: str) -> tuple[np.ndarray, np.ndarray]:
        """The three dot products of the product, and Z^T out; the arrays are reused by the next call."""
        launch(x.size, self._kernel, x, out, *self._fixed)
        return self._dots, self._subdomains.coarse

    def residual(self, b: np.ndarray, x: np.ndarray, work: np.ndarray) -> np.ndarray:
        """Z^T (b - A x); `work` is not used."""
        return self._residual.apply(b, x)

    @property
    def saved(self) -> int:
        """Bytes saved compared with a separate restriction."""
        return self._subdomains.size * self._itemsize


def product_text(entries: Entries, dtype: np.dtype, labelling: Labelling | None = None) -> str:
    """Python source of the kernel of the product: a branch-free loop for the middle, and one for each end.

    labelling: restrict the result in the same pass; chunks then come in groups, each with separate sums.
    """
    more = f", {labelling.arguments}, {GROUPS}" if labelling else ""
    text = [f"def kernel(taken, x, y, {entries.arguments}, partial, dots{more}):", "    n = x.size"]
    text += [f"    {line}" for line in (*distances(entries.bands), *entries.head())]
    body = _chunk(entries, np.dtype(dtype), labelling.align if labelling else 1)
    if labelling:
        text += [f"    {line}" for line in over_groups([*body, *labelling.restrict("y", "0")])]
    else:
        text += ["    chunks = partial.shape[0]", *(f"    {line}" for line in generated.over("chunks", body))]
    for k in range(len(OperatorDot)):
        text += [
            f"    total = {_zero(dtype)}",
            "    for chunk in range(chunks):",
            f"        total += partial[chunk, {k}]",
        ]
        text += [f"    dots[{k}] = total"]
    return "\n".join(text) + "\n"


def _chunk(entries: Entries, dtype: np.dtype, align: int) -> list[str]:
    """Lines for the product on one chunk, with its part of the dot products."""
    text = [*bounds(align), *(f"{name} = {_zero(dtype)}" for name in OperatorDot)]
    text += ["a = max(low, first)", "b = max(a, min(high, last))"]
    text += [f"{name} = {view}" for name, view in {**entries.views("a", "b"), "s_y": "y[a:b]"}.items()]
    text += ["for i in range(b - a):"]
    inside = [*entries.row(), f"v = np.{dtype.name}(v)", "s_y[i] = v", *stencil_entries.sums("s_x[i]", dtype)]
    text += [f"    {line}" for line in inside]
    edge = [*entries.edge_row(), f"v = np.{dtype.name}(v)", "y[i] = v", *stencil_entries.sums("x[i]", dtype)]
    for start, stop in (("low", "min(high, first)"), ("max(low, last)", "high")):
        text += [f"for i in range({start}, {stop}):", *(f"    {line}" for line in edge)]
    return [*text, *(f"partial[chunk, {k}] = {name}" for k, name in enumerate(OperatorDot))]


def _zero(dtype: np.dtype) -> str:
    return "0j" if accumulator(dtype).kind == "c" else "0.0"
