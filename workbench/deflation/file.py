"""User-supplied deflation vectors from a file."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.data_files import path_of
from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.subspace import Subspace, as_subspace
from workbench.errors import InputError
from workbench.files.columns import read_values
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class VectorsFile(Deflation):
    """Z from a .npy or .mtx file: integer labels 0..d-1 of shape (N,) or (N, 1), or vectors of shape
    (N, d).

    Vectors that are 0 or one constant per column, without overlap, become labels.

    Raises InputError for a file that is missing, is no such array, or does not fit the matrix.
    """

    name: ClassVar[str] = "file"
    title: ClassVar[str] = "your own vectors, from a file"

    path: str = parameter("", "path of the .npy or .mtx file")

    def check(self, sides: tuple[int, ...]) -> None:
        if not self.path:
            raise InputError(
                "deflation file needs the path of a .npy or .mtx file with labels (N,) or vectors (N, d)",
                at="deflation.path",
            )

    def space(self, context: DeflationContext) -> Subspace:
        self.check(context.operator.shape[:1])
        size = context.operator.shape[0]
        stored = read_values(path_of(self.path), size)
        # Matrix Market files have two dimensions.
        labels = stored.dtype.kind in "iu" and stored.shape[1:] == (1,)
        return as_subspace(stored[:, 0] if labels else stored, size)
