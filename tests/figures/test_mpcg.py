"""Figures of multipreconditioned CG: what is drawn is what was computed."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.figures import block_conditioning, boxes_over_field, directions_on_grid, term_weights, time_split
from workbench.run import Run, configure, run_through


@pytest.fixture(scope="module")
def directions():
    run = Run(configure("poisson-fd", n=33, solver="mpcg", preconditioner="schwarz:2x2,overlap=3"))
    run_through(run)
    return run.workspace.operators["D"]


def test_the_latest_block_is_orthonormal_in_the_inner_product_of_a(directions):
    A = configure("poisson-fd", n=33).problem.assemble(0).operator.to_csr()
    P = directions.latest_block()
    assert P.shape == (32**2, 4)
    np.testing.assert_allclose(P.T @ (A @ P), np.eye(4), atol=1e-6)


def test_weights_are_the_bars(directions):
    axes = term_weights(directions.steps, iteration=1).axes[0]
    np.testing.assert_allclose([bar.get_height() for bar in axes.patches], directions.steps[1].shares)
    assert axes.get_title() == "iteration 2"
    with pytest.raises(InputError, match="iteration 100 was not made"):
        term_weights(directions.steps, iteration=99)


def test_directions_and_conditions_have_a_point_per_iteration(directions):
    above, below = block_conditioning(directions.steps).axes
    np.testing.assert_array_equal(above.lines[0].get_ydata(), [step.directions for step in directions.steps])
    np.testing.assert_array_equal(below.lines[0].get_ydata(), [step.condition for step in directions.steps])


def test_the_parts_of_an_iteration_add_up(directions):
    axes = time_split(directions.steps).axes[0]
    heights = sum(bar.get_height() for bar in axes.patches)
    assert heights == pytest.approx(1e3 * sum(sum(step.seconds.values()) for step in directions.steps))
    assert len({step.seconds.keys() == directions.steps[0].seconds.keys() for step in directions.steps}) == 1


def test_every_box_has_an_outline(directions):
    figure = boxes_over_field(np.arange(1.0, 1025.0), (32, 32), directions.pieces, label="r")
    outlines = figure.axes[0].lines[1::2]
    # Two boxes of 16 points per side that grow by 3.
    assert sorted({(line.get_xdata().min(), line.get_xdata().max()) for line in outlines}) == [
        (-0.5, 18.5),
        (12.5, 31.5),
    ]
    with pytest.raises(InputError, match="3 dimensions"):
        boxes_over_field(np.zeros(27), (3, 3, 3), [], label="r")


def test_as_many_pictures_as_directions(directions):
    figure = directions_on_grid(directions.latest_block(), (32, 32))
    assert sum(bool(axes.images) for axes in figure.axes) == 4
    with pytest.raises(InputError, match="no directions"):
        directions_on_grid(np.zeros((1024, 0)), (32, 32))
