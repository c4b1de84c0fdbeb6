"""Two unknowns whose start and axes are dragged: what a move changes, and that the pictures show it."""

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.extensions.lessons.geometry_marks import THOUGHTS
from workbench.extensions.lessons.page.geometry import OF_STEP
from workbench.live import Geometry2D, StepsOfCG
from workbench.plots.scenes.scene import CurveOf, PointsOf


@pytest.fixture
def geometry():
    made = Geometry2D(angle=0, lengths=(3, 1), start=(3.6, 0.4), stretched=True)
    yield made
    made.close()


def move(view, key, x, y):
    view.chart._receive(view.chart, {"kind": "moved", "key": key, "x": x, "y": y}, [])
    assert view.wait(LIMIT)


def path_of(scene, name):
    (found,) = [layer for layer in scene.layers if isinstance(layer, CurveOf) and layer.name.startswith(name)]
    return np.column_stack([found.x, found.y])


def test_handles_move_the_start_and_the_axes(geometry):
    A = geometry.matrix
    np.testing.assert_allclose(A, np.diag([1 / 9, 1]))
    assert "Condition number of A: 9.00" in geometry.words.text
    assert "steepest descent takes 21 steps and CG takes 2 steps" in geometry.words.text
    move(geometry, "start", 0.0, 2.0)
    assert "steepest descent takes 1 step and CG takes 1 step" in geometry.words.text
    # The second axis turns the first with it.
    move(geometry, "second", -1.5, 1.5)
    assert geometry.form.angle == pytest.approx(45)
    np.testing.assert_allclose(geometry.form.lengths, (3, 1.5 * np.sqrt(2)))
    places = {one["key"]: (one["x"], one["y"]) for one in geometry.chart.handles}
    np.testing.assert_allclose(places["second"], (-1.5, 1.5))
    np.testing.assert_allclose(places["first"], (3 / np.sqrt(2), 3 / np.sqrt(2)))


def test_what_is_dragged_out_of_bounds_stays_at_the_bound(geometry):
    move(geometry, "start", 40.0, np.nan)
    np.testing.assert_allclose(geometry.start, (3.6, 0.4))
    move(geometry, "start", 40.0, -40.0)
    np.testing.assert_allclose(geometry.start, (4.25, -4.25))
    move(geometry, "first", 0.0, 0.001)
    assert geometry.form.lengths[0] == 0.25
    move(geometry, "nothing", 1.0, 1.0)
    assert geometry.form.angle == pytest.approx(90)


def test_a_start_on_an_axis_stays_there_where_it_is_dragged_out_of_sight(geometry):
    (start,) = [each for each in geometry.chart.handles if each["key"] == "start"]
    along = np.array(start["lines"])[0, 2:]
    np.testing.assert_allclose(along, (3, 0))
    move(geometry, "first", 2.7, 1.3)
    move(geometry, "start", *(2 * np.array([2.7, 1.3])))
    np.testing.assert_allclose(geometry.start, np.array([2.7, 1.3]) * 4.25 / 2.7)
    assert "steepest descent takes 1 step" in geometry.words.text


def test_with_jacobi_directions_are_those_of_the_preconditioned_residual():
    view = Geometry2D(angle=10, jacobi=True)
    point(view, "bp")
    assert labels(view.chart.scene) == ["α₁M⁻¹r₁", "α₁β₀p₀"]
    assert labels(view.changed.scene) == ["√D α₁M⁻¹r₁", "√D α₁β₀p₀"]
    # Half axes have their lengths in plain coordinates alone.
    point(view, "axes")
    assert (labels(view.chart.scene), labels(view.changed.scene)) == (["1/√λ₁", "1/√λ₂"], [])
    view.close()


def test_in_stretched_coordinates_contour_lines_are_circles_and_cg_turns_by_a_right_angle(geometry):
    scene = geometry.changed.scene
    for layer in scene.layers:
        if isinstance(layer, CurveOf) and len(layer.x) > 50:
            radii = np.hypot(layer.x, layer.y)
            np.testing.assert_allclose(radii, radii[0])
    first, second = np.diff(path_of(scene, "CG"), axis=0)
    assert first @ second == pytest.approx(0, abs=1e-9)
    plain = np.diff(path_of(geometry.chart.scene, "CG"), axis=0)
    assert abs(plain[0] @ plain[1]) > 0.1
    # The start is as far away as it is.
    assert np.linalg.norm(path_of(scene, "CG")[0]) == pytest.approx(np.hypot(3.6, 0.4))


def test_a_switch_shows_the_second_picture(geometry):
    geometry.stretched.value = False
    assert geometry.wait(LIMIT)
    assert geometry.changed.layout.display == "none"
    geometry.jacobi.value = True
    assert geometry.wait(LIMIT)
    # Axes along the coordinates: Jacobi's picture has circles.
    assert "Condition number of M⁻¹A: 1.00" in geometry.words.text
    assert len(path_of(geometry.changed.scene, "steepest descent")) == 2


def test_switches_are_left_out_on_request(geometry):
    plain = Geometry2D(switches=False)
    assert [len(view.box.children[0].children) for view in (geometry, plain)] == [2, 0]
    assert ["stretched" in view.words.text for view in (geometry, plain)] == [True, False]
    plain.close()


def test_a_start_out_of_sight_is_refused():
    with pytest.raises(InputError, match="two errors from"):
        Geometry2D(start=(5, 0))


def point(view, key):
    view.pointing._receive(view.pointing, {"kind": "points", "key": key}, [])
    assert view.wait(LIMIT)


def labels(scene):
    return [label for layer in scene.layers if isinstance(layer, PointsOf) for label in layer.labels or ()]


def test_a_symbol_of_the_text_is_marked_as_long_as_it_is_pointed_at(geometry):
    plain = len(geometry.chart.scene.layers)
    point(geometry, "r0")
    assert (labels(geometry.chart.scene), labels(geometry.changed.scene)) == (["α₀r₀"], ["√A α₀r₀"])
    move(geometry, "start", 0.0, 2.0)
    assert labels(geometry.chart.scene) == ["α₀r₀"]
    point(geometry, "none such")
    assert geometry.marked == ("r0",)
    point(geometry, "")
    move(geometry, "start", 3.6, 0.4)
    assert (labels(geometry.chart.scene), len(geometry.chart.scene.layers)) == ([], plain)


@pytest.mark.parametrize(
    ("key", "name"), [("zigzag", "steepest descent"), ("touched", "contour line"), ("unit", "eᵀAe = 1")]
)
def test_a_curve_of_the_text_is_drawn_thicker(geometry, key, name):
    def thick():
        return [one.name for one in geometry.chart.scene.layers if isinstance(one, CurveOf) and one.chosen and one.name]

    before = thick()
    point(geometry, key)
    (added,) = set(thick()) - set(before)
    assert added.startswith(name)


def test_the_first_step_of_cg_is_seen_through_that_of_steepest_descent(geometry):
    paths = [
        one for one in geometry.chart.scene.layers if isinstance(one, CurveOf) and "step" in one.name.partition(":")[2]
    ]
    assert [(one.name.partition(":")[0], bool(one.dash), one.chosen) for one in paths] == [
        ("CG", False, True), ("steepest descent", True, False),
    ]  # fmt: skip


PATHS = ("steepest descent", "CG")


def is_path(layer, name):
    return isinstance(layer, CurveOf) and layer.name.startswith(f"{name}:")


def test_the_picture_follows_the_steps_of_the_text():
    view = StepsOfCG()
    assert view.steps in view.box.children[0].children
    for step, thought in enumerate(THOUGHTS):
        view.steps.at = step
        assert view.wait(LIMIT)
        assert view.marked == thought.marked
        assert [layer.name for layer in view.chart.scene.layers].count(OF_STEP) == 1
        # What it derives is not drawn before.
        drawn = [sum(len(layer.x) - 1 for layer in view.chart.scene.layers if is_path(layer, name)) for name in PATHS]
        assert drawn == [min(most, full) for most, full in zip(thought.drawn, (18, 2), strict=True)]
        assert (view.chart.layout.display, view.changed.layout.display) == (
            ("none", None) if thought.stretched else (None, "none")
        )
    # A symbol that is pointed at comes first, and the step again after it.
    point(view, "axes")
    assert view.marked == ("axes",)
    point(view, "")
    assert view.marked == THOUGHTS[-1].marked
    view.go(99)
    assert view.steps.at == len(THOUGHTS) - 1
    view.close()
