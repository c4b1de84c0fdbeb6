"""Figures of runs with many right-hand sides against their histories."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.figures import block_comparison, block_convergence, column_heatmap, rank_and_pivot
from workbench.figures.block_runs import products
from workbench.problems import LinearSystem
from workbench.recording import BlockHistory
from workbench.run import Run, configure, run_through
from workbench.run.in_memory import InMemoryProblem

RTOL = 1e-6


def record_of(s=5, *, solver="block-cg", zero=None):
    operator = configure("poisson5", n=9).problem.assemble(0).operator
    B = np.random.default_rng(0).standard_normal((81, s))
    if zero is not None:
        B[:, zero] = 0
    return run_through(Run(configure(InMemoryProblem(), solver=solver), LinearSystem(operator, B))).record()


def single_of():
    return run_through(Run(configure("poisson5", n=9, solver="cg"))).record()


def test_an_iteration_multiplies_every_column():
    history = record_of(5).history
    np.testing.assert_array_equal(products(history), 5 * np.arange(history.count))


def test_a_chunk_multiplies_its_own_columns_only():
    history = BlockHistory(3)
    for row, begun in (([1, 1, np.nan], 2), ([0.5, 0.5, np.nan], 2), ([0.5, 0.5, 1], 3), ([0.5, 0.5, 0.1], 3)):
        history.append_block(np.array(row), 2, np.nan, 0.0, begun)
    np.testing.assert_array_equal(products(history), [0, 2, 2, 3])


def test_convergence_against_products():
    record = record_of(3)
    (axes,) = block_convergence(record, against="products").axes
    for line in axes.get_lines():
        np.testing.assert_array_equal(line.get_xdata(), 3 * np.arange(record.history.count))
    assert axes.get_xlabel() == "columns multiplied by A"
    assert axes.get_title().endswith("block-cg + jacobi, s = 3")


def test_an_unknown_axis_is_refused():
    with pytest.raises(InputError, match="iterations or products"):
        block_convergence(record_of(), against="seconds")


@pytest.mark.parametrize(("s", "zero"), [(1, None), (5, None), (7, 3)])
def test_cells_are_logarithms_and_hatches_are_the_converged(s, zero):
    record = record_of(s, zero=zero)
    axes, bar = column_heatmap(record, tolerance=RTOL).axes
    relative = record.history.columns.T
    cells = axes.images[0].get_array()
    assert cells.shape == relative.shape
    positive = relative > 0
    np.testing.assert_allclose(cells[positive], np.maximum(np.log10(relative[positive]), -16))
    assert axes.images[0].get_clim()[0] == cells[positive].min()
    hatched = sum(patch.get_width() for patch in axes.patches)
    assert hatched == (relative <= RTOL).sum() > 0
    if zero is not None:
        assert (cells[zero] == -16).all()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("iteration k", "column j")
    assert "log₁₀" in bar.get_ylabel()


@pytest.mark.parametrize("s", [1, 5])
def test_rank_and_pivot_are_those_of_the_history(s):
    record = record_of(s)
    above, below = rank_and_pivot(record).axes
    np.testing.assert_array_equal(above.get_lines()[0].get_ydata(), record.history.rank)
    np.testing.assert_array_equal(below.get_lines()[0].get_ydata(), record.history.pivot)
    assert below.get_yscale() == "log"
    assert above.get_shared_x_axes().joined(above, below)
    assert (above.get_ylabel(), below.get_xlabel()) == ("rank (columns)", "iteration k")


def test_a_method_without_pivots_says_so():
    below = rank_and_pivot(record_of(solver="pseudo-block-cg")).axes[1]
    assert not below.get_lines()
    assert [text.get_text() for text in below.texts] == ["this method has no pivots"]


def test_single_columns_add_their_products():
    block, single = record_of(2), single_of()
    left, right = block_comparison({"block": block, "single": [single, single]}).axes
    np.testing.assert_array_equal(right.get_lines()[0].get_xdata(), 2 * np.arange(block.history.count))
    k = np.arange(single.history.count)
    np.testing.assert_array_equal(left.get_lines()[1].get_xdata(), k)
    np.testing.assert_array_equal(right.get_lines()[1].get_xdata(), 2 * k)
    np.testing.assert_array_equal(left.get_lines()[0].get_ydata(), block.history["residual"])


def test_an_empty_comparison_is_refused():
    for runs in ({}, {"none": []}):
        with pytest.raises(InputError, match="at least one run"):
            block_comparison(runs)


@pytest.mark.parametrize("draw", [rank_and_pivot, lambda record: column_heatmap(record, tolerance=RTOL)])
def test_a_run_with_one_right_hand_side_is_refused(draw):
    with pytest.raises(InputError, match="several right-hand sides"):
        draw(single_of())
