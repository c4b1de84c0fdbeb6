"""Combinations of a first level and a coarse solver: those that cannot work are refused, the others converge."""

import pytest

from workbench.errors import InputError
from workbench.run import Run, configure, run_through

RECURRING = ["pipecg", "pipecg-rr", "gropp", "pr-cg", "pipe-pr-cg"]
"""Methods that update M^-1 r by a recurrence."""


@pytest.mark.parametrize("solver", RECURRING)
@pytest.mark.parametrize(
    "levels",
    [
        {"preconditioner": "jacobi", "deflation": "blocks:16", "coarse": "multilevel:bottom=10"},
        {"preconditioner": "jacobi", "deflation": "blocks:16", "coarse": "inner-cg:1e-3"},
        {"preconditioner": "mg", "deflation": "none"},
        {"preconditioner": "schwarz:2x2,precision=float32", "deflation": "none"},
        {"preconditioner": "jacobi + schwarz:2x2,precision=float32", "deflation": "none"},
    ],
    ids=["multilevel", "inner-cg", "mg", "schwarz", "sum"],
)
def test_an_m_that_is_linear_to_few_digits_is_refused(solver, levels):
    variant = {"variant": "a-def2"} if levels["deflation"] != "none" else {}
    with pytest.raises(InputError, match=r"updates M\^-1 r by a recurrence.*use solver cg or cgcg"):
        Run(configure("poisson5", n=64, solver=solver, **levels, **variant))


def test_auto_takes_an_exact_coarse_solver_for_them():
    run = Run(configure("bubbles-3d", n=16, solver="pipecg", preconditioner="jacobi", deflation="levelset:8"))
    assert run.setup.projection.exact


@pytest.mark.parametrize("problem", ["poisson5", "bubbles-2d"])
@pytest.mark.parametrize("preconditioner", ["none", "schwarz:2x2 + jacobi"])
def test_any_first_level_is_as_large_as_the_second(problem, preconditioner):
    """M^-1 = I is as large as A next to Q, and an approximate E^-1 then leaves what Q cannot repair."""
    coarse = "multilevel:bottom=10" if preconditioner == "none" else "multilevel:v,bottom=2"
    deflation = {"poisson5": "blocks:16", "bubbles-2d": "levelset:16"}[problem]
    run = Run(
        configure(problem, n=32, preconditioner=preconditioner, deflation=deflation, coarse=coarse, variant="a-def2",
                  stopping={"rtol": 1e-6, "maxiter": 400})
    )  # fmt: skip
    assert run_through(run).converged


@pytest.mark.parametrize(("contrast", "x0"), [(1e6, "random"), (1e9, "zero"), (1e9, "random")])
def test_heavy_bubbles_converge_with_level_set_vectors(contrast, x0):
    chosen = {"preconditioner": "neumann:2", "deflation": "levelset:4", "rhs": "random", "x0": x0}
    result = run_through(Run(configure("bubbles-2d", n=24, count=4, contrast=contrast, **chosen)))
    assert result.converged, result.detail
    assert result.iterations < 200


@pytest.mark.parametrize(("contrast", "deflation"), [(1e-7, "none"), (1e-7, "levelset:3"), (1e7, "levelset:3")])
def test_precision_mixed_bears_contrasts_beyond_single_precision(contrast, deflation):
    chosen = {"preconditioner": "neumann:2", "deflation": deflation, "x0": "zero", "precision": "mixed"}
    assert run_through(Run(configure("two-layer", n=13, contrast=contrast, **chosen))).converged


def test_boxes_across_jumps_are_no_levels():
    chosen = {"preconditioner": "jacobi", "deflation": "blocks:6", "sides": "dirichlet", "variant": "a-def2"}
    with pytest.raises(InputError, match=r"leaves \d+% of some errors for this E.*use coarse solver sparse"):
        Run(configure("bubbles-2d", n=24, count=4, contrast=1e-6, coarse="multilevel:bottom=2", **chosen))
