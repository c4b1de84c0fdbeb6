"""What the convergence plot shows of records."""

import dataclasses

import numpy as np
import pytest

from workbench.live import ConvergenceView
from workbench.live.ui.run_list import RunList
from workbench.plots.scenes import CurveOf, LineAt, PointsOf, convergence_scene, residual_gap_scene
from workbench.plots.scenes.style import COLOURS, DASHES, curve_style
from workbench.records import History, load, save
from workbench.run import Run, Stopping, configure, run_through


def record_of(**choices):
    return run_through(Run(configure("two-layer", n=16, **choices))).record()


@pytest.fixture(scope="module")
def records():
    return [record_of(preconditioner="jacobi"), record_of(preconditioner="neumann:2", deflation="blocks:4")]


def curves(scene):
    return [layer for layer in scene.layers if isinstance(layer, CurveOf)]


def test_each_run_is_one_curve_of_relative_residuals_named_by_its_blocks(records):
    scene = convergence_scene(records)
    assert [curve.name for curve in curves(scene)] == ["Jacobi", "Neumann 2, 4² blocks"]
    for curve, record in zip(curves(scene), records, strict=True):
        np.testing.assert_array_equal(curve.x, np.arange(record.history.count))
        assert curve.y[-1] == pytest.approx(record.summary["relative_residual"])
    assert scene.y.log


def test_names_and_styles_can_be_given(records):
    found = curves(convergence_scene(records, ["a", "b"], styles=[3, 9]))
    assert [(curve.name, curve.look.colour, curve.look.dash) for curve in found] == [
        ("a", COLOURS[3], DASHES[3]),
        ("b", COLOURS[1], DASHES[2]),
    ]
    with pytest.raises(ValueError, match="shorter"):
        convergence_scene(records, ["only one"])


def test_true_residuals_and_the_tolerance_are_marked(records):
    scene = convergence_scene(records[:1], tolerance=1e-6)
    (ring,) = [layer for layer in scene.layers if isinstance(layer, PointsOf)]
    assert ring.x[-1] == records[0].summary["iterations"]
    assert ring.y[-1] == pytest.approx(records[0].summary["true_relative_residual"])
    assert ring.of == "CG, Jacobi"
    assert [layer.value for layer in scene.layers if isinstance(layer, LineAt)] == [1e-6]


def test_colour_and_dash_differ_for_64_runs():
    styles = {(curve_style(index).colour, curve_style(index).dash) for index in range(64)}
    assert len(styles) == 64
    assert len(set(COLOURS)) == len(set(DASHES)) == 8


def test_a_zero_residual_stays_a_number():
    record = record_of(stopping=Stopping(rtol=1e-30, maxiter=3))
    residual = np.append(record.history["residual"][:-1], 0.0)
    history = History.from_arrays(record.history.to_arrays() | {"residual": residual})
    record.summary["relative_residual"] = 0.0
    (curve,) = curves(convergence_scene([dataclasses.replace(record, history=history)]))
    assert (curve.y[0], curve.y[-1]) == (1.0, 0.0)


def test_without_runs_it_says_so():
    assert convergence_scene([]).note


def test_the_drift_of_deflated_runs_is_drawn_on_request(records):
    scene = convergence_scene(records, drift=True)
    (drift,) = [curve for curve in curves(scene) if curve.name.startswith("‖Zᵀr‖")]
    assert drift.name == "‖Zᵀr‖ / ‖b‖ of Neumann 2, 4² blocks"
    np.testing.assert_array_equal(drift.x, np.flatnonzero(records[1].history["drift"] > 0))
    assert drift.y.max() == pytest.approx(records[1].summary["drift"])


def test_recurrences_and_true_residuals_of_a_method_have_one_colour():
    scene = residual_gap_scene({"one": ([1.0, 0.1], [1.0, 0.2]), "two": ([1.0, 0.3], [1.0, 0.4])}, at=1)
    found = curves(scene)
    assert [list(curve.y) for curve in found] == [[1.0, 0.1], [1.0, 0.2], [1.0, 0.3], [1.0, 0.4]]
    assert found[0].look.colour == found[1].look.colour != found[2].look.colour
    assert [layer.value for layer in scene.layers if isinstance(layer, LineAt)] == [1]


def test_a_method_whose_true_residual_stagnates_has_its_level_and_one_that_does_not_has_none():
    residuals = {"flat": ([1.0, 1e-4, 1e-9], [1.0, 1e-4, 2.34e-5]), "falls": ([1.0, 1e-4, 1e-6], [1.0, 1e-4, 2e-6])}
    (level,) = [layer for layer in residual_gap_scene(residuals).layers if isinstance(layer, LineAt)]
    assert (level.value, level.style) == (2.3e-5, 0)
    assert level.label == "flat: lowest {}"


def test_a_run_keeps_its_style_in_its_file(records, tmp_path):
    styled = [dataclasses.replace(record, style=style) for record, style in zip(records, (5, 12), strict=True)]
    opened = [load(save(record, tmp_path / f"{record.style}.run.npz")) for record in styled]
    assert [curve.style for curve in curves(convergence_scene(opened))] == [5, 12]
    # Two runs that had one style in different lists look different.
    assert [curve.style for curve in curves(convergence_scene([opened[0], opened[0]]))] == [0, 1]
    view, runs = ConvergenceView(), RunList()
    assert [view.add(record).style for record in (*opened, opened[0])] == [5, 12, 0]
    assert [runs.add(record, "File").style for record in (*opened, opened[0])] == [5, 12, 0]
    np.testing.assert_array_equal([curve.style for curve in curves(view.scene())], [5, 12, 0])
    view.close()
