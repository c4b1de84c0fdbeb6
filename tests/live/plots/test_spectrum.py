"""The spectrum's widget: it replays a run that has ended and follows one that goes on."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from tests.live.conftest import ended
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live import SpectrumView
from workbench.live.transport.publisher import PERIOD
from workbench.live.ui.run_handle import RunHandle
from workbench.records import load, save
from workbench.run import Run, Session, Stopping, configure, run_through, solve
from workbench.spectra.convergence_estimates import iterations_by_bound, nonzero, ritz_values


@pytest.fixture(scope="module")
def result():
    configuration = configure(
        "two-layer", n=12, deflation="stripes:1", rhs="ones-scaled", stopping=Stopping(rtol=1e-8, norm="error")
    )
    return run_through(Run(configuration))


@pytest.fixture(scope="module")
def view(result):
    return SpectrumView(result)


def scenes(view):
    return {name: plot.scene for name, plot in view.plots.items()}


def test_it_shows_the_last_iteration_of_a_run_that_has_ended(view, result):
    assert view.slider.max == result.iterations
    view.slider.value = view.slider.max
    assert f" after {result.iterations} iterations." in view.message.value
    assert "exact: " in view.message.value
    assert "the true error was" in view.message.value
    assert set(view.figures()) == {"ritz", "estimates", "levels"}
    assert all(scene.layers for scene in scenes(view).values())
    ritz = scenes(view)["ritz"]
    assert f" after {result.iterations} iterations." in ritz.spoken
    largest = next(layer for layer in ritz.layers if getattr(layer, "name", "") == "largest")
    assert largest.y[-1] == pytest.approx(ritz_values(result.history, result.iterations)[-1])
    assert scenes(view)["levels"].y.names[0].endswith("zeros")
    assert list(view.exact) == ["A", "M^-1 A", "M^-1 P A"]
    last = nonzero(view.own)
    promised = iterations_by_bound(last[-1] / last[0])
    assert f"{promised} (M<sup>−1</sup> P A) iterations." in view.message.value
    (axes,) = view.figures()["estimates"].axes
    labels = [line.get_label() for line in axes.get_lines()]
    assert {"CG bound, κ of A", "CG bound, κ of M⁻¹A", "CG bound, exact κ", "true error"} <= set(labels)


def test_the_slider_moves_the_pictures_and_the_words(view):
    view.slider.value = view.slider.max
    before, message = scenes(view), view.message.value
    view.slider.value = 9
    after = scenes(view)
    assert before["ritz"] is not after["ritz"]
    assert before["estimates"] is not after["estimates"]
    assert before["levels"] is after["levels"]
    # The axis of the error rests.
    assert before["estimates"].y.span == after["estimates"].y.span
    assert view.message.value != message
    assert "At iteration 5 " in view.message.value


def test_the_delay_moves_the_estimates(view):
    view.slider.value = 20
    view.delay.value = 4
    before = scenes(view)["estimates"]
    view.delay.value = 10
    assert "At iteration 10 " in view.message.value
    assert scenes(view)["estimates"] is not before
    view.slider.value = 5
    assert "need more iterations than their delay d" in view.message.value
    view.delay.value = 4


def test_a_loaded_run_is_replayed_with_its_exact_spectrum(result, tmp_path, view):
    loaded = SpectrumView(load(save(result.record(), tmp_path / "a.run.npz")))
    np.testing.assert_allclose(loaded.own, view.own, rtol=1e-12)
    assert loaded.slider.max == result.iterations


def test_a_session_is_followed_and_the_slider_stays_where_it_was_put():
    session = Session(configure("two-layer", n=12))
    view = SpectrumView(session)
    assert "No iterations yet" in view.message.value
    assert view.slider.disabled
    session.wait(LIMIT)
    assert view.publish() is False
    assert view.slider.value == view.slider.max == session.result.iterations
    assert not view.slider.disabled
    view.slider.value = 3
    view.show()
    assert view.slider.value == 3
    assert " after 3 iterations." in view.message.value


def test_a_session_is_painted_while_it_runs(eventually):
    session = Session(configure("poisson5", n=700, preconditioner="none", stopping=Stopping(rtol=1e-12)))
    view = SpectrumView(session)
    session.start()
    try:
        eventually(lambda: "Ritz values reach" in view.message.value)
        assert session.alive
        again = view.publish()
        # Not at every tick: each look takes Python's lock, which the solver needs too.
        assert again is not True
        assert again >= PERIOD
        assert not view.why
    finally:
        session.stop()
        session.wait(LIMIT)
    view.publish()
    assert "Exact spectra: up to" in view.why


def test_while_a_run_goes_on_painting_waits_its_turn_and_no_spectrum_is_computed(monkeypatch):
    run = Run(configure("two-layer", n=12))
    for _ in range(4):
        run.step()
    monkeypatch.setattr(RunHandle, "busy", True)
    view = SpectrumView(run)
    assert " after 3 iterations." in view.message.value
    clock = [0.0]
    monkeypatch.setattr("workbench.live.ui.run_pictures.time", SimpleNamespace(monotonic=lambda: clock[0]))

    def draw():
        clock[0] += 0.05

    with monkeypatch.context() as patched:
        patched.setattr(view, "draw", draw)
        view.show()
    run.step()
    # Nine times as long as the paint took.
    clock[0] += 0.44
    view.publish()
    assert " after 3 iterations." in view.message.value
    clock[0] += 0.02
    view.publish()
    assert " after 4 iterations." in view.message.value
    assert not view.exact
    monkeypatch.setattr(RunHandle, "busy", False)
    view.publish()
    assert view.exact


def test_a_residual_gap_is_reported():
    stopping = Stopping(rtol=1e-11, true_every=5)
    result = run_through(Run(configure("two-layer", n=24, solver="pipecg", stopping=stopping)))
    assert result.history.residual_gap_at is not None
    view = SpectrumView(result)
    sentence = f"left that of the recurrence at iteration {result.history.residual_gap_at}."
    assert sentence in view.message.value
    view.slider.value = result.history.residual_gap_at - 1
    assert sentence not in view.message.value


def test_large_problems_and_runs_in_memory_say_why_there_is_no_exact_spectrum():
    large = run_through(Run(configure("poisson5", n=40)))
    view = SpectrumView(large)
    assert "Exact spectra: up to 1024 unknowns, and on request up to 4096. This problem has 1600." in view.message.value
    assert "An upper bound needs the smallest eigenvalue" in view.message.value
    matrix = sparse.diags_array(np.arange(1.0, 9.0)).tocsr()
    given = solve(matrix, np.ones(8), M="none", rtol=1e-10)
    assert "No exact spectrum: " in SpectrumView(given).message.value
    message = SpectrumView(given, exact={"A": np.arange(1.0, 9.0)}).message.value
    assert "(exact: 8)" in message
    assert "was between" in message


def test_steepest_descent_has_no_ritz_values():
    run = run_through(Run(configure("poisson5", n=6, solver="sd")))
    with pytest.raises(InputError, match="no β"):
        SpectrumView(run)
    session = ended("poisson5", n=6, solver="sd")
    with pytest.raises(InputError, match="no β"):
        SpectrumView(session)


def test_a_session_that_failed_says_why():
    session = Session(configure("poisson5", n=6, device="opencl:99"))
    view = SpectrumView(session)
    session.start()
    with pytest.raises(InputError):
        session.wait(LIMIT)
    view.publish()
    assert view.message.value not in ("", "No iterations yet.")


def test_exact_spectra_of_a_larger_problem_are_computed_by_the_button(eventually):
    view = SpectrumView(run_through(Run(configure("poisson5", n=33))))
    assert view.press.layout.display is None
    assert "This problem has 1089" in view.message.value
    assert not view.exact
    view.press.click()
    eventually(lambda: view.exact and "levels" in view.figures())
    eventually(lambda: "(exact: " in view.message.value)
    assert view.press.layout.display == "none"
    assert "on request" not in view.message.value
    # Beyond what dense algebra can do nothing is offered.
    large = SpectrumView(run_through(Run(configure("poisson5", n=65, stopping=Stopping(maxiter=3)))))
    assert large.press.layout.display == "none"
    small = SpectrumView(run_through(Run(configure("poisson5", n=6))))
    assert small.press.layout.display == "none"
