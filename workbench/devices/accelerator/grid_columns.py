"""Stencils and codes of faces on GPUs: a work-item computes several rows in the direction of the farthest band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.devices.accelerator.bound import OnAccelerator
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.bound import Request, override
from workbench.devices.kernels import faces as face_texts
from workbench.devices.kernels import products
from workbench.devices.ops.faces import face_product
from workbench.devices.ops.stencil import stencil


@override(stencil, "accelerator")
def stencil_columns(device: Launcher, request: Request) -> Columns | None:
    """The product with two or three bands on a GPU; None for another form, block vectors, or another device.

    With a single band, rows in its direction are not consecutive across work-items.
    """
    bands, constant = request.numbered["lower"], request.constants.get("constant")
    if device.layout.chunked or bands == 1 or constant is None or not request.summed or request.columns > 1:
        return None
    names = ["diagonal", *(f"lower_{k}" for k in range(bands)), *(f"steps_{k}" for k in range(bands))]
    return Columns(device, request, products.stencil_columns(bands, constant=constant), names)


@override(face_product, "accelerator")
def face_columns(device: Launcher, request: Request) -> Columns | None:
    """The same for codes of faces."""
    directions, walled = request.constants["directions"], request.constants["walled"]
    if device.layout.chunked or directions == 1 or not request.summed:
        return None
    text = face_texts.product_columns(directions, walled=walled)
    return Columns(device, request, text, face_texts.operator_names(directions))


class Columns(OnAccelerator):
    """A kernel of x, out, the fixed arguments of these names, and partial sums."""

    def __init__(self, device: Launcher, request: Request, text: str, names: Sequence[str]) -> None:
        super().__init__(device, request)
        self._kernel = device.kernel(text, request.kernel.name, request.dtype)
        self._sums = self._dots(device.layout.groups_for(request.rows))
        fixed = request.numbers(device.wide(request.dtype)) | self.fixed
        if isinstance(diagonal := fixed.get("diagonal"), np.generic):
            # A constant one is an array of one number.
            fixed["diagonal"] = device.array(np.array([diagonal]), request.dtype)
        self._more = [fixed[name] for name in names]

    def __call__(self, *free: Any) -> Dots | None:
        assert self._sums is not None
        self._device.launch_over(self._kernel, self.request.rows, *free, *self._more, self._sums.partial)
        return self._sums
