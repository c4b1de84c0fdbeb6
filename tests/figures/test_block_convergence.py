"""The figure of a run with many right-hand sides."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.figures import block_convergence, rank_and_pivot
from workbench.problems import LinearSystem
from workbench.run import Run, configure, run_through
from workbench.run.in_memory import InMemoryProblem


def result_of(rhs="random:5", **chosen):
    return run_through(Run(configure("poisson5", n=9, rhs=rhs, **{"solver": "block-cg", **chosen})))


@pytest.mark.parametrize("solver", ["block-cg", "pseudo-block-cg"])
@pytest.mark.parametrize("s", [1, 5])
def test_the_curves_are_those_of_the_history(solver, s):
    result = result_of(f"random:{s}", solver=solver)
    (axes,) = block_convergence(result.record(), tolerance=1e-6).axes
    drawn = [line.get_ydata() for line in axes.get_lines()]
    assert len(drawn) == s + 2
    for j in range(s):
        np.testing.assert_array_equal(drawn[j], result.history.columns[:, j])
    np.testing.assert_array_equal(drawn[s], result.history["residual"])
    assert axes.get_ylabel() == "relative residual ‖rⱼ‖ / ‖bⱼ‖"
    assert axes.get_xlabel() == "iteration k"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("draw", [block_convergence, rank_and_pivot])
def test_a_zero_column_and_all_zero_columns_are_drawn(draw):
    operator = configure("poisson5", n=9).problem.assemble(0).operator
    B = np.zeros((81, 3))
    for _ in range(2):
        result = run_through(Run(configure(InMemoryProblem(), solver="block-cg"), LinearSystem(operator, B)))
        draw(result.record()).canvas.draw()
        B = B + np.array([1.0, 0.0, 2.0])


def test_a_run_with_one_right_hand_side_is_refused():
    with pytest.raises(InputError, match="several right-hand sides"):
        block_convergence(result_of("ones", solver="cg").record())
