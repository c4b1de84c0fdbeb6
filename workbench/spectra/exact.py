"""Exact spectra of A, M^-1 A and M^-1 P A for small problems, eigenvectors, and M^-1 v for a vector v."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
from scipy import linalg

from workbench.arrays.validation import cast, finite_vector
from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.preconditioners import ElementWise, Preconditioner
from workbench.problems import LinearSystem
from workbench.registry import find
from workbench.run import Configuration
from workbench.run.choices.share_link import check_registered
from workbench.run.setup.prepare import prepare
from workbench.run.setup.solve_setup import SolveSetup
from workbench.settings import AUTO

LARGEST = 4096
KEPT = 32
"""Spectra that are kept, at most 32 kB each: the pictures of a lesson, and its judges, ask for some again."""


def spectrum(configuration: Configuration, system: LinearSystem | None = None) -> np.ndarray:
    """Eigenvalues, ascending, shape (N,), of a configuration's operator: M^-1 A, or M^-1 P A for deflation with DEF1.

    Deflation gives one zero per deflation vector. system: used instead of assembling the problem.

    Cost: 10 N^3 flops and 24 N^2 bytes; nothing for one of the last `KEPT`, of registered blocks alone. Raises
    InputError for more than 4096 unknowns and for variants other than def1, whose preconditioners are not Hermitian;
    auto is def1 here.

    Examples:
        >>> from workbench.spectra import spectrum
        >>> from workbench.run import configure
        >>> values = spectrum(configure("two-layer", n=8, deflation="blocks:2"))
        >>> values.shape, int((abs(values) < 1e-10).sum())
        ((64,), 4)
    """
    if system is None and _is_registered(configuration):
        return _kept(configuration).copy()
    return linalg.eigvalsh(_symmetric(configuration, system)[0])


def _is_registered(configuration: Configuration) -> bool:
    """False for blocks made of arrays in memory, which may change in place."""
    try:
        check_registered(configuration)
    except InputError:
        return False
    return True


@functools.lru_cache(maxsize=KEPT)
def _kept(configuration: Configuration) -> np.ndarray:
    return linalg.eigvalsh(_symmetric(configuration, None)[0])


def eigenvectors(
    configuration: Configuration, count: int, system: LinearSystem | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The smallest eigenvalues as of `spectrum`, ascending, shape (k,), and their eigenvectors, shape (N, k).

    The largest entry of each is 1. Cost and errors: as of `spectrum`, with k = count, at most N.

    Examples:
        >>> from workbench.spectra import eigenvectors
        >>> from workbench.run import configure
        >>> values, vectors = eigenvectors(configure("bubbles-2d", n=8), 5)
        >>> vectors.shape, int((values < 1e-3).sum())
        ((64, 5), 4)
    """
    if count < 1:
        raise InputError(f"count must be at least 1, got {count}")
    symmetric, root = _symmetric(configuration, system)
    values, vectors = linalg.eigh(symmetric, subset_by_index=(0, min(count, len(symmetric)) - 1))
    # With M^-1 = L L^H, L^H A L y = lambda y gives M^-1 A (L y) = lambda L y.
    vectors = root @ vectors
    return values, vectors / vectors[np.abs(vectors).argmax(axis=0), np.arange(values.size)]


def preconditioned(configuration: Configuration, v: np.ndarray) -> np.ndarray:
    """M^-1 v of a configuration, with its second level if it has one. v: shape (N,). Cost: a setup.

    Raises InputError for a v of another shape, with NaN or infinity, or complex where the problem is real.

    Examples:
        >>> import numpy as np
        >>> from workbench.spectra import preconditioned
        >>> from workbench.run import configure
        >>> preconditioned(configure("poisson5", n=2, preconditioner="jacobi"), np.ones(4)).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """
    setup = prepare(configuration)
    size, dtype = setup.operator.shape[0], setup.operator.dtype
    given, out = cast(finite_vector(v, "v", size), dtype, "v"), setup.device.zeros(size, dtype)
    _first(setup).apply(setup.device.array(given, dtype), out)  # pyright: ignore[reportAttributeAccessIssue]
    return setup.device.to_host(out)


def _symmetric(configuration: Configuration, system: LinearSystem | None) -> tuple[np.ndarray, np.ndarray]:
    """L^H A L, which has the eigenvalues of M^-1 A, and L, where M^-1 = L L^H. Both are dense."""
    if configuration.variant.name == AUTO:
        configuration = dataclasses.replace(configuration, variant="def1")
    if configuration.deflation.name != "none" and configuration.variant.name != "def1":
        raise InputError(f"spectra are not available for variant {configuration.variant.name}; use def1")
    setup = prepare(configuration, system)
    size = setup.operator.shape[0]
    if size > LARGEST:
        raise InputError(
            f"exact spectra need dense matrices, with at most {LARGEST} unknowns, got {size}; use Ritz values"
        )
    matrix = _columns(setup, setup.A)
    if (empty := setup.null_space.empty) is not None:
        # The entries that the run has there are none of A.
        matrix[empty] = matrix[:, empty] = 0
    inverse = _columns(setup, _first(setup))
    root = linalg.cholesky((inverse + inverse.conj().T) / 2, lower=True)
    symmetric = root.conj().T @ matrix @ root
    return (symmetric + symmetric.conj().T) / 2, root


def spectra(configuration: Configuration, system: LinearSystem | None = None) -> dict[str, np.ndarray]:
    """Eigenvalues before and after each level: "A", "M^-1 A" and, with deflation, "M^-1 P A".

    system, cost and errors: as of `spectrum`, for each.

    Examples:
        >>> from workbench.spectra import spectra
        >>> from workbench.run import configure
        >>> found = spectra(configure("two-layer", n=8, deflation="blocks:2"))
        >>> {name: values.size for name, values in found.items()}
        {'A': 64, 'M^-1 A': 64, 'M^-1 P A': 64}
    """
    identity, no_deflation = find("preconditioner", "none"), find("deflation", "none")
    assert isinstance(identity, Preconditioner)
    assert isinstance(no_deflation, Deflation)
    one_level = dataclasses.replace(configuration, deflation=no_deflation)
    no_level = dataclasses.replace(one_level, preconditioner=identity)
    found = {"A": spectrum(no_level, system), "M^-1 A": spectrum(one_level, system)}
    if configuration.deflation.name != "none":
        found["M^-1 P A"] = spectrum(configuration, system)
    return found


def _first(setup: SolveSetup) -> object:
    """M^-1 as an operator that is applied."""
    M = setup.M
    size, dtype = setup.operator.shape[0], setup.operator.dtype
    return setup.device.applied(M, size, dtype) if isinstance(M, ElementWise) else M


def _columns(setup: SolveSetup, operator: object) -> np.ndarray:
    """An operator as a dense matrix, by applying it to unit vectors."""
    size, dtype = setup.operator.shape[0], setup.operator.dtype
    dense = np.empty((size, size), dtype)
    unit, column = np.zeros(size, dtype), setup.device.zeros(size, dtype)
    for k in range(size):
        unit[k] = 1
        operator.apply(setup.device.array(unit, dtype), column)  # pyright: ignore[reportAttributeAccessIssue]
        unit[k] = 0
        dense[:, k] = setup.device.to_host(column)
    return dense
