"""Bounds of the A-norm of the error e_k = x* - x_k from the scalars of a run, with a delay of a few iterations.

With g_j = (r_j, u_j) and alpha_j the step of iteration j + 1, ||e_k||_A^2 is the sum of alpha_j g_j over all j >= k.
The sum over the next d iterations, d being the delay, is a lower bound. With a Gauss-Radau term for a number mu
(`smallest`) below the smallest eigenvalue of M^-1 A it becomes an upper bound. With deflation the bounds are for the
error of the deflated system.
"""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError
from workbench.records import History


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
    """Gauss-Radau upper bounds of ||e_k||_A for k = 0 .. iterations - delay, shape (iterations - delay + 1,).

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
