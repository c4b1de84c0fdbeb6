"""Stencils and codes of faces on GPUs: a work-item computes several rows in the direction of the farthest band."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator.bound import OnAccelerator
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.face_series import SWEPT_BYTES
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.bound import Bound, Request, override
from workbench.devices.kernels import faces as face_texts
from workbench.devices.kernels import products
from workbench.devices.kernels.parameters import Vector
from workbench.devices.ops.faces import face_product
from workbench.devices.ops.stencil import stencil

if TYPE_CHECKING:
    from workbench.devices.accelerator import runtime


@override(stencil, "accelerator")
def stencil_columns(device: Launcher, request: Request) -> Columns | None:
    """The product with two or three bands on a GPU; None for another form, block vectors, or another device.

    With a single band, rows in its direction are not consecutive across work-items.
    """
    bands, constant = request.numbered["lower"], request.constants.get("constant")
    if device.layout.chunked or bands == 1 or constant is None or not request.summed or request.columns > 1:
        return None
    return Columns(device, request, bands, constant=constant)


@override(face_product, "accelerator")
def face_columns(device: Launcher, request: Request) -> FaceColumns | None:
    """The product with codes of faces in two or three dimensions on a GPU; None in other cases."""
    if device.layout.chunked or request.constants["directions"] == 1 or not request.summed:
        return None
    return FaceColumns(device, request)


class FaceColumns(OnAccelerator):
    """A x for codes of faces in two or three dimensions, in the precision of vectors."""

    def __init__(self, device: Launcher, request: Request) -> None:
        super().__init__(device, request)
        directions, layout = request.constants["directions"], device.layout
        strides = [*(int(request.fixed[f"steps_{k}"]) for k in range(directions)), request.rows]
        grid = tuple(end // stride for stride, end in itertools.pairwise(strides))[::-1]
        # Several cells take many registers, of which a persistent kernel gives all its steps the most.
        large = request.rows * request.dtype.itemsize >= SWEPT_BYTES
        form, wide = (directions, layout.group), face_texts.wide(grid[-1]) if large else 1
        cuda, walled = layout.language == "cuda", request.constants["walled"]
        text = face_texts.product_columns(*form, wide, request.dtype.itemsize, walled=walled, cuda=cuda)
        self._kernel = device.kernel(text, text.name, request.dtype, face_texts.index(request.rows))
        self._operator = face_arguments(self)
        rows, self._groups = face_texts.run(grid, layout.group, max(1, layout.groups // 2), wide)
        self._sums = self._dots(self._groups)
        self._rows = np.int64(rows), np.int64(request.rows)

    def __call__(self, *free: runtime.Vector) -> Dots | None:
        assert self._sums is not None
        run, rows = self._rows
        arguments = (*free, *self._operator, run, self._sums.partial, rows)
        self._device.launch(self._kernel, self._groups, *arguments, spread=True)
        return self._sums


def face_arguments(bound: Bound) -> list[runtime.Vector | np.generic]:
    """The arguments of an operator on codes of faces, numbers in the precision of vectors."""
    request = bound.request
    fixed = request.numbers(request.dtype) | {"codes": bound.fixed["codes"]}
    return [fixed[name] for name in face_texts.operator_names(request.constants["directions"])]


class Columns(OnAccelerator):
    """A x for two or three bands."""

    def __init__(self, device: Launcher, request: Request, bands: int, *, constant: bool) -> None:
        super().__init__(device, request)
        of = {"lower": (Vector,) * bands, "steps": (int,) * bands}
        constants = {"bands": bands, "constant": constant}
        self._kernel = device.function(products.stencil_columns, request.dtype, annotations=of, **constants)
        self._sums = self._dots(device.layout.groups_for(request.rows))
        fixed = request.numbers(device.wide(request.dtype)) | self.fixed
        diagonal = fixed["diagonal"]
        if isinstance(diagonal, np.generic):
            # A constant one is an array of one number.
            diagonal = device.array(np.array([diagonal]), request.dtype)
        lower, steps = (tuple(fixed[f"{name}_{k}"] for k in range(bands)) for name in ("lower", "steps"))
        self._matrix = diagonal, lower, steps

    def __call__(self, *free: runtime.Vector) -> Dots | None:
        assert self._sums is not None
        self._kernel.over(self.request.rows, *free, *self._matrix, self._sums.partial)
        return self._sums
