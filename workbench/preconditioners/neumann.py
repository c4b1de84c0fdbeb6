"""Truncated Neumann series of the triangular factors (Gupta, van Gijzen, Vuik 2013, section 3.1)."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from workbench.devices.protocol import Device
from workbench.devices.series import TermByTerm
from workbench.operators import Operator, Stencil
from workbench.preconditioners.base import Preconditioner
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class Neumann(Preconditioner):
    """M^-1 = K^T D^-1 K with K = sum over k <= order of (-L D^-1)^k; order 1 and 2 are the paper's Neu1 and Neu2.

    L is the strictly lower triangle of A, D its diagonal; only L D^-1 and D^-1 are stored (for CSR matrices L D^-1 also
    transposed). K r is evaluated by Horner's rule, v <- r - L D^-1 v. On a stencil up to three terms run in one wave
    with those of K^T, so Neu1, Neu2 and Neu3 all move bands + 3 words per unknown; in CSR form there are 2*order sweeps
    over L. The paper asks for ||L D^-1|| < 1, which makes more terms better in that norm; M is positive definite
    without it, since K is unit triangular, and so a few rows above 1, as in the corners of random bubbles, do no harm.

    Raises InputError when A does not show its entries. Source: Gupta, van Gijzen, Vuik 2013, eqs. (2) to (5).
    """

    name: ClassVar[str] = "neumann"
    title: ClassVar[str] = "truncated Neumann series"

    order: int = parameter(2, "terms kept after the identity in each factor", low=1, high=16)

    def setup(self, operator: Operator, device: Device) -> Any:
        inverse_diagonal = device.array(1 / operator.diagonal(), operator.dtype)
        if isinstance(operator, Stencil):
            bands = _scaled_bands(operator)
            return device.stencil_series(bands, operator.strides, inverse_diagonal, self.order)
        lower = sparse.tril(operator.to_csr(), k=-1, format="csr") @ sparse.diags_array(1 / operator.diagonal())
        terms = device.csr_terms(sparse.csr_array(lower), inverse_diagonal)
        return TermByTerm(self.order, terms, device.zeros, inverse_diagonal)


def _scaled_bands(operator: Stencil) -> tuple[np.ndarray, ...]:
    """The bands of L D^-1: entry (i, i - stride) divided by D at i - stride."""
    diagonal = operator.diagonal()
    bands = []
    for low, stride in zip(operator.lower, operator.strides, strict=True):
        band = np.zeros_like(low)
        band[stride:] = low[stride:] / diagonal[: max(0, low.size - stride)]
        bands.append(band)
    return tuple(bands)
