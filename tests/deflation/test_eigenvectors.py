"""Exact eigenvectors of either end of the spectrum, whichever eigensolver finds them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence

from workbench.deflation import eigenvectors
from workbench.deflation.base import DeflationContext
from workbench.devices import device
from workbench.errors import InputError
from workbench.operators import as_operator
from workbench.registry import find
from workbench.run import solve

PLACES = np.random.default_rng(0).random((120, 2))
KERNEL = np.exp(-12 * ((PLACES[:, None] - PLACES) ** 2).sum(axis=2)) + 0.01 * np.eye(120)
"""Its smallest eigenvalues are clustered at 0.01."""
PATH = np.diag(np.linspace(2, 5, 60)) - np.eye(60, k=1) - np.eye(60, k=-1)


def fails(*_, **__):
    raise ArpackNoConvergence("ARPACK error -1: No convergence", np.empty(0), np.empty((0, 0)))


def never(*_, **__):
    raise AssertionError("ARPACK was asked, where a dense eigensolver is to be taken at once")


def space(A, of, count=4, end="smallest"):
    operator, cores = as_operator(sparse.csr_array(A)), device()
    M = find("preconditioner", "jacobi").setup(operator, cores)
    block = find("deflation", "eigenvectors", count=count, of=of, end=end)
    return block.space(DeflationContext(operator, operator.bind(cores), M, cores)).vectors


@pytest.mark.parametrize("end", ["smallest", "largest"])
@pytest.mark.parametrize("of", ["A", "D^-1 A"])
@pytest.mark.parametrize("solver", ["dense", "ARPACK", "ARPACK that fails"])
def test_the_span_is_that_of_the_end_that_is_asked_for(end, of, solver, monkeypatch):
    if solver != "dense":
        monkeypatch.setattr(eigenvectors, "SMALL", 0)
        monkeypatch.setattr(eigenvectors, "FULL", 2)
    if solver != "ARPACK":
        monkeypatch.setattr(eigenvectors.linalg, "eigsh", never if solver == "dense" else fails)
    found = space(PATH, of, end=end)
    places = (0, 3) if end == "smallest" else (56, 59)
    _, wanted = linalg.eigh(PATH, np.diag(np.diag(PATH)) if of != "A" else None, subset_by_index=places)
    assert linalg.subspace_angles(found, wanted).max() < 1e-8


def test_the_largest_are_the_ones_that_a_kernel_needs():
    b = np.random.default_rng(1).standard_normal(120)
    counts = {end: solve(KERNEL, b, deflation=f"eigenvectors:20,end={end}") for end in ("smallest", "largest")}
    assert all(found.converged for found in counts.values())
    assert 3 * counts["largest"].iterations < counts["smallest"].iterations


@pytest.mark.parametrize("count", [2, 30])
def test_a_kernel_with_clustered_eigenvalues(count, monkeypatch):
    monkeypatch.setattr(eigenvectors.linalg, "eigsh", never)
    b = np.random.default_rng(1).standard_normal(120)
    # A full matrix beyond the first limit.
    monkeypatch.setattr(eigenvectors, "SMALL", 100)
    assert solve(KERNEL, b, deflation=f"eigenvectors:{count}").converged


def test_where_nothing_finds_them_one_sentence_says_so(monkeypatch):
    for name in ("SMALL", "MOST_DENSE"):
        monkeypatch.setattr(eigenvectors, name, 10)
    monkeypatch.setattr(eigenvectors.linalg, "eigsh", fails)
    with pytest.raises(InputError, match=r"ARPACK finds no 4 smallest eigenvectors of these 60 unknowns, .* ritz$"):
        space(PATH, "A")


@pytest.mark.parametrize("size", [1, 2])
def test_too_few_unknowns_for_any_vector(size):
    with pytest.raises(InputError, match="leave nothing to CG; use deflation none"):
        solve(np.eye(size), np.ones(size), deflation="eigenvectors:1")
