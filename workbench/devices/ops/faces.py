"""Operators from codes of faces (see `face_codes`): products, terms of a Neumann series, the diagonal.

A coefficient is selected from numbers, which stay in registers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from workbench.compiler.words import inside, narrow, unrolled, wide
from workbench.devices.bound import Request
from workbench.devices.host import face_coding
from workbench.devices.host.face_codes import BITS, CHOICES, FaceCodes
from workbench.devices.host.memory import vector
from workbench.devices.on_cores import OnCores
from workbench.devices.ops.applied import Applied
from workbench.devices.ops.stencil import in_blocks, product_request
from workbench.devices.series import TermByTerm
from workbench.kernel_language.row_kernels import RowKernel, kernel

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.devices.ops.applied import BindingDevice


def chosen(c0, c1, c2, c3, code, shift):
    """One of four numbers by two bits of a code."""
    return (c3 if code & (1 << shift) else c2) if code & (2 << shift) else (c1 if code & (1 << shift) else c0)


@kernel(dots=True, halo="steps[directions - 1]")
def face_product(row, codes, faces, walls, steps, base, x, y, *, directions, walled, residual=False):
    """y = A x in the precision of sums, with the dot products of x and y; residual: y = base - A x."""
    here = wide(x[row])
    code = codes[row]
    value = 0
    if walled:
        value += chosen(walls[0], walls[1], walls[2], walls[3], code, BITS * directions) * here
    for k in unrolled(directions):
        if inside(row - steps[k]):
            face = chosen(faces[0], faces[1], faces[2], faces[3], code, BITS * k)
            value += face * (here - wide(x[row - steps[k]]))
        if inside(row + steps[k]):
            face = chosen(faces[0], faces[1], faces[2], faces[3], codes[row + steps[k]], BITS * k)
            value += face * (here - wide(x[row + steps[k]]))
    result = narrow(wide(base[row]) - value if residual else value)
    y[row] = result
    return x[row], result


@kernel(dots=True, halo="steps[directions - 1]")
def face_term(row, codes, faces, steps, base, scale, x, y, left, *, directions, upper, raw=False):
    """y = D^-1 (base + F x), F being the coefficients of the lower faces, or y = base + D^-1 F^T x if `upper`.

    With the dot products of left and y. raw: D^-1 x in place of x.
    """
    value = 0 if upper else base[row]
    for k in unrolled(directions):
        if not upper and inside(row - steps[k]):
            face = chosen(faces[0], faces[1], faces[2], faces[3], codes[row], BITS * k)
            value += face * (x[row - steps[k]] * scale[row - steps[k]] if raw else x[row - steps[k]])
        if upper and inside(row + steps[k]):
            face = chosen(faces[0], faces[1], faces[2], faces[3], codes[row + steps[k]], BITS * k)
            value += face * x[row + steps[k]]
    value = base[row] + scale[row] * value if upper else scale[row] * value
    y[row] = value
    return left[row], value


@kernel(halo="steps[directions - 1]")
def face_diagonal(row, codes, faces, walls, steps, out, *, directions, walled, inverse=False):
    """The sum of the coefficients of each cell; inverse: 1 over that, 0 where it is 0."""
    code = codes[row]
    value = wide(0)
    if walled:
        value += chosen(walls[0], walls[1], walls[2], walls[3], code, BITS * directions)
    for k in unrolled(directions):
        value += chosen(faces[0], faces[1], faces[2], faces[3], code, BITS * k)
        if inside(row + steps[k]):
            value += chosen(faces[0], faces[1], faces[2], faces[3], codes[row + steps[k]], BITS * k)
    out[row] = 1 / value if inverse and value != 0 else value


class FaceProduct(Applied):
    """out = A x with (x, out), (out, out) and (x, x). dtype: of the vectors; arithmetic is in double precision, on a
    GPU in theirs."""

    def __init__(self, device: BindingDevice, faces: FaceCodes, dtype: np.dtype) -> None:
        self._device, self._faces, self._dtype = device, faces, np.dtype(dtype)
        super().__init__(device.bind(_request(face_product, faces, self._dtype, float, {"walled": faces.walled})))

    def block(self, columns: int) -> Applied:
        """The product with N x columns block vectors, by bands, which cost little for several columns."""
        faces = self._faces
        parts = (diagonal(faces, self._dtype), *(face_coding.band(faces, k) for k in range(faces.directions)))
        main, *lower = (np.asarray(part, self._dtype) for part in parts)
        product = product_request(main, lower, faces.strides)
        return in_blocks(self._device, product, columns, product.fixed)

    def request(self) -> Request:
        """The request for y = A x."""
        return self.bound.request

    def residual(self) -> Request:
        """The request for y = base - A x."""
        request = self.bound.request
        return dataclasses.replace(request, constants={**request.constants, "residual": True}, summed=False)


def _request(
    of: RowKernel,
    codes: FaceCodes,
    dtype: np.dtype,
    number: Callable[[float], float | np.generic],
    form: Mapping[str, bool],
    fixed: Mapping[str, DeviceVector] | None = None,
    *,
    summed: bool = True,
) -> Request:
    """A kernel on these codes; number: makes a coefficient; form: its constants; fixed: further arguments."""
    fixed = {"codes": codes.stored, **(fixed or {})}
    fixed |= {f"faces_{k}": number(value) for k, value in enumerate(codes.values)}
    fixed |= {f"walls_{k}": number(value) for k, value in enumerate(codes.walls)}
    fixed |= {f"steps_{k}": int(stride) for k, stride in enumerate(codes.strides)}
    numbered = {"faces": CHOICES, "walls": CHOICES, "steps": codes.directions}
    constants = {"directions": codes.directions, **form}
    return Request(of, codes.size, dtype, fixed, constants=constants, numbered=numbered, summed=summed)


def _diagonal_request(faces: FaceCodes, codes: DeviceVector, dtype: np.dtype, *, inverse: bool) -> Request:
    """codes: those of the faces, in the memory of the device that makes D."""
    form, fixed = {"walled": faces.walled, "inverse": inverse}, {"codes": codes}
    return _request(face_diagonal, faces, dtype, float, form, fixed, summed=False)


def diagonal(faces: FaceCodes, dtype: np.dtype, *, inverse: bool = False) -> np.ndarray:
    """D in host memory, shape (N,), summed in double precision; inverse: D^-1, 0 where D is 0."""
    out = vector(faces.size, dtype)
    OnCores(_diagonal_request(faces, faces.codes, dtype, inverse=inverse))(out)
    return out


def inverse_diagonal(device: BindingDevice, faces: FaceCodes, dtype: np.dtype) -> DeviceVector:
    """D^-1, made in the memory of a device, shape (N,); 0 where D is 0."""
    made = device.zeros(faces.size, dtype)
    device.bind(_diagonal_request(faces, faces.stored, dtype, inverse=True))(made)
    return made


def series(device: BindingDevice, faces: FaceCodes, dtype: np.dtype, order: int) -> TermByTerm:
    """K^H D^-1 K, K the Neumann series of that order, term by term."""
    scale = inverse_diagonal(device, faces, dtype)

    def term(*, upper: bool, raw: bool = False) -> Applied:
        form, fixed = {"upper": upper, "raw": raw}, {"scale": scale}
        return Applied(device.bind(_request(face_term, faces, dtype, dtype.type, form, fixed, summed=upper)))

    lower = [term(upper=False, raw=True), *[term(upper=False)] * (order - 1)]
    return TermByTerm(lower, term(upper=True), device.zeros, scale)
