"""The number of iterations that a run still needs: an estimate while it is running, from its own history."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import linalg

from workbench.errors import InputError
from workbench.records import History
from workbench.spectra.convergence_estimates import iterations_by_bound, lanczos_matrix

FEWEST = 6
"""Iterations before which nothing is estimated."""
MOST_FOR_RITZ = 5000
"""Iterations above which the Lanczos matrix is too large to be evaluated while a run is active."""
SLOPE, BOUND = "present slope", "CG bound with the Ritz values"


@dataclasses.dataclass(frozen=True)
class Estimate:
    """iterations: the number left. basis: the source of the estimate, in words."""

    iterations: int
    basis: str


def iterations_left(history: History, target: float) -> Estimate | None:
    """Iterations until ||r|| <= target; the smaller of two estimates, None where neither is possible.

    One continues the slope of log ||r|| over the last third of the iterations. The other is the CG bound for the
    effective condition number so far: ||r|| falls by target/||r|| as the bound of the A-norm of the error does. Cost:
    O(k) for k iterations, two eigenvalues of the Lanczos matrix included.
    """
    residual = history["residual"]
    done = residual.size - 1
    if done < FEWEST or not (target > 0 and np.isfinite(residual[-1])):
        return None
    if residual[-1] <= target:
        return Estimate(0, SLOPE)
    found = [estimate for estimate in (_by_slope(residual, target), _by_bound(history, target)) if estimate]
    return min(found, key=lambda estimate: estimate.iterations, default=None)


def _by_slope(residual: np.ndarray, target: float) -> Estimate | None:
    last = residual[-max(FEWEST, residual.size // 3) :]
    if not np.all(last > 0):
        return None
    slope = np.polynomial.polynomial.polyfit(np.arange(last.size), np.log(last), 1)[1]
    if slope >= 0:
        return None
    return Estimate(int(np.ceil(np.log(target / residual[-1]) / slope - 1e-9)), SLOPE)


def _by_bound(history: History, target: float) -> Estimate | None:
    done = history.count - 1
    if done > MOST_FOR_RITZ:
        return None
    try:
        diagonal, offdiagonal = lanczos_matrix(history, done)
        ends = [
            linalg.eigvalsh_tridiagonal(diagonal, offdiagonal, select="i", select_range=(place, place))[0]
            for place in (0, done - 1)
        ]
        if not 0 < ends[0] <= ends[1]:
            return None
        return Estimate(iterations_by_bound(float(ends[1] / ends[0]), target / history["residual"][done]), BOUND)
    # Methods without alpha and beta have no Ritz values.
    except (InputError, linalg.LinAlgError):
        return None
