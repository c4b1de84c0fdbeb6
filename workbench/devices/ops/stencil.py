"""Operators of Hermitian stencils: products, terms of a Neumann series, L D^-1.

A stencil is a diagonal and lower bands at distances d0 < d1 < ..; row i of A x is main[i] x[i] + the sum over k of
low_k[i] x[i - d_k] + conj(low_k[i + d_k]) x[i + d_k]. Only the first and the last d_max rows have indices beyond the
vector; at all other walls of the grid the bands are zero.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.compiler.words import conj, inside, unrolled
from workbench.devices.bound import Request
from workbench.devices.ops.applied import Applied, InTwoPasses
from workbench.devices.series import TermByTerm
from workbench.kernel_language.row_kernels import kernel

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.devices.ops.applied import BindingDevice

LOWER = {"based": True, "minus": True, "whole": False, "above": False}
UPPER = {"based": True, "minus": True, "whole": False, "below": False, "paired": True}
"""Constants of `stencil` for base - L x and base - L^H x."""


@kernel(dots=True, halo="steps[bands - 1]")
def stencil(
    row, diagonal, lower, steps, base, scale, x, y, left, *,
    bands, constant=False, based=False, minus=False, scaled=False, paired=False, whole=True, below=True, above=True,
):  # fmt: skip
    """y = base + A x, base - A x or A x, then times scale, with the dot products of left, or x, and y.

    lower[k][i] is the entry (i, i - steps[k]) of A, which is Hermitian. based, minus, scaled: with base, with -A x,
    times scale. whole, below, above: whether A has its diagonal, its lower and its upper bands. constant: the diagonal
    is a number. paired: the dot products are those of left.
    """
    value = base[row] if based else 0
    if whole:
        product = (diagonal if constant else diagonal[row]) * x[row]
        value = value - product if minus else value + product
    for k in unrolled(bands):
        if below and inside(row - steps[k]):
            entry = lower[k][row]
            value += (-entry if minus else entry) * x[row - steps[k]]
        if above and inside(row + steps[k]):
            entry = conj(lower[k][row + steps[k]])
            value += (-entry if minus else entry) * x[row + steps[k]]
    if scaled:
        value *= scale[row]
    y[row] = value
    return left[row] if paired else x[row], value


@kernel()
def inverted(row, main, inverse):
    """inverse = 1/main, entry by entry."""
    inverse[row] = 1 / main[row]


@kernel(halo="step")
def scaled_band(row, low, inverse, step, band):
    """The entry (i, i - step) of L D^-1, zero in the first rows."""
    band[row] = low[row] * inverse[row - step] if inside(row - step) else 0


class StencilProduct(Applied):
    """out = A x for a diagonal and lower bands, all of shape (N,), with (x, out), (out, out) and (x, x)."""

    def __init__(
        self, device: BindingDevice, main: np.ndarray, lower: Sequence[DeviceVector], strides: Sequence[int]
    ) -> None:
        self._device = device
        super().__init__(device.bind(product_request(main, lower, strides)))

    def block(self, columns: int) -> Applied:
        """The product with N x columns block vectors."""
        return in_blocks(self._device, self.bound.request, columns, self.bound.fixed)

    def request(self) -> Request:
        """The request for y = A x."""
        return self.bound.request

    def residual(self) -> Request:
        """The request for y = base - A x."""
        request = self.bound.request
        form = {**request.constants, "based": True, "minus": True}
        return dataclasses.replace(request, constants=form, summed=False)


def in_blocks(device: BindingDevice, request: Request, columns: int, fixed: Mapping[str, object]) -> Applied:
    """The product with block vectors. fixed: the arguments as the device has them."""
    return Applied(device.bind(request.in_blocks(columns, fixed, summed=columns > 1 and device.sums_columns)))


def product_request(main: np.ndarray, lower: Sequence[DeviceVector], strides: Sequence[int]) -> Request:
    """The product; a constant diagonal, as in Poisson problems, is one number, which saves reading a vector."""
    constant = bool(np.all(main == main[0]))
    return _request(lower, strides, {"diagonal": main[0] if constant else main}, {"constant": constant})


def _request(
    lower: Sequence[DeviceVector],
    strides: Sequence[int],
    fixed: Mapping[str, object],
    form: Mapping[str, bool],
    **more: Any,
) -> Request:
    """The kernel with these bands; form: its constants."""
    bands = len(lower)
    fixed = {**fixed, **{f"lower_{k}": band for k, band in enumerate(lower)}}
    fixed |= {f"steps_{k}": int(stride) for k, stride in enumerate(strides)}
    numbered = {"lower": bands, "steps": bands}
    return Request(
        stencil, lower[0].size, lower[0].dtype, fixed, constants={"bands": bands, **form}, numbered=numbered, **more
    )


def terms(
    device: BindingDevice, bands: Sequence[DeviceVector], strides: Sequence[int], scale: DeviceVector
) -> tuple[Applied, Applied, Applied]:
    """base - L x, (base - L x)*scale and base - L^H x for the lower bands of L; the last with dot products.

    They are applied to base, x, out and, for the dot products, another vector.
    """
    first = device.bind(_request(bands, strides, {}, LOWER, summed=False))
    # The bands as the device has them.
    bands = [first.fixed[f"lower_{k}"] for k in range(len(bands))]
    scaled = _request(bands, strides, {"scale": scale}, LOWER | {"scaled": True}, summed=False)
    return Applied(first), Applied(device.bind(scaled)), Applied(device.bind(_request(bands, strides, {}, UPPER)))


def series(
    device: BindingDevice,
    bands: Sequence[DeviceVector],
    strides: Sequence[int],
    inverse_diagonal: DeviceVector,
    order: int,
) -> TermByTerm:
    """K^H D^-1 K for the strictly lower bands of L D^-1, K the Neumann series of that order, term by term."""
    lower, scaled, upper = terms(device, bands, strides, inverse_diagonal)
    return TermByTerm([lower] * (order - 1) + [scaled], upper, device.zeros, inverse_diagonal)


def factorized(
    device: BindingDevice, diagonal: np.generic, bands: Sequence[DeviceVector], strides: Sequence[int]
) -> InTwoPasses:
    """u = F F^H r for a lower triangular F with a number on its diagonal and these bands below it."""
    fixed, form = {"diagonal": diagonal}, {"constant": True}
    first = device.bind(_request(bands, strides, fixed, form | {"below": False}, summed=False))
    # The bands as the device has them.
    bands = [first.fixed[f"lower_{k}"] for k in range(len(bands))]
    second = device.bind(_request(bands, strides, fixed, form | {"above": False, "paired": True}))
    return InTwoPasses(first, second, device.zeros(bands[0].size, bands[0].dtype))


def scaled_bands(
    device: BindingDevice, main: np.ndarray, lower: Sequence[np.ndarray], strides: Sequence[int]
) -> tuple[tuple[DeviceVector, ...], DeviceVector]:
    """The bands of L D^-1, entry (i, i - stride) divided by D[i - stride], and D^-1."""
    size, dtype = main.size, main.dtype
    inverse = device.zeros(size, dtype)
    device.bind(Request(inverted, size, dtype, {"main": main}))(inverse)
    bands = tuple(device.zeros(size, dtype) for _ in lower)
    for low, stride, band in zip(lower, strides, bands, strict=True):
        device.bind(Request(scaled_band, size, dtype, {"low": low, "inverse": inverse, "step": int(stride)}))(band)
    return bands, inverse
