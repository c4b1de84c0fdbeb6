"""The operators that are one class on all devices, as methods of a device; `protocol` says what each returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from workbench.devices.ops import csr as of_csr
from workbench.devices.ops import stencil as of_stencil
from workbench.devices.ops.csr import CsrProduct, FactorizedInverse, SparseVectors
from workbench.devices.ops.faces import FaceProduct, inverse_diagonal
from workbench.devices.ops.stencil import StencilProduct
from workbench.devices.ops.storage import DiagonalColumns, stored
from workbench.devices.ops.triangular import ColourFactor, CsrFactor

if TYPE_CHECKING:
    D = TypeVar("D")
P = ParamSpec("P")
T = TypeVar("T")


def method(make: Callable[Concatenate[D, P], T]) -> Callable[Concatenate[D, P], T]:
    """A class whose instances are made of a device and more, as a method of the device."""

    def method(self: D, /, *args: P.args, **named: P.kwargs) -> T:
        return make(self, *args, **named)

    return method


class OperatorsOfAllDevices:
    """Base of a device that binds kernels of the kernel language: it has `bind`."""

    sums_columns = False
    """Set where products with block vectors also compute the dot products (x_j, out_j)."""
    stencil = method(StencilProduct)
    faces = method(FaceProduct)
    inverse_diagonal = method(inverse_diagonal)
    csr = method(CsrProduct)
    stored = method(stored)
    diagonal_columns = method(DiagonalColumns)
    csr_factor = method(CsrFactor)
    colour_factor = method(ColourFactor)
    factorized_inverse = method(FactorizedInverse)
    sparse_vectors = method(SparseVectors)
    csr_terms = of_csr.terms
    scaled_bands = of_stencil.scaled_bands
    factorized_stencil = of_stencil.factorized
