"""Truncated Neumann series of the triangular factors (Gupta, van Gijzen, Vuik 2013, section 3.1)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.devices.host.series_sizes import scratch_bytes, stores_bands
from workbench.devices.operator_protocols import SeriesTerm
from workbench.devices.protocol import Device
from workbench.devices.series import TermByTerm
from workbench.lazy import sparse
from workbench.operators import BoundOperator, Operator, Size, Stencil, check_diagonal
from workbench.operators.matrix_rows import MatrixRows, stored_rows
from workbench.preconditioners.base import Preconditioner
from workbench.registry import parameter, register

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


CHECKED = 1 << 20
"""Unknowns of a stencil up to which ||L D^-1||_inf is computed, in 8 ms of a core; for more a setup on a GPU would
wait."""


@register
@dataclasses.dataclass(frozen=True)
class Neumann(Preconditioner):
    """M^-1 = K^T D^-1 K with K = sum over k <= order of (-L D^-1)^k; order 1 and 2 are the paper's Neu1 and Neu2.

    L is the strictly lower triangle of A, D its diagonal. K r is evaluated by Horner's rule, v <- r - L D^-1 v.

    Cost: stores L D^-1 and D^-1, for CSR matrices also the transpose of L D^-1. On a stencil up to three terms of K and
    of K^T run in one wavefront, so Neu1, Neu2 and Neu3 all move bands + 3 words per unknown. In CSR format an
    application makes 2*order passes over L; on ranks each of them exchanges ghosts.

    The paper requires ||L D^-1||_inf < 1, under which each further term reduces the error in that norm; a note of the
    run has the number, of stencils up to `CHECKED` unknowns. M is positive definite without it, since K is unit
    triangular; a few row sums above 1, as at corners of random bubbles, are harmless.

    Raises InputError if the entries of A are not available.

    Source: Gupta, van Gijzen, Vuik 2013, eqs. (2) to (5).
    """

    name: ClassVar[str] = "neumann"
    title: ClassVar[str] = "truncated Neumann series"
    on_ranks: ClassVar[bool] = True

    order: int = parameter(2, "terms kept after the identity in each factor", low=1, high=16)

    @property
    def ghost_planes(self) -> int:
        return self.order + 1

    def needed_bytes(self, size: Size, item: int, *, on_host: bool) -> int | None:
        vector = item * size.unknowns
        between = vector * (1 + (self.order > 1))
        if size.grid is None:
            # Two triangles of L D^-1 together.
            return size.nbytes + vector + between if size.nbytes else None
        banded = not size.two_phases or (on_host and stores_bands(len(size.grid), item))
        if on_host:
            between = scratch_bytes(size.unknowns, math.prod(size.grid[1:]), self.order, item)
        return (len(size.grid) * vector if banded else 0) + vector + between

    def setup(self, operator: Operator, device: Device) -> BoundOperator:
        if isinstance(operator, Stencil):
            made: Any = operator.neumann(device, self.order)
            norm = operator.triangle_norm if operator.shape[0] <= CHECKED and device.ranks == 1 else None
        else:
            (term, scaled, upper), inverse, norm = _terms(operator, device)
            made = TermByTerm([term] * (self.order - 1) + [scaled], upper, device.zeros, inverse)
        if norm is not None:
            made.notes = (*made.notes, condition(norm))
            made.advice = advice(norm)
        return made


def _terms(operator: Operator, device: Any) -> tuple[Sequence[SeriesTerm], DeviceVector, float]:
    """The terms of K and K^T of a sparse matrix, D^-1 on the device, and ||L D^-1||_inf."""
    entries, diagonal = stored_rows(operator), operator.diagonal()
    check_diagonal(diagonal)
    inverse = 1 / diagonal
    on_device = device.array(inverse, operator.dtype)
    if isinstance(operator, MatrixRows):
        of_columns = device.with_ghosts(inverse, operator.slab)
        lower = _lower(entries, operator.below) @ sparse.diags_array(of_columns)
        upper = sparse.diags_array(inverse) @ sparse.triu(entries, k=operator.below + 1, format="csr")
        terms = device.terms_of_rows(sparse.csr_array(lower), on_device, sparse.csr_array(upper))
    else:
        lower = _lower(entries, 0) @ sparse.diags_array(inverse)
        terms = device.csr_terms(sparse.csr_array(lower), on_device)
    return terms, on_device, device.largest(float(abs(lower).sum(axis=1).max()))


def _lower(entries: sparse.csr_array, column: int) -> sparse.csr_array:
    """The triangle below the diagonal, which begins in a column."""
    return sparse.csr_array(sparse.tril(entries, k=column - 1, format="csr"))


def condition(norm: float) -> str:
    """A sentence on the condition of the series. norm: ||L D^-1||_inf."""
    if norm < 1:
        return f"||L D^-1||_inf = {norm:.3g} < 1: the Neumann series converges"
    return (
        f"||L D^-1||_inf = {norm:.3g}, not below 1: the Neumann series may diverge, so more terms may precondition "
        "worse; M is positive definite all the same"
    )


def advice(norm: float) -> str:
    """Advice for a run that fails, empty where the series converges. norm: ||L D^-1||_inf."""
    if norm < 1:
        return ""
    return (
        f"||L D^-1||_inf = {norm:.3g} is not below 1, so the Neumann series may diverge and be worse than no "
        "preconditioner: try jacobi or chebyshev"
    )
