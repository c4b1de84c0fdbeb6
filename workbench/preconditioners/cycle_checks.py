"""Checks of a multigrid cycle before CG uses it as M^-1: finite values, symmetry, (r, M^-1 r) > 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from workbench.errors import InputError
from workbench.operators import BoundOperator

SYMMETRY_TOLERANCE = 1e-6
"""Allowed difference of (M^-1 x, y) and (x, M^-1 y), relative to products of the norms; far above rounding."""


@runtime_checkable
class MultigridCycle(BoundOperator, Protocol):
    """M^-1 by a multigrid cycle, which may lack a property that CG needs.

    suspect: the cause that a breakdown with (r, M^-1 r) <= 0 reports; remedy: advice against it, a clause.

    Examples:
        >>> from workbench.devices import device
        >>> from workbench.preconditioners import MultigridCycle
        >>> from workbench.registry import find
        >>> A = find("problem", "poisson5:8").assemble().operator
        >>> isinstance(find("preconditioner", "amg").setup(A, device()), MultigridCycle)
        True
    """

    suspect: str
    remedy: str


def check_cycle(name: str, apply: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype) -> tuple[str, ...]:
    """Notes on the properties of M^-1 that CG needs and a cycle lacks, found with two random vectors of zero mean.

    name: the preconditioner, for the notes. apply: r of shape (size,) to M^-1 r. A cycle that is not symmetric or not
    positive definite is not refused, since CG may converge before that matters.

    Cost: two cycles. Raises InputError if their results are not finite.
    """
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(size).astype(dtype) for _ in range(2))
    if size > 1:
        x, y = x - x.mean(), y - y.mean()
    Mx, My = (np.reshape(apply(v), (size,)) for v in (x, y))
    if not (np.isfinite(Mx).all() and np.isfinite(My).all()):
        raise InputError(
            f"{name}: the multigrid cycle gives NaN or infinity for this matrix; use another preconditioner"
        )
    scale = np.linalg.norm(Mx) * np.linalg.norm(y) + np.linalg.norm(x) * np.linalg.norm(My)
    notes = []
    if abs(np.vdot(Mx, y).item() - np.vdot(x, My).item()) > SYMMETRY_TOLERANCE * scale:
        notes.append(f"the cycle of {name} is not symmetric, which CG needs; use solver fcg or another preconditioner")
    smallest = min(np.vdot(x, Mx).item().real, np.vdot(y, My).item().real)
    if smallest < 0:
        notes.append(f"the cycle of {name} is not positive definite ((r, M^-1 r) = {smallest:.3g}); {_remedy(name)}")
    return tuple(notes)


def _remedy(name: str) -> str:
    """Advice for a cycle that is not positive definite, a clause."""
    return f"use another preconditioner than {name}, such as ssor, block-ic or jacobi"


def attach_notes(cycle: Any, name: str, notes: tuple[str, ...]) -> MultigridCycle:
    """The bound cycle, with `notes` added for the provenance, and with the diagnosis of a breakdown that it may cause.

    cycle: a bound operator; it is changed.
    """
    cycle.notes = (*cycle.notes, *notes)
    cycle.suspect, cycle.remedy = f"the multigrid cycle of {name}", _remedy(name)
    return cycle
