"""The incomplete Poisson preconditioner, and its relaxed form of SSOR type."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.arrays.scaling import is_extreme
from workbench.devices.protocol import Device
from workbench.devices.series import TermByTerm
from workbench.lazy import sparse
from workbench.operators import BoundOperator, Operator, Size, Stencil, check_diagonal
from workbench.preconditioners.base import Preconditioner
from workbench.registry import parameter, register

POISSON, SSOR = "poisson", "ssor"


@register
@dataclasses.dataclass(frozen=True)
class IncompletePoisson(Preconditioner):
    """M^-1 = (I - B)(I - B^H)/d with B = omega L D^-1, L the strictly lower triangle of A, D its diagonal, d = max |D|.

    omega = 1 is the incomplete Poisson preconditioner of Ament et al.; they have d = 1, which changes no iterate of CG.
    Nothing between the factors follows D, so that it suits a constant diagonal, and two phases hardly.

    form=ssor: M^-1 = omega (2 - omega) (I - B^H) D^-1 (I - B), the relaxed form. The inverse of SSOR is that with
    (I + B)^-1 in place of I - B, which keeps the first two terms of its Neumann series. omega = 1 is `neumann:1`. M is
    positive definite for each omega in (0, 2) in both forms.

    Cost: two products with a triangle, without recurrences. On a stencil B is stored as bands, and two passes take
    2 bands + 5 words per unknown; form=ssor on the cores is one of bands + 3. In CSR format B and B^H are stored.

    Raises InputError if the entries of A are not available.

    Source: Ament, Knittel, Weiskopf, Strasser 2010; relaxed: Helfenstein, Koko 2012.
    """

    name: ClassVar[str] = "incomplete-poisson"
    title: ClassVar[str] = "incomplete Poisson"
    also: ClassVar[tuple[str, ...]] = ("ip", "ssor-ai", "ssor-approximate-inverse")

    omega: float = parameter(1.0, "relaxation, above 0 and below 2", low=0.001, high=1.999)
    form: str = parameter(POISSON, "without D between the factors, or as SSOR has it", choices=(POISSON, SSOR))

    def needed_bytes(self, size: Size, item: int, *, on_host: bool) -> int | None:
        vector = item * size.unknowns
        if size.grid is None:
            # Two triangles of B together, and the vector between them.
            return size.nbytes + 2 * vector if size.nbytes else None
        return (len(size.grid) + 2) * vector

    def setup(self, operator: Operator, device: Device) -> BoundOperator:
        diagonal = np.real(operator.diagonal())
        check_diagonal(diagonal)
        if isinstance(operator, Stencil):
            return self._of_stencil(operator, diagonal, device)
        return self._of_matrix(operator, diagonal, device)

    def _of_stencil(self, operator: Stencil, diagonal: np.ndarray, device: Device) -> BoundOperator:
        dtype, lower, strides = operator.dtype, operator.lower, operator.strides
        if self.form == SSOR:
            bands, _ = device.scaled_bands((diagonal / self.omega).astype(dtype), lower, strides)
            return device.stencil_series(bands, strides, device.array(self._middle(diagonal), dtype), 1)
        root, largest = _root(diagonal), float(np.abs(diagonal).max())
        if is_extreme(largest, dtype):
            # D/root would leave the range of numbers; B is that of A/d.
            diagonal, lower = diagonal / largest, tuple(low / largest for low in lower)
        bands, _ = device.scaled_bands((-diagonal / (root * self.omega)).astype(dtype), lower, strides)
        return device.factorized_stencil(dtype.type(root), bands, strides)

    def _of_matrix(self, operator: Operator, diagonal: np.ndarray, device: Device) -> BoundOperator:
        dtype, strictly = operator.dtype, sparse.tril(operator.to_csr(), k=-1, format="csr")
        below = strictly @ sparse.diags_array(self.omega / diagonal)
        if self.form == SSOR:
            middle = device.array(self._middle(diagonal), dtype)
            _, scaled, upper = device.csr_terms(sparse.csr_array(below, dtype=dtype), middle)
            return TermByTerm([scaled], upper, device.zeros, middle)
        factor = _root(diagonal) * (sparse.eye_array(diagonal.size) - below.conj().T)
        return device.factorized_inverse(sparse.csr_array(factor, dtype=dtype))

    def _middle(self, diagonal: np.ndarray) -> np.ndarray:
        """The diagonal between the factors of the relaxed form, shape (N,)."""
        return self.omega * (2 - self.omega) / diagonal


def _root(diagonal: np.ndarray) -> float:
    """1/sqrt(d), by which each factor of the first form is multiplied."""
    return float(1 / np.sqrt(np.abs(diagonal).max()))
