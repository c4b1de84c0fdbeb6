"""What the convergence view sends: every sample once, everything after a reload, the end always."""

import numpy as np
import pytest

from tests.live.conftest import ENDLESS, ended, page_says
from tests.waiting import LIMIT
from workbench.live import ConvergenceView
from workbench.live.plots import convergence as module
from workbench.live.transport import publisher
from workbench.run import Session, Stopping, configure


@pytest.fixture
def view(opened):
    return opened(ConvergenceView())


def relative(run):
    return run.history["residual"] / np.linalg.norm(run.setup.b)


def test_a_run_arrives_whole_and_in_order(view, page, eventually):
    session = Session(configure("two-layer", n=64))
    curve = view.watch(session)
    session.wait(LIMIT)
    eventually(lambda: page.curves().get(curve.key, np.empty(0)).size == session.run.history.count)
    np.testing.assert_allclose(page.curves()[curve.key], relative(session.run), rtol=1e-6)
    eventually(lambda: not page.messages[-1]["curves"][-1]["live"])


@pytest.mark.parametrize(("norm", "tolerance", "said"), [("residual", 1e-4, ""), ("natural", 0, "by the natural norm")])
def test_the_tolerance_is_a_line_where_it_is_relative_to_b(view, page, eventually, norm, tolerance, said):
    view.watch(ended(n=32, stopping=Stopping(rtol=1e-4, norm=norm)))
    eventually(lambda: page.curves())
    curve = page.messages[-1]["curves"][0]
    assert curve["tolerance"] == pytest.approx(tolerance)
    assert said in curve["label"]


def test_a_page_that_does_not_paint_is_sent_no_more_than_its_credit(view, page_of, eventually, monkeypatch):
    monkeypatch.setattr(publisher, "CREDIT", 2)
    page = page_of(view)
    page.slow = True
    session = Session(configure("two-layer", n=64, solver="sd", stopping=ENDLESS))
    curve = view.watch(session)
    session.start()
    eventually(lambda: len(page.messages) == 2)
    eventually(lambda: session.run is not None and session.run.iterations > 100)
    session.stop()
    session.wait(LIMIT)
    view.publisher.wake()
    eventually(lambda: view.curves[0].session is None)
    assert len(page.messages) == 2
    page.slow = False
    page.paint()
    eventually(lambda: page.curves()[curve.key].size == session.run.history.count)


def test_nothing_waits_for_a_page_that_never_comes(view):
    session = Session(configure("two-layer", n=32))
    view.watch(session)
    assert session.wait(LIMIT).converged


def test_large_histories_go_in_pieces_and_again_after_a_reload(view, page_of, eventually, monkeypatch):
    monkeypatch.setattr(module, "MOST_SAMPLES", 10)
    session = ended(n=32)
    page = page_of(view)
    curve = view.watch(session)
    eventually(lambda: page.curves().get(curve.key, np.empty(0)).size == session.run.history.count)
    assert len(page.messages) > 3
    assert all(len(buffer) <= 40 for buffer in page.buffers)
    page.received.clear()
    page.reload()
    eventually(lambda: page.curves().get(curve.key, np.empty(0)).size == session.run.history.count)
    assert page.messages[0]["reset"]


def test_a_second_run_stays_with_the_first_and_looks_different(view, page, eventually):
    first, second = view.watch(ended(n=32)), view.watch(ended(n=32, preconditioner="neumann:2"))
    eventually(lambda: set(page.curves()) == {first.key, second.key})
    styles = {said["key"]: (said["colour"], tuple(said["dash"])) for m in page.messages for said in m["curves"]}
    assert styles[first.key] != styles[second.key]


def test_clear_keeps_the_run_that_goes_on(view, page, eventually):
    view.watch(ended(n=32))
    eventually(lambda: view.curves[0].session is None)
    going = Session(configure("two-layer", n=32))
    curve = view.watch(going)
    view.clear()
    assert view.curves == (curve,)
    going.wait(LIMIT)
    eventually(lambda: set(page.curves()) == {curve.key})


def test_a_run_that_fails_in_setup_leaves_no_curve(view, eventually):
    session = Session(configure("poisson5", n=8, deflation="blocks:64"))
    view.watch(session)
    session.start()
    eventually(lambda: not view.curves)


def test_a_record_can_be_put_on_the_plot(view, page_of, eventually):
    session = ended(n=32)
    page = page_of(view)
    curve = view.add(session.result.record(), "from a file")
    eventually(lambda: page.curves())
    np.testing.assert_allclose(page.curves()[curve.key], relative(session.run), rtol=1e-6)
    assert page.messages[-1]["curves"][0]["label"] == "from a file"
    assert page.messages[-1]["curves"][0]["tolerance"] == pytest.approx(1e-6)


def test_a_line_moved_on_the_plot_is_told_and_marked(view, page, eventually):
    curve = view.watch(ended(n=32))
    eventually(lambda: page.curves())
    assert not page.messages[-1]["marked"]
    heard = []
    view.on_tolerance(heard.append)
    for value, turn in ((1e-3, 5), (1e-4, 6), (-1.0, 7), (float("nan"), 8), ("much", 8), ([], 8)):
        page_says(view, {"kind": "tolerance", "value": value, "turn": turn})
    assert heard == [1e-3, 1e-4]
    assert view.tolerance == curve.line == 1e-4
    eventually(lambda: page.messages[-1]["turn"] == 6 and page.messages[-1]["marked"])
    page_says(view, {"kind": "tolerance", "value": None, "turn": 9})
    assert view.tolerance is None
    assert curve.line == pytest.approx(1e-6)
    eventually(lambda: page.messages[-1]["turn"] == 9 and not page.messages[-1]["marked"])


def test_the_page_learns_which_runs_could_still_win_and_which_have_a_residual_gap(view, page, eventually):
    going = Session(configure("two-layer", n=32))
    view.watch(going)
    view.watch(ended(n=16, stopping=Stopping(rtol=1e-17, maxiter=2000)))
    said = {}
    eventually(lambda: said.update({c["key"]: c for m in page.messages for c in m["curves"]}) or len(said) == 2)
    eventually(
        lambda: not said.update({c["key"]: c for m in page.messages for c in m["curves"]}) and not said[2]["open"]
    )
    assert said[1]["open"]
    assert said[1]["residualGapAt"] == -1
    history = view.curves[1].history
    assert said[2]["residualGapAt"] == (-1 if history.residual_gap_at is None else history.residual_gap_at)


def test_an_empty_plot_says_what_its_runs_do_and_not_that_there_is_none(view, eventually):
    eventually(lambda: view.empty == view.nothing)
    session = Session(configure("two-layer", n=32))
    view.watch(session, "7: some method")
    eventually(lambda: view.empty == "Run 7: not started")
    failing = Session(configure("two-layer", n=32, deflation="file"))
    failing.start()
    view.watch(failing, "8: another")
    failing.join(LIMIT)
    view.drop(view.curves[0])
    eventually(lambda: view.empty == "Run 8 ended before its first iteration.")
    fail = [Session(configure("two-layer", n=32, deflation="file")) for _ in range(2)]
    for number, each in enumerate(fail, 9):
        view.watch(each, f"{number}: another")
    for each in fail:
        each.start()
        each.join(LIMIT)
    eventually(lambda: view.empty == "Each of 2 ended before its first iteration.")


def test_the_phase_of_a_setup_is_said(view, eventually, held_setup):
    inside, on = held_setup
    session = Session(configure("two-layer", n=32))
    view.watch(session, "1: some method")
    session.start()
    assert inside.wait(LIMIT)
    eventually(lambda: view.empty == "Run 1: setting up, problem")
    eventually(lambda: [name for name, *_ in view.phases] == ["start of the device", "problem"])
    assert view.phases[-1] == ["problem", 0.0, False]
    on.set()
    session.wait(LIMIT)
    eventually(lambda: not view.empty and not view.phases)
