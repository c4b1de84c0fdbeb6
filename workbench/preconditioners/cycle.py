"""Checks of a multigrid cycle before CG uses it: finite values, symmetry, (r, M^-1 r) > 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import InputError

UNEQUAL = 1e-6
"""(M^-1 x, y) and (x, M^-1 y) may differ by this, relative to the norms: the rounding of a cycle stays far below."""


def check(name: str, action: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype) -> tuple[str, ...]:
    """Apply a cycle to two random vectors of zero mean, and say in sentences what CG cannot rely on. Costs two cycles.

    Raises InputError where the result is not finite. A cycle that is not symmetric or not positive definite is only
    noted, since CG may converge before that matters.
    """
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(size).astype(dtype) for _ in range(2))
    if size > 1:
        x, y = x - x.mean(), y - y.mean()
    Mx, My = (np.reshape(action(v), (size,)) for v in (x, y))
    if not (np.isfinite(Mx).all() and np.isfinite(My).all()):
        raise InputError(f"{name}: the multigrid cycle gives NaN or infinity for this matrix; use another first level")
    largest = np.linalg.norm(Mx) * np.linalg.norm(y) + np.linalg.norm(x) * np.linalg.norm(My)
    notes = []
    if abs(np.vdot(Mx, y).item() - np.vdot(x, My).item()) > UNEQUAL * largest:
        notes.append(f"the cycle of {name} is not symmetric, which CG needs; use solver fcg or another first level")
    energy = min(np.vdot(x, Mx).item().real, np.vdot(y, My).item().real)
    if energy < 0:
        notes.append(f"the cycle of {name} is not positive definite ((r, M^-1 r) = {energy:.3g}); {_way_out(name)}")
    return tuple(notes)


def _way_out(name: str) -> str:
    """What to do about a cycle that is not positive definite."""
    return f"use another first level than {name}, such as ssor, block-ic or jacobi"


def with_notes(product: Any, name: str, notes: tuple[str, ...]) -> Any:
    """A bound cycle that carries notes for the provenance, and what to say of a run that it breaks.

    `suspect` names the cause of a breakdown if (r, M^-1 r) <= 0 is measured; `remedy` says what to do.
    """
    product.notes = (*getattr(product, "notes", ()), *notes)
    product.suspect, product.remedy = f"the multigrid cycle of {name}", _way_out(name)
    return product
