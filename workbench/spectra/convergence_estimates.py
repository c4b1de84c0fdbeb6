"""Estimates from the first k iterations of a run: Ritz values, effective condition numbers and the CG bound, and bounds
of the A-norm of the error e_k = x* - x_k with a delay of a few iterations.

CG is equivalent to the Lanczos process: its scalars alpha and beta define a tridiagonal matrix whose eigenvalues, the
Ritz values, approximate those of M^-1 A (with deflation, the non-zero ones of M^-1 P A).

With g_j = (r_j, u_j) and alpha_j the step of iteration j + 1, ||e_k||_A^2 is the sum of alpha_j g_j over all j >= k.
The sum over the next d iterations, d being the delay, is a lower bound. With a Gauss-Radau term for a number mu
(`smallest`) below the smallest eigenvalue of M^-1 A it becomes an upper bound. With deflation the bounds are for the
error of the deflated system.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from scipy import linalg

from workbench.errors import InputError
from workbench.records import History
from workbench.run.jobs.recycling import lanczos_entries


def lanczos_matrix(history: History, iterations: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal, shape (k,), and off-diagonal, shape (k - 1,), of the Lanczos matrix after k iterations.

    Source: Saad 2003, section 6.7.3. Raises InputError if the run has made fewer iterations, and for methods without
    beta such as steepest descent.

    Examples:
        >>> from workbench.spectra import lanczos_matrix
        >>> from workbench.run import Run, configure, run_through
        >>> history = run_through(Run(configure("two-layer", n=16))).history
        >>> [part.shape for part in lanczos_matrix(history, 10)]
        [(10,), (9,)]
    """
    done = history.count - 1
    k = done if iterations is None else iterations
    if not 1 <= k <= done:
        raise InputError(f"Ritz values need between 1 and {done} iterations of this run, got {k}")
    alpha, beta = history["alpha"][1 : k + 1], history["beta"][1 : k + 1]
    if np.isnan(alpha).all() or (k > 1 and np.isnan(beta[:-1]).all()):
        raise InputError(
            "this run has no alpha or no beta, as block methods and steepest descent have none, and so it has "
            "no Ritz values; use a run of cg with one right-hand side"
        )
    # The last beta is not used. A wrong sign means that rounding errors have destroyed the recurrence.
    if not (np.all(alpha > 0) and np.all(beta[:-1] >= 0)):
        raise InputError(
            "alpha or beta of this run is missing or negative, so Ritz values are not available; "
            "use a run of cg, and only iterations before a breakdown"
        )
    return lanczos_entries(alpha, beta)


def ritz_values(history: History, iterations: int | None = None) -> np.ndarray:
    """The Ritz values after some iterations (all by default), ascending, shape (k,). Cost: O(k^2).

    Raises InputError as `lanczos_matrix` does.

    Examples:
        >>> import numpy as np
        >>> from workbench.spectra import ritz_values
        >>> from workbench.run import solve
        >>> ritz_values(solve(np.diag([1.0, 2.0, 4.0]), np.ones(3), M=None).history).round(6).tolist()
        [1.0, 2.0, 4.0]
    """
    return np.asarray(linalg.eigvalsh_tridiagonal(*lanczos_matrix(history, iterations)))


def effective_condition(history: History, iterations: int | None = None) -> float:
    """The effective condition number: the ratio of the largest to the smallest Ritz value.

    iterations, cost and errors: as of `ritz_values`.

    Examples:
        >>> import numpy as np
        >>> from workbench.spectra import effective_condition
        >>> from workbench.run import solve
        >>> result = solve(np.diag([1.0, 2.0, 4.0]), np.ones(3), M=None)
        >>> round(effective_condition(result.history), 6)
        4.0
    """
    values = ritz_values(history, iterations)
    return float(values[-1] / values[0])


def cg_bound(condition: float, iterations: int) -> np.ndarray:
    """The CG bound 2 ((sqrt(cond) - 1)/(sqrt(cond) + 1))^k of ||e_k||_A / ||e_0||_A for k = 0 .. `iterations`.

    Source: Saad 2003, eq. (6.128).

    Examples:
        >>> from workbench.spectra import cg_bound
        >>> cg_bound(condition=9.0, iterations=3).tolist()
        [2.0, 1.0, 0.5, 0.25]
    """
    rate = (np.sqrt(condition) - 1) / (np.sqrt(condition) + 1)
    return 2 * rate ** np.arange(iterations + 1)


def iterations_by_bound(condition: float, factor: float = 1e-6) -> int:
    """The number of iterations after which the CG bound guarantees ||e_k||_A <= factor ||e_0||_A.

    Source: as `cg_bound`. Raises InputError for a factor outside (0, 1) and for a condition number that is not finite.
    """
    if not 0 < factor < 1:
        raise InputError(f"the error reduction factor must be between 0 and 1, got {factor}")
    if not condition < np.inf:
        raise InputError(f"the CG bound needs a finite condition number, got {condition}")
    # log(rate) = -2 artanh(1/sqrt(condition)) stays accurate where the rate itself rounds to 1.
    return 1 if condition <= 1 else int(np.ceil(np.log(factor / 2) / (-2 * np.arctanh(1 / np.sqrt(condition)))))


def lower_bound(history: History, delay: int = 10) -> np.ndarray:
    """Lower bounds of ||e_k||_A for k = 0 .. iterations - delay, shape (iterations - delay + 1,).

    Source: Hestenes and Stiefel 1952. Cost: O(iterations). Raises InputError if the run made fewer iterations than the
    delay.

    Examples:
        >>> from workbench.spectra import lower_bound
        >>> from workbench.run import Run, configure, run_through
        >>> configuration = configure("poisson5", n=8, rhs="ones-scaled", stopping={"norm": "error"})
        >>> history = run_through(Run(configuration)).history
        >>> bool((lower_bound(history, delay=4)[:5] <= history["error"][:5]).all())
        True
    """
    return np.sqrt(_delayed_sums(_error_decreases(history, delay), delay))


def upper_bound(history: History, smallest: float, delay: int = 10) -> np.ndarray:
    """Gauss-Radau upper bounds of ||e_k||_A for k = 0 .. iterations - delay, shape (iterations - delay + 1,); NaN where
    rounding errors leave none, as behind a residual gap.

    smallest: a lower bound of the smallest eigenvalue of M^-1 A. Source: Golub and Meurant 1997; Meurant and Tichy
    2013. Cost: O(iterations). Raises InputError if smallest is not positive, if the run made fewer iterations than the
    delay, or if its method has no beta.

    Examples:
        >>> from workbench.spectra import spectrum, upper_bound
        >>> from workbench.run import Run, configure, run_through
        >>> configuration = configure("poisson5", n=8, rhs="ones-scaled", stopping={"norm": "error"})
        >>> history = run_through(Run(configuration)).history
        >>> bool((upper_bound(history, 0.999 * spectrum(configuration)[0], delay=4)[:5] >= history["error"][:5]).all())
        True
    """
    if not smallest > 0:
        raise InputError(f"the Gauss-Radau bound needs a positive number below the spectrum, got {smallest}")
    decreases = _error_decreases(history, delay)
    alpha, beta = history["alpha"][1:], history["beta"][1:]
    if np.isnan(beta).any():
        raise InputError("this run has no β, which the Gauss-Radau bound needs; use a run of CG")
    natural = history["natural"] ** 2
    # Modified step lengths, which fix a Ritz value at mu: with them the remaining sum is at most radau[k] g_k.
    radau = np.empty(history.count)
    radau[0] = 1 / smallest
    for k in range(alpha.size):
        excess = radau[k] - alpha[k]
        radau[k + 1] = excess / (smallest * excess + beta[k])
    # Positive in exact arithmetic.
    radau[radau < 0] = np.nan
    last = np.arange(delay, history.count)
    return np.sqrt(_delayed_sums(decreases, delay) + radau[last] * natural[last])


def _error_decreases(history: History, delay: int) -> np.ndarray:
    """alpha_j g_j, the decrease of ||e||_A^2 in iteration j + 1."""
    if delay < 1 or history.count - 1 < delay:
        raise InputError(
            f"a delay of {delay} needs at least as many iterations, and at least 1; got {history.count - 1}"
        )
    return history["alpha"][1:] * history["natural"][:-1] ** 2


def _delayed_sums(decreases: np.ndarray, delay: int) -> np.ndarray:
    """Sums over `delay` consecutive entries. Each is computed directly: differences of running sums would cancel."""
    return np.lib.stride_tricks.sliding_window_view(decreases, delay).sum(axis=1)


MAX_ITERATIONS = 1000
"""Iterations for which Ritz values are computed, since their cost grows quadratically."""
RADAU_FACTOR = 0.999
"""Multiple of the computed smallest eigenvalue for the Gauss-Radau bound, which needs a number below the spectrum;
rounding may have made the computed eigenvalue too large."""


@dataclasses.dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of ||e_j||_A from the first k iterations; every array starts at iteration j = 0.

    lower: Hestenes-Stiefel bound, shape (k - delay + 1,), empty for k < delay. upper: Gauss-Radau bound, same shape;
    None without a known smallest eigenvalue. true: shape (k + 1,); None if the solution is unknown. start: the initial
    error, true or estimated from k iterations. bound_so_far: the CG bound with the condition number of the Ritz values,
    shape (k + 1,); bound: with the exact one, or None. Both bounds are scaled by `start`.

    Examples:
        >>> from workbench.spectra import estimates
        >>> from workbench.run import Run, configure, run_through
        >>> found = estimates(run_through(Run(configure("two-layer", n=16))).history, 20)
        >>> found.lower.shape, found.bound_so_far.shape, found.true is None
        ((17,), (21,), True)
    """

    lower: np.ndarray
    upper: np.ndarray | None
    true: np.ndarray | None
    start: float
    bound_so_far: np.ndarray
    bound: np.ndarray | None


def history_up_to(history: History, iteration: int) -> History:
    """A copy of the history up to an iteration, included. The history may grow in another thread meanwhile."""
    arrays = {name: column[: iteration + 1] for name, column in history.to_arrays().items() if name != "true_residuals"}
    confirmed = history.true_residuals
    return History.from_arrays({**arrays, "true_residuals": confirmed[confirmed[:, 0] <= iteration]})


def usable_iterations(history: History) -> int:
    """The number of leading iterations with usable alpha and beta: up to a breakdown, and at most 1000.

    Raises InputError for methods without beta, such as steepest descent.
    """
    done = min(history.count - 1, MAX_ITERATIONS)
    if done < 1:
        return 0
    alpha, beta = history["alpha"][1 : done + 1], history["beta"][1 : done + 1]
    # The Lanczos matrix of k iterations contains beta only up to iteration k - 1.
    good = (alpha > 0) & np.concatenate([[True], beta[:-1] >= 0])
    if np.isnan(beta[0]):
        raise InputError("this run has no β, which Ritz values need; use a run of CG")
    return int(np.argmin(good)) if not good.all() else done


def ritz_columns(history: History, iteration: int, most: int = 48) -> dict[int, np.ndarray]:
    """Ritz values, ascending, of at most `most` evenly spaced iterations up to and including `iteration`.

    Cost: O(most k^2) for k iterations. Raises InputError for iterations that the run has not made.

    Examples:
        >>> from workbench.spectra import ritz_columns
        >>> from workbench.run import Run, configure, run_through
        >>> history = run_through(Run(configure("two-layer", n=16))).history
        >>> {k: values.size for k, values in ritz_columns(history, 20, most=3).items()}
        {20: 20, 13: 13, 6: 6}
    """
    if iteration < 1 or most < 1:
        raise InputError(f"Ritz values need iteration >= 1 and at least 1 column, got {iteration} and {most}")
    every = -(-iteration // most)
    return {k: ritz_values(history, k) for k in range(iteration, 0, -every)}


def nonzero(values: np.ndarray) -> np.ndarray:
    """Ascending eigenvalues without those that are zero up to rounding."""
    return values[values > 10 * values.size * np.finfo(np.float64).eps * values[-1]]


def estimates(history: History, iteration: int, delay: int = 4, exact: np.ndarray | None = None) -> Estimates:
    """Estimates of the error from the iterations up to `iteration`.

    delay: iterations ahead that the bounds use. exact: eigenvalues of the preconditioned operator, if known; zeros are
    ignored. Cost: O(k^2) for the Ritz values of k iterations. Raises InputError if the run has made fewer iterations.

    Examples:
        >>> from workbench.spectra import estimates
        >>> from workbench.run import Run, configure, run_through
        >>> history = run_through(Run(configure("two-layer", n=16))).history
        >>> estimates(history, 20, delay=4).lower.shape
        (17,)
    """
    seen = history_up_to(history, iteration)
    values = ritz_values(seen, iteration)
    known = nonzero(exact) if exact is not None else None
    enough = iteration >= delay
    lower = lower_bound(seen, delay) if enough else np.empty(0)
    upper = None
    if known is not None:
        upper = upper_bound(seen, RADAU_FACTOR * float(known[0]), delay) if enough else np.empty(0)
    # A run that stops by another norm does not measure the error and stores NaN.
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
    """The condition number of each spectrum without its zeros, which after deflation is the effective one."""
    positive = {name: nonzero(values) for name, values in spectra.items()}
    return {name: float(values[-1] / values[0]) for name, values in positive.items()}
