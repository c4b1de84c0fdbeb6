"""What pictures of runs with many right-hand sides show, against their histories."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.plots.figures import draw
from workbench.plots.scenes import columns_scene, comparison_scenes, products_scene, rank_scenes
from workbench.plots.scenes.block import FLOOR, products
from workbench.problems import LinearSystem
from workbench.records import BlockHistory
from workbench.run import Run, configure, run_through
from workbench.run.choices.in_memory import InMemoryProblem

RTOL = 1e-6


def record_of(s=5, *, solver="block-cg", zero=()):
    operator = configure("poisson5", n=9).problem.assemble(0).operator
    B = np.random.default_rng(0).standard_normal((81, s))
    B[:, list(zero)] = 0
    return run_through(Run(configure(InMemoryProblem(), solver=solver), LinearSystem(operator, B))).record()


def single_of():
    return run_through(Run(configure("poisson5", n=9, solver="cg"))).record()


def test_an_iteration_multiplies_every_column():
    history = record_of(5).history
    np.testing.assert_array_equal(products(history.columns), 5 * np.arange(history.count))


def test_a_chunk_multiplies_its_own_columns_only():
    history = BlockHistory(3)
    for row, begun in (([1, 1, np.nan], 2), ([0.5, 0.5, np.nan], 2), ([0.5, 0.5, 1], 3), ([0.5, 0.5, 0.1], 3)):
        history.append_block(np.array(row), 2, np.nan, 0.0, begun)
    np.testing.assert_array_equal(products(history.columns), [0, 2, 2, 3])


@pytest.mark.parametrize("solver", ["block-cg", "pseudo-block-cg"])
@pytest.mark.parametrize("s", [1, 5])
def test_the_curves_are_those_of_the_history(solver, s):
    record = record_of(s, solver=solver)
    *columns, largest, _tolerance = products_scene(record, RTOL).layers
    assert len(columns) == s
    for j, curve in enumerate(columns):
        np.testing.assert_array_equal(curve.x, s * np.arange(record.history.count))
        np.testing.assert_array_equal(curve.y, record.history.columns[:, j])
    np.testing.assert_array_equal(largest.y, record.history["residual"])


@pytest.mark.parametrize("zero", [(), (3,)])
def test_cells_are_the_residuals_of_the_columns(zero):
    record = record_of(7, zero=zero)
    (cells,) = columns_scene(record, RTOL).layers
    np.testing.assert_array_equal(cells.values, np.maximum(record.history.columns.T, FLOOR))


@pytest.mark.parametrize("s", [1, 5])
def test_rank_and_pivot_are_those_of_the_history(s):
    record = record_of(s)
    rank, pivot = rank_scenes(record)
    np.testing.assert_array_equal(rank.layers[0].y, record.history.rank)
    np.testing.assert_array_equal(pivot.layers[0].y, record.history.pivot)


def test_a_method_without_pivots_says_so():
    assert rank_scenes(record_of(solver="pseudo-block-cg"))[1].note == "This method has no pivots."


def test_single_columns_add_their_products():
    block, single = record_of(2), single_of()
    left, right = comparison_scenes({"block": block, "single": [single, single]}, RTOL)
    np.testing.assert_array_equal(right.layers[0].x, 2 * np.arange(block.history.count))
    k = np.arange(single.history.count)
    np.testing.assert_array_equal(left.layers[1].x, k)
    np.testing.assert_array_equal(right.layers[1].x, 2 * k)
    np.testing.assert_array_equal(left.layers[0].y, block.history["residual"])


def test_an_empty_comparison_is_refused():
    for runs in ({}, {"none": []}):
        with pytest.raises(InputError, match="at least one run"):
            comparison_scenes(runs)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("zero", [(1,), (0, 1, 2)])
def test_zero_columns_are_drawn(zero):
    record = record_of(3, zero=zero)
    for scene in (products_scene(record, RTOL), columns_scene(record, RTOL), *rank_scenes(record)):
        draw(scene).canvas.draw()


@pytest.mark.parametrize("make", [rank_scenes, lambda record: columns_scene(record, RTOL)])
def test_a_run_with_one_right_hand_side_is_refused(make):
    with pytest.raises(InputError, match="several right-hand sides"):
        make(single_of())
