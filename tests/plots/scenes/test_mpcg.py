"""What pictures of multipreconditioned CG show is what was computed."""

import itertools

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.plots.scenes import boxes_scene, conditioning_scenes, directions_scene, time_scene, weights_scene
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
    (bars,) = weights_scene(directions.steps, 1).layers
    np.testing.assert_allclose(bars.y, directions.steps[1].shares)
    with pytest.raises(InputError, match="iteration 100 was not made"):
        weights_scene(directions.steps, 99)


def test_directions_and_conditions_have_a_point_per_iteration(directions):
    above, below = (scene.layers[0] for scene in conditioning_scenes(directions.steps))
    np.testing.assert_array_equal(above.y, [step.directions for step in directions.steps])
    np.testing.assert_array_equal(below.y, [step.condition for step in directions.steps])


def test_the_parts_of_an_iteration_add_up(directions):
    layers = time_scene(directions.steps).layers
    heights = sum((bars.y - bars.base).sum() for bars in layers)
    assert heights == pytest.approx(sum(sum(step.seconds.values()) for step in directions.steps))
    for below, above in itertools.pairwise(layers):
        np.testing.assert_array_equal(below.y, above.base)


def test_every_box_has_an_outline(directions):
    outlines = boxes_scene(np.arange(1.0, 1025.0), (32, 32), directions.pieces, "iteration 1").layers[1:]
    # Two boxes of 16 points per side that grow by 3.
    assert sorted({(curve.x.min(), curve.x.max()) for curve in outlines}) == [(-0.5, 18.5), (12.5, 31.5)]
    with pytest.raises(InputError, match="3 dimensions"):
        boxes_scene(np.zeros(27), (3, 3, 3), [], "iteration 1")


def test_as_many_pictures_as_directions(directions):
    (cells,) = directions_scene(directions.latest_block(), (32, 32), "iteration 1").layers
    assert np.isfinite(cells.values).sum() == 4 * 32 * 32
    assert np.nanmax(np.abs(cells.values)) == 1
    with pytest.raises(InputError, match="no directions"):
        directions_scene(np.zeros((1024, 0)), (32, 32), "iteration 1")
