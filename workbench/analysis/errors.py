"""Estimates of the A-norm of the error from the scalars of a run, with a delay of a few iterations.

With g_j = (r_j, u_j) and alpha_j the step of iteration j + 1, ||e_k||_A^2 is the sum of alpha_j g_j over all j >= k
(Hestenes and Stiefel 1952). The sum over the next d iterations is a lower bound; adding a Gauss-Radau term with a
number mu below the smallest eigenvalue makes it an upper one (Golub and Meurant 1997; Meurant and Tichy 2013).
Under deflation the error meant is that of the deflated system.
"""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError
from workbench.recording import History


def lower_bound(history: History, delay: int = 10) -> np.ndarray:
    """Lower bounds of ||e_k||_A for k = 0 .. iterations - delay, shape (iterations - delay + 1,).

    Raises InputError when the run made fewer iterations than the delay.
    """
    energy = _energies(history, delay)
    return np.sqrt(_windows(energy, delay))


def upper_bound(history: History, smallest: float, delay: int = 10) -> np.ndarray:
    """Gauss-Radau upper bounds of ||e_k||_A for the same k, given a number not above the smallest eigenvalue of M^-1 A.

    Raises InputError when that number is not positive, when the run made fewer iterations than the delay, or when its
    method has no beta.
    """
    if not smallest > 0:
        raise InputError(f"the Gauss-Radau bound needs a positive number below the spectrum, got {smallest}")
    energy = _energies(history, delay)
    alpha, beta = history["alpha"][1:], history["beta"][1:]
    if np.isnan(beta).any():
        raise InputError("this run has no beta, which the Gauss-Radau bound needs; take a run of cg")
    natural = history["natural"] ** 2
    radau = np.empty(history.count)
    radau[0] = 1 / smallest
    for k in range(alpha.size):
        excess = radau[k] - alpha[k]
        radau[k + 1] = excess / (smallest * excess + beta[k])
    last = np.arange(delay, history.count)
    return np.sqrt(_windows(energy, delay) + radau[last] * natural[last])


def _energies(history: History, delay: int) -> np.ndarray:
    """alpha_j g_j, the drop of ||e||_A^2 in iteration j + 1."""
    if delay < 1 or history.count - 1 < delay:
        raise InputError(
            f"a delay of {delay} needs at least as many iterations, and at least 1; got {history.count - 1}"
        )
    return history["alpha"][1:] * history["natural"][:-1] ** 2


def _windows(energy: np.ndarray, delay: int) -> np.ndarray:
    """Sums over `delay` entries from each place on. Summed afresh: differences of running sums would cancel."""
    return np.lib.stride_tricks.sliding_window_view(energy, delay).sum(axis=1)
