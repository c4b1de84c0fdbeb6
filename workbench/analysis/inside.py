"""What was known of a run after its first k iterations: Ritz values, condition numbers, and how far the error was."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from workbench.analysis.errors import lower_bound, upper_bound
from workbench.analysis.ritz import cg_bound, ritz_values
from workbench.errors import InputError
from workbench.recording import History

LONGEST = 1000
"""Iterations of which Ritz values are shown. The cost grows with their square, and more columns than pixels show
nothing."""
SHARE = 0.999
"""Of the smallest eigenvalue, for the Gauss-Radau bound, which holds only below the spectrum: rounding may have made
the computed eigenvalue too large."""


@dataclasses.dataclass(frozen=True, eq=False)
class Estimates:
    """||e_k||_A by iteration as seen after iteration k; every column starts at iteration 0.

    lower: Hestenes-Stiefel, shape (k - delay + 1,), or empty before there are `delay` iterations. upper: Gauss-Radau,
    of the same shape; None where no eigenvalue is known. true: shape (k + 1,); None where the solution is not known.
    bound_so_far: the CG bound with the condition number of the Ritz values; bound: with the exact one, or None. Both
    are scaled by the error at the start, true or as good as it is known after k iterations (`start`).
    """

    lower: np.ndarray
    upper: np.ndarray | None
    true: np.ndarray | None
    start: float
    bound_so_far: np.ndarray
    bound: np.ndarray | None


def until(history: History, iteration: int) -> History:
    """The history as it was after an iteration. Costs a copy; the history may grow meanwhile."""
    arrays = {name: column[: iteration + 1] for name, column in history.to_arrays().items() if name != "true_residuals"}
    confirmed = history.true_residuals
    return History.from_arrays({**arrays, "true_residuals": confirmed[confirmed[:, 0] <= iteration]})


def usable(history: History) -> int:
    """Iterations from the start on that tell Ritz values: before a breakdown, and at most 1000.

    Raises InputError for methods without beta, such as steepest descent.
    """
    done = min(history.count - 1, LONGEST)
    if done < 1:
        return 0
    alpha, beta = history["alpha"][1 : done + 1], history["beta"][1 : done + 1]
    # The last beta that counts is that of the iteration before.
    good = (alpha > 0) & np.concatenate([[True], beta[:-1] >= 0])
    if np.isnan(beta[0]):
        raise InputError("this run has no beta, so it tells no Ritz values; take a run of cg")
    return int(np.argmin(good)) if not good.all() else done


def ritz_columns(history: History, iteration: int, most: int = 48) -> dict[int, np.ndarray]:
    """Ritz values by iteration, ascending, of at most so many iterations up to the one given, evenly spaced.

    Cost: O(most k^2) for k iterations. Raises InputError for iterations that the run has not made.
    """
    if iteration < 1 or most < 1:
        raise InputError(f"Ritz values begin with iteration 1, and one column; got {iteration} and {most}")
    every = -(-iteration // most)
    return {k: ritz_values(history, k) for k in range(iteration, 0, -every)}


def nonzero(values: np.ndarray) -> np.ndarray:
    """Eigenvalues, ascending, without those that are zero up to rounding."""
    return values[values > 10 * values.size * np.finfo(np.float64).eps * values[-1]]


def estimates(history: History, iteration: int, delay: int = 4, exact: np.ndarray | None = None) -> Estimates:
    """What was known of the error after an iteration. delay: iterations that the estimates look ahead.

    exact: the eigenvalues of what CG works on, where they are known; zeros among them do not count. Raises InputError
    when the run has not made that many iterations.
    """
    seen = until(history, iteration)
    values = ritz_values(seen, iteration)
    known = nonzero(exact) if exact is not None else None
    enough = iteration >= delay
    lower = lower_bound(seen, delay) if enough else np.empty(0)
    upper = None
    if known is not None:
        upper = upper_bound(seen, SHARE * float(known[0]), delay) if enough else np.empty(0)
    # NaN where a run stopped by another norm did not measure it.
    true = seen["error"] if np.isfinite(seen["error"]).all() else None
    start = float(true[0]) if true is not None else float(lower_bound(seen, iteration)[0])
    return Estimates(
        lower=lower,
        upper=upper,
        true=true,
        start=start,
        bound_so_far=start * cg_bound(float(values[-1] / values[0]), iteration),
        bound=start * cg_bound(float(known[-1] / known[0]), iteration) if known is not None else None,
    )


def level_conditions(spectra: Mapping[str, np.ndarray]) -> dict[str, float]:
    """The condition number of each spectrum, zeros left out: after deflation the effective one."""
    positive = {name: nonzero(values) for name, values in spectra.items()}
    return {name: float(values[-1] / values[0]) for name, values in positive.items()}
