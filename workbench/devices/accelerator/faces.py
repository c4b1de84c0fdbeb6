"""Operators from codes of faces on an accelerator."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.accelerator.block_products import BlockStencilProduct
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import faces as texts
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.series import TermByTerm
from workbench.devices.traffic import term_flops
from workbench.host import face_coding
from workbench.host.face_codes import FaceCodes


def arguments(device: Launcher, faces: FaceCodes, dtype: np.dtype) -> list[Any]:
    """Codes, coefficients and wall terms as numbers of a dtype, and distances."""
    numbers = [device.number(value, dtype) for value in (*faces.values, *faces.walls)]
    return [device.placed(faces.codes), *numbers, *(np.int64(step) for step in faces.strides)]


class FaceProduct(OperatorTraits):
    """out = A x with (x, out), (out, out) and (x, x). dtype: of the vectors; arithmetic is in double precision."""

    def __init__(self, device: Launcher, faces: FaceCodes, dtype: np.dtype) -> None:
        self._device, self._faces, self._dtype = device, faces, np.dtype(dtype)
        plain = device.layout.chunked or faces.directions == 1
        text = (texts.product if plain else texts.product_columns)(faces.directions, walled=faces.walled)
        self._kernel = device.kernel(text, "faces", dtype)
        self._fixed = arguments(device, faces, device.wide(dtype))
        self._dots = Dots(device, dtype, device.layout.groups_for(faces.size))

    def apply(self, x: Vector, out: Vector, *_: str) -> Dots:
        self._device.launch_over(self._kernel, self._faces.size, x, out, *self._fixed, self._dots.partial)
        return self._dots

    def block(self, columns: int) -> BlockStencilProduct:
        """The product with N x columns block vectors, by bands, which cost little for several columns."""
        faces = self._faces
        bands = (face_coding.band(faces, direction) for direction in range(faces.directions))
        diagonal, *lower = (
            self._device.array(entries, self._dtype) for entries in (face_coding.diagonal(faces), *bands)
        )
        strides = [np.int64(step) for step in faces.strides]
        return BlockStencilProduct(self._device, faces.size, diagonal, lower, strides, columns)

    @property
    def traffic(self) -> int:
        return (1 + 2 * self._dtype.itemsize) * self._faces.size

    @property
    def flops(self) -> int:
        return self._faces.flops


class FaceTerm:
    """One term of a Neumann series, kept times D^-1 (see `kernels.faces.term`); the upper one with dot products."""

    def __init__(self, device: Launcher, faces: FaceCodes, scale: Vector, *, upper: bool, raw: bool = False) -> None:
        self._device, self._faces, self._scale, self._upper = device, faces, scale, upper
        self._kernel = device.kernel(texts.term(faces.directions, upper=upper, raw=raw), "term", scale.dtype)
        self._fixed = [*arguments(device, faces, scale.dtype), scale]
        self._dots = Dots(device, scale.dtype, device.layout.groups_for(faces.size)) if upper else None

    def apply(self, base: Vector, x: Vector, out: Vector, paired: Vector) -> Dots | None:
        """The dot products are those of `paired` and out. `out` must not be x."""
        summed = [paired, self._dots.partial] if self._dots else []
        self._device.launch_over(self._kernel, self._faces.size, base, x, out, *self._fixed, *summed)
        return self._dots

    @property
    def traffic(self) -> int:
        return (4 + self._upper) * self._scale.nbytes + self._faces.size

    @property
    def flops(self) -> int:
        size = self._faces.size
        return term_flops(self._faces.directions * size, size, self._scale.dtype, scaled=True)


def face_series(device: Launcher, faces: FaceCodes, dtype: np.dtype, order: int) -> TermByTerm:
    """K^H D^-1 K, term by term; D^-1 is made on the device."""
    scale = device.empty((faces.size,), dtype)
    text = texts.inverse_diagonal(faces.directions, walled=faces.walled)
    kernel = device.kernel(text, "diagonal", dtype)
    device.launch_over(kernel, faces.size, scale, *arguments(device, faces, device.wide(dtype)))
    first = FaceTerm(device, faces, scale, upper=False, raw=True)
    later = [FaceTerm(device, faces, scale, upper=False)] * (order - 1)
    return TermByTerm([first, *later], FaceTerm(device, faces, scale, upper=True), device.zeros, scale)
