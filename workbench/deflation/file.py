"""User-supplied deflation vectors from a file."""

from __future__ import annotations

import dataclasses
import os
from typing import ClassVar

from workbench.data_files import path_of
from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.subspace import Subspace, as_subspace
from workbench.errors import InputError, printable_path
from workbench.files import opened, read_array
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class VectorsFile(Deflation):
    """Z from a NumPy file (.npy): integer labels 0..d-1 of shape (N,), or vectors of shape (N, d).

    Vectors that are 0 or one constant per column, without overlap, become labels.

    Raises InputError for a file that is missing, is no such array, or does not fit the matrix.
    """

    name: ClassVar[str] = "file"
    title: ClassVar[str] = "your own vectors, from a file"

    path: str = parameter("", "path of the .npy file")

    def space(self, context: DeflationContext) -> Subspace:
        if not self.path:
            raise InputError("deflation file needs the path of a .npy file with labels (N,) or vectors (N, d)")
        path = path_of(self.path)
        with opened(path, "file with deflation vectors") as stream:
            try:
                stored = read_array(stream, os.fstat(stream.fileno()).st_size)
            except (ValueError, OSError):
                raise InputError(
                    f"{printable_path(path)} is not a NumPy array file; write one with numpy.save"
                ) from None
        return as_subspace(stored, context.operator.shape[0])
