"""What block methods and multipreconditioned CG do in a run, as pictures below the plot."""

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench.live import MethodView, explore
from workbench.live.plots.method_view import COLUMNS, STEPS, VECTORS, WEIGHTS
from workbench.plots.figures import read_provenance
from workbench.plots.scenes import time_scene
from workbench.records import load, save
from workbench.run import Run, Session, State, configure, run_through
from workbench.solvers.multi.basis import Step

BOXES = {"problem": "poisson-fd", "n": 64, "solver": "mpcg", "preconditioner": "schwarz:2x2"}
SHOWN = {
    "Residuals of columns": ["residuals of columns"],
    "Against products": ["products"],
    "Map of columns": ["columns"],
    "Rank and pivots": ["rank", "pivot"],
    "Directions": ["directions"],
    "Residual and boxes": ["boxes"],
    WEIGHTS: ["weights"],
    "Conditioning": ["directions of blocks", "conditioning"],
    "Time of parts": ["time of parts"],
}
"""The scenes of each picture."""


@pytest.fixture
def view_of():
    views = []

    def make(*runs):
        views.append(MethodView(*runs))
        return views[-1]

    yield make
    for view in views:
        view.close()


def session_of(**choices):
    return Session(configure(**choices))


def shown(view):
    return [scene.name for scene in view.charts.scenes]


def shows_all(view, pictures, eventually):
    """Choose each of these pictures, and wait until it is there."""
    for name in pictures:
        eventually(lambda name=name: name in view.picture.options)
        view.picture.value = name
        eventually(lambda names=SHOWN[name]: shown(view) == names)


def test_every_picture_has_a_name():
    assert set(SHOWN) == {*COLUMNS, *VECTORS, *STEPS}


def test_a_run_of_a_block_method_shows_its_columns(view_of, eventually):
    session = session_of(problem="poisson7", n=8, rhs="rank4:5", solver="block-cg")
    view = view_of(session)
    eventually(lambda: view.picture.options == tuple(COLUMNS))
    history = session.wait(LIMIT).history
    shows_all(view, COLUMNS, eventually)
    assert view.charts.scenes[0].layers[0].y.tolist() == history.rank.tolist() == [4] * history.count
    view.picture.value = "Residuals of columns"
    *curves, _tolerance = view.charts.scenes[0].layers
    assert [curve.name for curve in curves] == [f"column {j + 1}" for j in range(5)]
    np.testing.assert_array_equal(np.array([curve.y for curve in curves]).T, history.columns)
    eventually(lambda: "GFLOP/s by Table II" in view.about.value)


def test_a_run_of_mpcg_shows_its_directions_and_needs_no_new_run_for_another_picture(view_of, eventually):
    session = session_of(**BOXES)
    view = view_of(session)
    result = session.wait(LIMIT)
    shows_all(view, (*VECTORS, *STEPS), eventually)
    eventually(lambda: view.iteration.max == view.iteration.value == result.iterations)
    view.picture.value, view.iteration.value = WEIGHTS, 1
    assert "in iteration 1." in view.charts.scenes[0].spoken
    weights = np.real(result.history.steps[0].shares)
    assert view.charts.scenes[0].layers[0].y.tolist() == weights.tolist()


def test_parts_that_the_clock_cannot_tell_have_no_share():
    step = Step(4, 0, 2.5, np.ones(4), {"A": 0.0, "M": 0.0})
    assert [layer.name for layer in time_scene([step]).layers] == ["A, 0%", "M, 0%"]


def stepped(session, eventually):
    """One iteration more of a session that is held."""
    count = session.run.history.count if session.run is not None else 0
    session.step()
    # It is still paused for a moment, and has a run before the start is in its history.
    eventually(lambda: session.run is not None and session.run.history.count == count + 1)
    eventually(lambda: session.state is State.PAUSED and not session.slot.held)


def test_pictures_follow_a_run_that_is_active(view_of, eventually):
    session = session_of(**{**BOXES, "n": 200})
    view = view_of(session)
    # The start, before the first iteration.
    stepped(session, eventually)
    for name in (*VECTORS, *STEPS):
        eventually(lambda name=name: name in view.picture.options)
        view.picture.value = name
        stepped(session, eventually)
        done = session.run.iterations
        eventually(lambda names=SHOWN[name]: shown(view) == names)
        eventually(lambda done=done: view.iteration.max == done)
    view.picture.value = "Directions"
    eventually(lambda: f"of iteration {done}" in view.charts.scenes[0].spoken)
    view.picture.value, view.iteration.value = WEIGHTS, 1
    session.resume()
    result = session.wait(LIMIT)
    eventually(lambda: (view.iteration.value, view.iteration.max) == (1, result.iterations))


def test_pictures_of_the_history_need_no_look_at_the_run(view_of, eventually):
    session = session_of(**BOXES)
    view = view_of(session)
    eventually(lambda: view.picture.options)
    view.picture.value = "Time of parts"
    session.wait(LIMIT)
    eventually(lambda: shown(view) == ["time of parts"])
    assert session.run.snapshots.count == 0


def test_a_run_without_its_vectors_shows_what_its_history_has(view_of, eventually, tmp_path):
    result = run_through(Run(configure(**BOXES)))
    view = view_of(result)
    eventually(lambda: view.picture.options == tuple(STEPS))
    shows_all(view, STEPS, eventually)
    view.follow(load(save(result.record(), tmp_path / "boxes.run.npz")))
    eventually(lambda: view.box.layout.display == "none" and not view.scenes)


def test_a_saved_run_with_many_right_hand_sides_has_all_pictures(view_of, eventually, tmp_path):
    result = run_through(Run(configure("poisson5", n=9, rhs="random:3", solver="block-cg")))
    view = view_of(load(save(result.record(), tmp_path / "many.run.npz")))
    eventually(lambda: view.picture.options == tuple(COLUMNS))
    shows_all(view, COLUMNS, eventually)


def test_a_cube_has_no_picture_of_its_directions_and_says_why(view_of, eventually):
    session = session_of(problem="poisson7", n=8, solver="mpcg", preconditioner="schwarz:2x2x2")
    view = view_of(session)
    session.wait(LIMIT)
    eventually(lambda: view.charts.scenes and "for grids in 2D" in view.charts.scenes[0].note)


def test_solve_shows_the_pictures_of_its_last_run_and_saves_them(eventually, tmp_path):
    view = explore(**BOXES, folder=tmp_path)
    view.run().wait(LIMIT)
    eventually(lambda: shown(view.method) == ["directions"] and not view.exports.figures.press.disabled)
    view.method.picture.value = "Conditioning"
    path = next(path for path in view.exports.save("svg") if path.name.startswith("Conditioning"))
    assert read_provenance(path)["runs"][0]["configuration"]["solver"]["name"] == "mpcg"
    view.form.set("solver", "cg")
    view.form.set("preconditioner", "jacobi")
    view.run().wait(LIMIT)
    eventually(lambda: view.method.box.layout.display == "none")
    view.runs.choose([1])
    eventually(lambda: WEIGHTS in view.method.picture.options and "Directions" not in view.method.picture.options)
    view.close()
    assert view.method.watched is None
