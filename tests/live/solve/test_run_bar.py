"""The run bar: its buttons as the page presses them, and the progress of a run."""

from types import SimpleNamespace

import pytest

from tests.live.conftest import page_says
from tests.waiting import LIMIT
from workbench.live.solve.run_bar import Progress, RunBar
from workbench.run import State, Stopping
from workbench.run.setup.setup_phases import SetupPhases


@pytest.fixture
def pressed():
    return []


@pytest.fixture
def bar(pressed):
    names = ("run", "pause", "step", "stop", "stop_all", "correct")
    return RunBar(*(lambda name=name: pressed.append(name) for name in names))


def test_the_page_presses_what_is_enabled_and_nothing_else(bar, pressed):
    page_says(bar, {"press": "run"})
    page_says(bar, {"press": "stop"})
    page_says(bar, {"press": "nothing"})
    page_says(bar, "no message")
    assert pressed == ["run"]
    bar.show(State.RUNNING, alive=2)
    for name in ("stop", "pause", "step", "stop_all"):
        page_says(bar, {"press": name})
    assert pressed == ["run", "stop", "pause", "stop_all"]


def test_a_press_right_after_what_makes_it_possible_is_not_lost(view_in, eventually):
    """The page still hears that nothing can be run; the press comes behind the value that corrects it."""
    explorer = view_in("solve", "poisson5", n=16)
    explorer.form.set("problem.n", "1")
    eventually(lambda: explorer.controls.run.disabled)
    with explorer.publisher.at_rest():
        explorer.form.set("problem.n", "16")
        page_says(explorer.controls, {"press": "run"})
    assert len(explorer.runs.runs) == 1


def test_run_is_off_while_a_value_is_wrong_and_the_page_offers_the_way(bar):
    bar.show(State.IDLE, why_not="n must be at least 4", wrong=True)
    assert bar.wrong
    assert bar.buttons["run"] == {"off": True, "words": "Run", "tip": "cannot run: n must be at least 4"}
    bar.show(State.IDLE, why_not="it is active; press Stop first")
    assert (bar.wrong, bar.buttons["run"]["off"]) == (False, True)
    bar.show(State.IDLE)
    assert (bar.wrong, bar.buttons["run"]["off"]) == (False, False)


def test_what_mends_a_conflict_can_be_pressed_while_there_is_one(bar, pressed):
    assert bar.buttons["correct"]["off"]
    bar.show(State.IDLE, why_not="they do not go together", wrong=True, correction="Use jacobi")
    assert bar.buttons["correct"] == {"off": False, "words": "Use jacobi", "tip": "make these changes in the form"}
    page_says(bar, {"press": "correct"})
    bar.show(State.IDLE)
    page_says(bar, {"press": "correct"})
    assert pressed == ["correct"]


def test_progress_has_phases_iterations_and_an_estimate(view_in, eventually):
    stopping = Stopping(rtol=1e-9, maxiter=100_000)
    explorer = view_in("solve", "poisson5", n=256, preconditioner="none", stopping=stopping)
    session = explorer.run()
    eventually(lambda: "estimate from the" in explorer.status.text or not session.alive)
    session.wait(LIMIT)
    eventually(lambda: explorer.controls.progress.get("endedAt"))
    progress = explorer.controls.progress
    assert progress["iterations"] == session.run.iterations
    assert progress["left"] is None
    assert {"problem", "A", "plan of an iteration"} <= {name for name, _, _ in progress["phases"]}
    assert all(done for *_, done in progress["phases"])
    took = sum(seconds for _, seconds, _ in progress["phases"])
    assert took == pytest.approx(session.result.setup_seconds, rel=0.5, abs=0.05)
    assert progress["spent"] == pytest.approx(session.result.iteration_seconds, rel=0.2, abs=0.05)


def test_an_iteration_that_is_finished_after_stop_is_in_the_time_at_the_end():
    # A run counts as ended before a long iteration is over, which the result then has.
    run = SimpleNamespace(iterations=10, iteration_seconds=1.0)
    session = SimpleNamespace(state=State.DONE, run=run, phases=SetupPhases(), over=False, result=None)
    progress = Progress(session, None)
    assert (progress.read()["iterations"], progress.read()["spent"]) == (10, 1.0)
    run.iterations, run.iteration_seconds, session.over = 11, 1.5, True
    ended = progress.read()
    assert (ended["iterations"], ended["spent"]) == (11, 1.5)
    assert progress.read() is ended
