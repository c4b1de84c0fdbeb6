"""User-supplied deflation vectors from a file."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.subspace import PiecewiseConstant, Subspace, as_subspace
from workbench.devices.host.slab import Slab
from workbench.errors import InputError
from workbench.files.columns import read_values
from workbench.files.data_files import path_of
from workbench.operators.matrix_rows import MatrixRows
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class VectorsFile(Deflation):
    """Z from a .npy or .mtx file: integer labels 0..d-1 of shape (N,) or (N, 1), or vectors of shape
    (N, d).

    Vectors that are 0 or one constant per column, without overlap, become labels.

    On ranks each reads the whole file and keeps the labels of its rows.

    Raises InputError for a file that is missing, is no such array, or does not fit the matrix.
    """

    name: ClassVar[str] = "file"
    title: ClassVar[str] = "your own vectors, from a file"

    on_ranks: ClassVar[bool] = True

    path: str = parameter("", "path of the .npy or .mtx file")

    def check(self, sides: tuple[int, ...]) -> None:
        if not self.path:
            raise InputError(
                "deflation file needs the path of a .npy or .mtx file with labels (N,) or vectors (N, d)",
                at="deflation.path",
            )

    def space(self, context: DeflationContext) -> Subspace:
        size = context.slab.whole if context.slab else context.operator.shape[0]
        self.check((size,))
        stored = read_values(path_of(self.path), size)
        # Matrix Market files have two dimensions.
        labels = stored.dtype.kind in "iu" and stored.shape[1:] == (1,)
        space = as_subspace(stored[:, 0] if labels else stored, size)
        return space if context.slab is None else _of_rows(space, context, context.slab)


def _of_rows(space: Subspace, context: DeflationContext, slab: Slab) -> Subspace:
    from workbench.deflation.slab_subspace import RowsSubspace, SlabSubspace

    if not isinstance(space, PiecewiseConstant):
        raise InputError("deflation file runs on ranks with labels (N,), and the file has vectors; run without ranks")
    if isinstance(context.operator, MatrixRows):
        return RowsSubspace(space.labels[slab.rows].copy(), slab, space.sizes, context.device)
    near = slab.within(1)
    tall = slice(near.planes.start * slab.plane, near.planes.stop * slab.plane)
    return SlabSubspace(space.labels[tall].copy(), slab, space.sizes, None)
