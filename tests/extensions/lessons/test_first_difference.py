"""Where two methods first differ: the iteration and the line that was changed."""

from __future__ import annotations

import math

import pytest

from workbench.extensions.lessons.first_difference import first_difference
from workbench.run import configure, user_solver
from workbench.solvers.cg import CG
from workbench.solvers.user_defined import tidied
from workbench.stepping.line_by_line import walk

LINES = tidied(CG.iterate)


def moments(solver, iterations=20):
    return walk(configure("two-layer", n=7, solver=solver), iterations, 1e-6)


@pytest.mark.parametrize(
    ("line", "wrong", "iteration"),
    [
        ("r = r - alpha*s", "r = r - 0.9*alpha*s", 2),
        ("beta = gamma/previous", "beta = 0.9*gamma/previous", 2),
        ("x = x + alpha*p", "x = x - alpha*p", 1),
    ],
)
def test_the_changed_line_is_named(line, wrong, iteration):
    found = first_difference(moments("cg"), moments(user_solver("wrong", iteration=LINES.replace(line, wrong))))
    assert (found.iteration, found.line) == (iteration, wrong)
    # Of r only a tenth of the step is missing, of beta a tenth, and x is taken away where it is added to a small start.
    assert found.relative == pytest.approx({"beta": 0.1, "x": 2.0}.get(line.split()[0], found.relative), rel=1e-3)


@pytest.mark.parametrize("solver", ["cgcg", "gropp", "pipecg", "fcg"])
def test_methods_of_the_family_do_not_part(solver):
    assert first_difference(moments("cg"), moments(solver)) is None


def test_a_method_that_breaks_down_parts_there():
    whole = moments("cg")
    found = first_difference(whole, whole[:4])
    assert (found.iteration, found.line, found.reached) == (4, "", False)
    assert math.isnan(found.relative)


def test_the_line_that_leads_to_a_breakdown_is_named():
    """γ below zero ends a method, which has the x of CG until then."""
    ended = LINES.replace("gamma = (r, u)", "gamma = (r, u)\ngamma = 0 - gamma")
    found = first_difference(moments("cg"), moments(user_solver("ended", iteration=ended)))
    assert (found.iteration, found.line, found.at, found.reached) == (2, "gamma = (r, u)", 1, False)
    assert found.relative == pytest.approx(2)
