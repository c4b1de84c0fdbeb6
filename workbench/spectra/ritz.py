"""Ritz values, effective condition number and the CG bound, from alpha and beta of a run.

CG is equivalent to the Lanczos process: its scalars define a tridiagonal matrix whose eigenvalues, the Ritz values,
approximate those of M^-1 A (with deflation, the non-zero ones of M^-1 P A).
"""

from __future__ import annotations

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
