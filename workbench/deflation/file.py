"""Deflation vectors of the user, from a file."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.given_vectors import as_subspace
from workbench.deflation.subspace import PiecewiseConstant, Subspace
from workbench.devices.host.slab import Slab
from workbench.errors import InputError
from workbench.files.columns import read_values
from workbench.files.data_files import path_of
from workbench.operators.matrix_rows import MatrixRows
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class VectorsFile(Deflation):
    """Z from a .npy or .mtx file: integer labels 0..d-1, shape (N,) or (N, 1), or vectors, shape (N, d).

    Vectors become labels if each entry of a column is 0 or one constant and no two columns overlap.

    Every rank reads the whole file and keeps the labels of its rows; vectors are refused on ranks.

    Raises InputError for a file that is missing, has another kind of array, or does not fit the matrix.
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
        # Arrays in Matrix Market files have two dimensions, so labels are a column there.
        is_column_of_labels = stored.dtype.kind in "iu" and stored.shape[1:] == (1,)
        space = as_subspace(stored[:, 0] if is_column_of_labels else stored, size)
        return space if context.slab is None else _of_rows(space, context, context.slab)


def _of_rows(space: Subspace, context: DeflationContext, slab: Slab) -> Subspace:
    """The part of a subspace that a rank needs. Raises InputError if it has no labels."""
    from workbench.deflation.slab_subspace import RowsSubspace, SlabSubspace

    if not isinstance(space, PiecewiseConstant):
        raise InputError("deflation file runs on ranks with labels (N,), and the file has vectors; run without ranks")
    if isinstance(context.operator, MatrixRows):
        return RowsSubspace(space.labels[slab.rows].copy(), slab, space.sizes, context.device)
    planes = slab.within(1).planes
    with_ghosts = slice(planes.start * slab.plane, planes.stop * slab.plane)
    return SlabSubspace(space.labels[with_ghosts].copy(), slab, space.sizes, None)
