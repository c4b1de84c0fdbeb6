"""CG on a matrix given by its eigenvalues: the residual polynomial, its zeros, and the error, exact or rounded.

After k iterations r_k = p_k(A) r_0, where p_k has degree k and p_k(0) = 1; its zeros are the Ritz values (Saad 2003,
section 6.6.2). A is diagonal here, and b has the same part in every eigenvector unless it is given.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from scipy import linalg

from workbench.errors import InputError
from workbench.run.jobs.recycling import lanczos_entries
from workbench.words.numbers import chosen

MOST = 60
"""Eigenvalues of a spectrum."""
LEAST, LARGEST = 1e-6, 1e6
"""Eigenvalues."""
FEWEST = 4
"""Eigenvalues of one of `SPECTRA`."""
TINY, DENSE = "one tiny eigenvalue (a bubble)", "dense at the lower end (Strakoš)"
FORMER = {"one tiny, as of a bubble": TINY, "dense below, as of Strakoš": DENSE}
"""Former names of `SPECTRA`, which notebooks of users may have."""
SPECTRA: dict[str, Callable[[int], np.ndarray]] = {
    "evenly spread": lambda n: np.linspace(1, 100, n),
    "a grid in one dimension": lambda n: 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1)),
    "three clusters": lambda n: np.sort(np.array([1.0, 30.0, 100.0])[np.arange(n) % 3] * (1 + 1e-4 * np.arange(n))),
    "three outliers above": lambda n: np.append(np.linspace(1, 2, n - 3), [20, 50, 100]),
    TINY: lambda n: np.append(1e-3, np.linspace(0.5, 2, n - 1)),
    DENSE: lambda n: 0.1 + np.linspace(0, 1, n) * 99.9 * 0.7 ** np.arange(n - 1.0, -1, -1),
}
"""Spectra of n eigenvalues; the last loses orthogonality early (Strakoš 1991, with rho = 0.7)."""
EXACT, PRECISIONS = "exact", ("float64", "float32")
"""Arithmetic: without rounding errors as far as double precision goes, or CG as it is computed in a precision."""
DONE = 1e-14
"""The share of ||r_0|| at which no residual is left in double precision."""


@dataclasses.dataclass(frozen=True, eq=False)
class Recurrence:
    """alpha, beta: of k iterations, shape (k,). error: ||e_j||_A / ||e_0||_A of the iterates, shape (k + 1,). true:
    ||b - A x_j|| / ||b||, shape (k + 1,). residuals: r_j as columns, shape (n, k + 1)."""

    alpha: np.ndarray
    beta: np.ndarray
    error: np.ndarray
    true: np.ndarray
    residuals: np.ndarray

    @property
    def iterations(self) -> int:
        """Iterations that were made."""
        return self.alpha.size

    def ritz(self, iteration: int) -> np.ndarray:
        """The Ritz values, ascending, shape (iteration,): the zeros of the residual polynomial."""
        if iteration == 0:
            return np.empty(0)
        entries = lanczos_entries(self.alpha[:iteration], self.beta[:iteration])
        return np.asarray(linalg.eigvalsh_tridiagonal(*entries))

    def polynomial(self, iteration: int, at: np.ndarray) -> np.ndarray:
        """p_k at some numbers, by the recurrence of r and p of CG. Cost: 5 k flops for each number."""
        residual = direction = np.ones(np.shape(at))
        for alpha, beta in zip(self.alpha[:iteration], self.beta[:iteration], strict=True):
            residual = residual - alpha * at * direction
            direction = residual + beta * direction
        return residual

    def iterations_to(self, error: float) -> int | None:
        """Iterations until the error is this share of ||e_0||_A; None if it never is."""
        met = np.flatnonzero(self.error <= error)
        return int(met[0]) if met.size else None


def checked_spectrum(eigenvalues: Sequence[float] | np.ndarray) -> np.ndarray:
    """Eigenvalues as an array, shape (n,). Raises InputError for none, for more than 60, and for one out of bounds."""
    try:
        values = np.array(eigenvalues, float).reshape(-1)
    except (TypeError, ValueError):
        raise InputError("eigenvalues are numbers, as in 1, 2, 10") from None
    if not 1 <= values.size <= MOST:
        raise InputError(f"a spectrum has 1 to {MOST} eigenvalues, got {values.size}")
    wrong = values[~((values >= LEAST) & (values <= LARGEST))]
    if wrong.size:
        raise InputError(f"eigenvalues are between {chosen(LEAST)} and {chosen(LARGEST)}, got {float(wrong[0])!r}")
    return values


def cg_on(
    eigenvalues: Sequence[float] | np.ndarray,
    iterations: int | None = None,
    arithmetic: str = EXACT,
    b: np.ndarray | None = None,
) -> Recurrence:
    """CG from x_0 = 0 on the diagonal matrix of these eigenvalues.

    iterations: at most; by default the number of eigenvalues. It ends where no residual is left. arithmetic: "exact"
    makes each residual orthogonal to all before it, twice; "float64" and "float32" are CG as it is computed. b: shape
    (n,), by default (1, ..., 1). Cost: 8 n k^2 flops. Raises InputError for another arithmetic and as
    `checked_spectrum` does.
    """
    if arithmetic not in (EXACT, *PRECISIONS):
        raise InputError(f"arithmetic is {EXACT}, {' or '.join(PRECISIONS)}, got {arithmetic}")
    values = checked_spectrum(eigenvalues)
    exact = arithmetic == EXACT
    dtype = np.float64 if exact else np.dtype(arithmetic)
    A, b = values.astype(dtype), np.ones(values.size, dtype) if b is None else b.astype(dtype)
    most = values.size if iterations is None else iterations
    x, r = np.zeros_like(b), b.copy()
    p, gamma = r, r @ r
    alphas, betas, iterates, residuals = [], [], [x], [r]
    basis = np.empty((most + 1, b.size))
    for k in range(most):
        if not gamma > (DONE * DONE) * (b @ b):
            break
        basis[k] = r / np.sqrt(gamma)
        s = A * p
        alpha = gamma / (p @ s)
        x, r = x + alpha * p, r - alpha * s
        if exact:
            known = basis[: k + 1]
            for _ in range(2):
                r = r - known.T @ (known @ r)
        before, gamma = gamma, r @ r
        beta = gamma / before
        p = r + beta * p
        for kept, new in ((alphas, alpha), (betas, beta), (iterates, x), (residuals, r)):
            kept.append(new)
    X = np.array(iterates, float).T
    errors = (b / values)[:, None] - X
    energies = np.sqrt(np.sum(values[:, None] * errors**2, axis=0))
    true = np.linalg.norm(b[:, None] - values[:, None] * X, axis=0) / np.linalg.norm(b)
    return Recurrence(
        np.array(alphas, float), np.array(betas, float), energies / energies[0], true, np.array(residuals).T
    )
