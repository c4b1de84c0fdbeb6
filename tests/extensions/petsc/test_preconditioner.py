"""Preconditioners of PETSc: symmetric positive definite, iterations, singular systems, options, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import random_matrix, refusal
from workbench.advise import advise
from workbench.extensions.petsc import library as petsc
from workbench.problems import problem_from_text
from workbench.run import Run, Stopping, configure, run_through, solve

KINDS = ("gamg", "icc", "sor", "jacobi")
built = pytest.mark.skipif(not petsc.installed(), reason="PETSc is built by `make petsc`")


@built
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("problem", ["two-layer:9", "poisson7:5"])
def test_m_is_symmetric_positive_definite(problem, kind):
    csr = sparse.csr_array(problem_from_text(problem).assemble().operator.to_csr())
    M = petsc.Preconditioner(kind, csr)
    dense = np.column_stack([M.apply(column) for column in np.eye(csr.shape[0])])
    np.testing.assert_allclose(dense, dense.T, atol=1e-12 * np.abs(dense).max())
    assert np.linalg.eigvalsh(dense).min() > 0
    if kind == "jacobi":
        np.testing.assert_allclose(dense, np.diag(1 / csr.diagonal()), rtol=1e-14)


@built
@pytest.mark.parametrize("kind", KINDS)
def test_singular_systems_are_solved_without_a_doubt(kind):
    run = Run(configure("bubbles-3d", n=9, preconditioner=f"petsc:{kind}", stopping=Stopping(rtol=1e-9)))
    result = run_through(run)
    expected = run_through(Run(configure("bubbles-3d", n=9, stopping=Stopping(rtol=1e-9)))).x
    np.testing.assert_allclose(result.x, expected, atol=1e-6 * np.abs(expected).max())
    notes = result.provenance["notes"]
    assert f"preconditioner {kind} of PETSc {petsc.version()}" in notes
    assert f"A is singular: petsc:{kind} removes the mean" in notes
    assert not any("symmetric" in note or "definite" in note for note in notes)


@built
def test_gamg_takes_few_iterations_and_options():
    iterations = {
        options: run_through(
            Run(configure("poisson5", n=65, preconditioner=f"petsc:gamg,options={options}"))
        ).iterations
        for options in ("", "-pc_gamg_agg_nsmooths 0")
    }
    assert iterations[""] < 15 < iterations["-pc_gamg_agg_nsmooths 0"]
    assert "petsc:gamg knows no option -pc_gamg_such" in refusal(
        solve, problem_from_text("poisson5:9").assemble().operator, np.ones(81), M="petsc:gamg,options=-pc_gamg_such 1"
    )


@built
def test_petsc_goes_with_deflation_and_with_its_own_methods():
    choices = {"n": 17, "preconditioner": "petsc:icc", "deflation": "stripes"}
    ours, theirs = (run_through(Run(configure("two-layer", **choices, solver=name))) for name in ("cg", "petsc"))
    assert ours.converged
    assert ours.iterations == theirs.iterations


@built
def test_what_this_build_cannot_do_is_refused():
    refused = [
        (random_matrix(20, np.complex128), "petsc:gamg", "this PETSc computes with float64, and A is complex128"),
        (
            random_matrix(20, np.float32),
            "petsc:gamg",
            "preconditioner petsc computes in float64, got a matrix in float32",
        ),
    ]
    if not petsc.library().Sys.hasExternalPackage("hypre"):
        refused.append(
            (random_matrix(20), "petsc:hypre", "this PETSc was built without hypre; use petsc:gamg or amg:sa")
        )
    for A, M, sentence in refused:
        assert refusal(solve, A, np.ones(20, A.dtype), M=M).startswith(sentence)


@pytest.mark.parametrize("installed", [False, pytest.param(True, marks=built)])
def test_the_advisor_tries_gamg_or_says_why_not(monkeypatch, installed):
    monkeypatch.setattr(petsc, "installed", lambda: installed)
    monkeypatch.setitem(sys.modules, "pyamgx", None)
    advice = advise("two-layer", n=16)
    tried = [estimate.pair.preconditioner for estimate in advice.estimates]
    assert ("petsc:gamg" in tried) == installed
    assert installed or "make petsc" in advice.refused["PETSc's GAMG"]
