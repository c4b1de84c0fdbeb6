"""Rounding errors of the coarse solve and their diagnosis (two-level paper, remark on Tables 3 and 4)."""

from workbench.run import Reason, Run, Stopping, configure, run_through


def deflated(coarse, solver="cg", variant="def1"):
    """The result of a deflated run to rtol = 1e-10, E solved by the coarse solver."""
    configuration = configure(
        "bubbles-2d", n=16, count=1, preconditioner="neumann:2", deflation="stripes", coarse=coarse, solver=solver,
        variant=variant, stopping=Stopping(rtol=1e-10),
    )  # fmt: skip
    return run_through(Run(configuration))


def test_cholesky_reaches_a_tolerance_that_the_explicit_inverse_misses():
    assert deflated("cholesky", "fcg").converged
    spoiled = deflated("inverse", "fcg")
    assert not spoiled.converged
    assert spoiled.reason in (Reason.ROUNDING, Reason.DIVERGED, Reason.STAGNATED, Reason.INACCURATE)
    assert (
        "explicit inverse of E may be the cause; try coarse solver cholesky or variant a-def2"
        in spoiled.summary["reason"]
    )


def test_a_def2_tolerates_the_explicit_inverse():
    assert deflated("inverse", "fcg", "a-def2").converged


def test_restarts_from_the_best_iterate_reach_it_all_the_same():
    assert deflated("inverse").converged
