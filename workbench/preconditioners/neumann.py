"""Truncated Neumann series of the triangular factors (Gupta, van Gijzen, Vuik 2013, section 3.1)."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from workbench.blocks import parameter, register
from workbench.devices.series import TermByTerm
from workbench.errors import InputError
from workbench.operators import Operator, Stencil
from workbench.preconditioners.base import Preconditioner


@register
@dataclasses.dataclass(frozen=True)
class Neumann(Preconditioner):
    """M^-1 = K^T D^-1 K with K = sum over k <= order of (-L D^-1)^k; order 1 and 2 are the paper's Neu1 and Neu2.

    L is the strictly lower triangle of A, D its diagonal; only L D^-1 and D^-1 are stored (for CSR matrices L D^-1 also
    transposed). K r is evaluated by Horner's rule, v <- r - L D^-1 v. On a stencil up to three terms of K share one
    sweep, so Neu1, Neu2 and Neu3 all move 2*(bands + 3) words per unknown; in CSR form there are 2*order sweeps over L.

    Needs max row sum of |L D^-1| < 1, the condition of eq. (2), and raises InputError otherwise, or when A does not
    show its entries. Source: Gupta, van Gijzen, Vuik 2013, eqs. (2) to (5).
    """

    name: ClassVar[str] = "neumann"
    title: ClassVar[str] = "truncated Neumann series"

    order: int = parameter(2, "terms kept after the identity in each factor", low=1, high=16)

    def setup(self, operator: Operator, device: Any) -> Any:
        inverse_diagonal = device.array(1 / operator.diagonal(), operator.dtype)
        if isinstance(operator, Stencil):
            bands = _scaled_bands(operator)
            _check_norm(np.abs(bands).sum(axis=0))
            return device.stencil_series(bands, operator.strides, inverse_diagonal, self.order)
        lower = sparse.tril(operator.to_csr(), k=-1, format="csr") @ sparse.diags_array(1 / operator.diagonal())
        lower = sparse.csr_array(lower)
        _check_norm(np.asarray(abs(lower).sum(axis=1)).ravel())
        return TermByTerm(self.order, device.csr_terms(lower, inverse_diagonal), device, inverse_diagonal)


def _scaled_bands(operator: Stencil) -> tuple[np.ndarray, ...]:
    """The bands of L D^-1: entry (i, i - stride) divided by D at i - stride."""
    diagonal = operator.diagonal()
    bands = []
    for low, stride in zip(operator.lower, operator.strides, strict=True):
        band = np.zeros_like(low)
        band[stride:] = low[stride:] / diagonal[: max(0, low.size - stride)]
        bands.append(band)
    return tuple(bands)


def _check_norm(row_sums: np.ndarray) -> None:
    worst = int(np.argmax(row_sums))
    if not row_sums[worst] < 1:
        raise InputError(
            f"neumann needs max |L D^-1| row sums < 1, got {row_sums[worst]:.4g} at row {worst}; "
            "scale the matrix or use jacobi"
        )
