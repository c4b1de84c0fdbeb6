"""The figure of a run with many right-hand sides."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.figures.block_convergence import block_convergence
from workbench.problems import LinearSystem
from workbench.run import configure, run_through, start_run
from workbench.run.in_memory import InMemoryProblem


def result_of(rhs="random:5", **chosen):
    return run_through(start_run(configure("poisson5", n=9, rhs=rhs, **{"solver": "block-cg", **chosen})))


@pytest.mark.parametrize("solver", ["block-cg", "pseudo-block-cg"])
@pytest.mark.parametrize("s", [1, 5])
def test_the_curves_are_those_of_the_history(solver, s):
    result = result_of(f"random:{s}", solver=solver)
    (axes,) = block_convergence(result.record(), tolerance=1e-6).axes
    drawn = axes.get_lines()
    assert len(drawn) == 2 * s + 2
    for j in range(s):
        np.testing.assert_array_equal(drawn[j].get_ydata(), result.history.columns[:, j])
    np.testing.assert_array_equal(drawn[s].get_ydata(), result.history["residual"])
    assert axes.get_ylabel() == "relative residual ‖rⱼ‖ / ‖bⱼ‖"
    assert axes.get_xlabel() == "iteration k"


def test_the_curve_of_a_column_is_named_for_tooltips():
    result = result_of("random:3")
    (axes,) = block_convergence(result.record()).axes
    named = [line for line in axes.get_lines() if line.get_gid()]
    assert [line.get_gid() for line in named] == ["column 0", "column 1", "column 2"]
    for j, line in enumerate(named):
        np.testing.assert_array_equal(line.get_ydata(), result.history.columns[:, j])


def test_the_history_of_a_run_that_goes_on_is_drawn():
    run = start_run(configure("poisson5", n=9, rhs="random:4", solver="block-cg"))
    for _ in range(5):
        run.step()
    (axes,) = block_convergence(run.history.present()).axes
    assert axes.get_title() == "s = 4"
    assert len(axes.get_lines()[0].get_xdata()) == 5


@pytest.mark.filterwarnings("error")
def test_a_zero_column_and_all_zero_columns_are_drawn():
    operator = configure("poisson5", n=9).problem.assemble(0).operator
    B = np.zeros((81, 3))
    for _ in range(2):
        result = run_through(start_run(configure(InMemoryProblem(), solver="block-cg"), LinearSystem(operator, B)))
        block_convergence(result.record()).canvas.draw()
        B = B + np.array([1.0, 0.0, 2.0])


def test_a_run_with_one_right_hand_side_is_refused():
    with pytest.raises(InputError, match="several right-hand sides"):
        block_convergence(result_of("ones", solver="cg").record())
