"""Whatever goes wrong in a solve is a sentence in the view, and everything can be used again."""

import threading

import pytest

from tests.waiting import LIMIT
from workbench.errors import DeviceError
from workbench.run import Reason, Run, State, configure
from workbench.run.choices.in_memory import InMemoryPreconditioner
from workbench.run.jobs.sweeping import RESULT_FIELDS
from workbench.run.loop.single.iterations import SingleIterations

SENTENCES = [
    (ZeroDivisionError("division by zero"), "the run failed by a ZeroDivisionError: division by zero"),
    (MemoryError(), "there is not enough memory; take a smaller problem, or close other programs"),
    (KeyboardInterrupt(), "the run failed by a KeyboardInterrupt"),
    (SystemExit(3), "the run failed by a SystemExit: 3"),
]


class Breaks:
    """M = I that raises at its fifth call, once."""

    def __init__(self, error):
        self.error, self.calls = error, 0

    def __call__(self, r):
        self.calls += 1
        if self.calls == 5:
            raise self.error
        return r


def solving():
    return [thread for thread in threading.enumerate() if thread.name in ("workbench-solve", "workbench-race")]


@pytest.fixture
def explorer(view_in):
    return view_in("solve", n=16)


@pytest.fixture
def break_step(monkeypatch):
    """Let the third step of the next run raise."""

    def arm(error):
        made, steps = Run.step, []

        def step(run, most=None):
            steps.append(run)
            if len(steps) == 3:
                raise error
            return made(run, most)

        monkeypatch.setattr(Run, "step", step)

    return arm


@pytest.mark.parametrize(("error", "sentence"), SENTENCES)
def test_the_explorer_says_it_lists_it_and_runs_again(explorer, eventually, break_step, error, sentence):
    break_step(error)
    failed = explorer.run()
    eventually(lambda: explorer.status.text == f"Run 1: {sentence}")
    assert (failed.state, explorer.status.tone) == (State.FAILED, "bad")
    eventually(lambda: explorer.table.table.rows and explorer.table.table.rows[0][-1].get("tip") == sentence)
    assert explorer.table.table.marks == ["failed"]
    buttons = explorer.controls
    eventually(lambda: (buttons.run.disabled, buttons.stop.disabled, buttons.pause.disabled) == (False, True, True))
    assert explorer.run().wait(LIMIT).converged
    eventually(lambda: explorer.status.text.startswith("Run 2: Converged"))
    eventually(lambda: not solving())
    assert len(explorer.records) == 1


def test_a_lost_device_ends_the_run_with_its_reason(explorer, eventually, monkeypatch):
    advance, steps = SingleIterations.advance, []

    def lose(run, most):
        steps.append(run)
        if len(steps) == 4:
            raise DeviceError("device stub does not answer (the plug was pulled); restart Python")
        return advance(run, most)

    monkeypatch.setattr(SingleIterations, "advance", lose)
    monkeypatch.setattr("workbench.run.driver.devices.forget", lambda runtime: None)
    monkeypatch.setattr("workbench.devices.cpu.Cpu.runtime", None, raising=False)
    assert explorer.run().wait(LIMIT).reason is Reason.DEVICE_LOST
    eventually(lambda: "the plug was pulled" in explorer.status.text)
    assert explorer.run().wait(LIMIT).converged


@pytest.mark.parametrize(("error", "sentence"), SENTENCES)
def test_a_race_says_it_in_the_lane_and_the_others_go_on(view_in, eventually, error, sentence):
    bad = configure("two-layer", n=16, preconditioner=InMemoryPreconditioner(Breaks(error)))
    view = view_in("race", configure("two-layer", n=16))
    view.add(bad)
    view.start()
    good, failing = view.race.entries
    eventually(lambda: failing.state is State.FAILED and good.state is State.DONE)

    eventually(lambda: [cells[-1]["tip"] for cells in view.table.rows if cells[0]["text"][0] == "2"] == [sentence])
    eventually(lambda: view.status.stop.disabled and view.status.pause.disabled)
    third = view.add(configure("two-layer", n=16, preconditioner="neumann:2"))
    eventually(lambda: third.state is State.DONE)
    assert third.result.converged
    eventually(lambda: not solving())


@pytest.mark.parametrize(("error", "sentence"), SENTENCES[:2])
def test_a_sweep_has_a_row_that_says_it(view_in, eventually, error, sentence):
    view = view_in("sweep", "two-layer", {"n": [12, 16]}, preconditioner=InMemoryPreconditioner(Breaks(error)))
    view.run()
    bad, good = view.wait(LIMIT).rows
    assert bad["reason"] == sentence
    assert good["converged"]
    eventually(lambda: not view.status.run.disabled and view.status.stop.disabled)
    view.run()
    assert view.wait(LIMIT).converged


def test_a_sweep_that_breaks_as_a_whole_keeps_its_rows_and_can_be_run_again(view_in, eventually, monkeypatch):
    view = view_in("sweep", "two-layer", {"n": [12, 16]})

    def breaks(*given, progress, **more):
        progress(1, 2, {"n": 12, **dict.fromkeys(RESULT_FIELDS), "converged": False, "reason": "none"})
        raise SystemExit(3)

    with monkeypatch.context() as patch:
        patch.setattr("workbench.live.compare.sweep.sweep", breaks)
        view.run()
        eventually(lambda: view.status.state == "failed")
    eventually(lambda: "the run failed by a SystemExit: 3; 1 of 2 runs done" in view.status.text)
    eventually(lambda: (view.status.run.disabled, view.status.stop.disabled) == (False, True))
    assert len(view.rows) == 1
    view.run()
    assert view.wait(LIMIT).converged
