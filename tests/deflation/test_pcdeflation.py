"""PCDEFLATION: the dense formula of DEF2, its counts, singular systems, and what it is not for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import refusal
from workbench.extensions.petsc import library as petsc
from workbench.problems import problem_from_text
from workbench.run import Run, Stopping, configure, run_through

built = pytest.mark.skipif(not petsc.installed(), reason="PETSc is built by `make petsc`")


@built
def test_it_is_the_projected_first_level():
    A = problem_from_text("two-layer:9").assemble().operator.to_csr().toarray()
    Z = np.eye(5)[np.arange(81) // 18]
    inverse = np.diag(1 / A.diagonal())
    made = petsc.Deflation(lambda r, out: np.copyto(out, inverse @ r), sparse.csr_array(Z), sparse.csr_array(A @ Z))
    expected = inverse - Z @ np.linalg.solve(Z.T @ A @ Z, (A @ Z).T @ inverse)
    np.testing.assert_allclose(np.column_stack([made.apply(e) for e in np.eye(81)]), expected, atol=1e-11)


@built
@pytest.mark.parametrize(
    ("problem", "n", "deflation"),
    [("two-layer", 17, "stripes"), ("two-layer", 20, "blocks:3"), ("bubbles-3d", 9, "levelset:2")],
)
def test_counts_and_x_are_those_of_def2(problem, n, deflation):
    choices = {"n": n, "deflation": deflation, "preconditioner": "neumann:1", "stopping": Stopping(rtol=1e-9)}
    theirs, ours = (run_through(Run(configure(problem, variant=name, **choices))) for name in ("pcdeflation", "def2"))
    assert theirs.iterations == ours.iterations
    np.testing.assert_allclose(theirs.x, ours.x, atol=1e-8 * np.abs(ours.x).max())


@built
def test_it_takes_many_right_hand_sides():
    choices = {"n": 16, "deflation": "blocks:2", "rhs": "random:3", "solver": "block-cg"}
    theirs, ours = (
        run_through(Run(configure("two-layer", variant=name, **choices))) for name in ("pcdeflation", "def2")
    )
    assert theirs.converged
    assert theirs.iterations == ours.iterations


@built
@pytest.mark.parametrize("choices", [{"device": "opencl"}, {"deflation": "eigenvectors:3"}])
def test_what_it_is_not_for(choices):
    settings = {"n": 16, "deflation": "blocks:2", "variant": "pcdeflation", **choices}
    assert "variant pcdeflation" in refusal(Run, configure("two-layer", **settings))


def test_without_petsc_a_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(petsc, "installed", lambda: False)
    configuration = configure("two-layer", n=9, deflation="stripes", variant="pcdeflation")
    assert "variant pcdeflation needs PETSc, which is not installed; run `make petsc`" in refusal(Run, configuration)
