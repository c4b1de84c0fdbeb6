"""The view of multipreconditioned CG."""

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.figures import read_provenance
from workbench.live import MPCGView
from workbench.run import Reason, State

SHOWN = {
    "boxes over the residual": ["boxes"],
    "directions": ["directions"],
    "weights of terms": ["weights"],
    "conditioning": ["directions of blocks", "conditioning"],
    "time of parts": ["time of parts"],
}
"""The scenes of each figure."""


@pytest.fixture
def view_of():
    views = []

    def make(*args, **choices):
        views.append(MPCGView(*args, **choices))
        return views[-1]

    yield make
    for view in views:
        view.close()


def test_run_solves_with_three_methods_and_figures_need_no_new_run(view_of, eventually):
    view = view_of(n=64, boxes="2x2")
    result = view.run().wait(LIMIT)
    assert view.result is result
    assert result.converged
    eventually(lambda: view.about.value.count("<tr>") == 4 and not view.go.disabled)
    assert [curve.label for curve in view.convergence.curves] == ["mpcg", "sum-cg", "cg, jacobi"]
    for figure in view.view.options[1:]:
        view.view.value = figure
        eventually(lambda names=SHOWN[figure]: [scene.name for scene in view.charts.scenes] == names)
    assert view.iteration.max == result.iterations
    view.view.value = "weights of terms"
    view.iteration.value = 1
    eventually(lambda: "in iteration 1." in view.charts.scenes[0].spoken)
    weights = np.real(view._last.steps[0].shares)
    assert view.charts.scenes[0].layers[0].y.tolist() == weights.tolist()
    assert view.result is result


def stepped(session, eventually):
    """One iteration more of a session that is held."""
    session.step()
    eventually(lambda: session.run is not None and session.state is State.PAUSED and not session.slot.held)


def test_figures_follow_a_run_that_goes_on(view_of, eventually, tmp_path):
    view = view_of(n=300, folder=tmp_path)
    view.view.value = "directions"
    session = view.run()
    session.pause()
    # The start, before the first iteration.
    stepped(session, eventually)
    for figure in view.view.options[1:]:
        view.view.value = figure
        stepped(session, eventually)
        done = session.run.iterations
        eventually(lambda names=SHOWN[figure]: [scene.name for scene in view.charts.scenes] == names)
        eventually(lambda done=done: len(view._shown.steps) == done)
    assert view.result is None
    done = session.run.iterations
    eventually(lambda: view.iteration.max == view.iteration.value == done)
    eventually(lambda: not view.save_bar.press.disabled)
    (path,) = view.save_bar.save("svg")
    assert read_provenance(path)["configuration"]["solver"]["name"] == "mpcg"
    view.view.value, view.iteration.value = "weights of terms", 1
    eventually(lambda: "in iteration 1." in view.charts.scenes[0].spoken)
    session.resume()
    result = session.wait(LIMIT)
    # The chosen iteration stays.
    assert (view.iteration.value, view.iteration.max) == (1, result.iterations)
    assert view.figure().get_suptitle() == "iteration 1"


def test_the_residuals_alone_need_no_look_at_the_run(view_of):
    view = view_of(n=64, boxes="2x2")
    session = view.run()
    session.wait(LIMIT)
    assert session.run.snapshots.count == 0


def test_the_choices_are_those_of_the_run(view_of):
    view = view_of(n=64)
    view.overlap.value, view.keep.value, view.solver.value = 2, 5, "chebyshev:8"
    chosen = view.configurations
    assert chosen["mpcg"].solver.keep == 5
    assert chosen["sum-cg"].preconditioner == chosen["mpcg"].preconditioner
    assert (chosen["mpcg"].preconditioner.boxes, chosen["mpcg"].preconditioner.overlap) == ("3x3", 2)
    assert chosen["mpcg"].preconditioner.solver == "chebyshev:8"


def test_every_box_solver_on_offer_can_be_chosen(view_of):
    view = view_of(n=64)
    for value in view.solver.options.values():
        view.solver.value = value
        assert set(view.configurations) == {"mpcg", "sum-cg", "cg, jacobi"}


def test_stop_ends_all_runs(view_of, eventually):
    view = view_of("two-layer", n=300, boxes="4x4")
    session = view.run()
    assert view.run() is session
    view.stop()
    eventually(lambda: view.halt.disabled and not view.go.disabled)
    assert session.result is None or session.result.reason in (Reason.CANCELLED, Reason.CONVERGED)


def test_the_figure_is_saved(view_of, tmp_path):
    view = view_of(n=64, boxes="2x2", folder=tmp_path)
    view.run().wait(LIMIT)
    view.view.value = "conditioning"
    (path,) = view.save_bar.save("svg")
    assert path.name.startswith("conditioning-Poisson-on-interior-points-64x64")
    assert read_provenance(path)["configuration"]["problem"]["name"] == "poisson-fd"


def test_wrong_choices_are_one_sentence():
    with pytest.raises(InputError, match="this view has no 9x9; choose one of 1x1"):
        MPCGView(boxes="9x9")
