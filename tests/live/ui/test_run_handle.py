"""A handle says the same of a session, a run, a result and a record."""

import dataclasses

import pytest

from tests.live.conftest import ended
from workbench.errors import InputError
from workbench.live.ui.run_handle import RunHandle
from workbench.run import Session, State, configure


@pytest.fixture(scope="module")
def session():
    return ended("poisson5", n=8, deflation="none", trace=True)


@pytest.mark.parametrize("form", ["session", "run", "result", "record"])
def test_all_forms_of_a_run_say_the_same(session, form):
    result = session.result
    run = RunHandle({"session": session, "run": session.run, "result": result, "record": result.record()}[form])
    assert (run.problem, run.method) == (session.configuration.problem.label, session.configuration.label)
    assert run.name == run.title == f"{run.problem}, {run.method}"
    assert RunHandle(run.source, "mine").name == "mine"
    assert (run.state, run.over, run.busy, run.error) == (State.DONE, True, False, "")
    assert run.unknowns == 64
    assert run.device == "cpu"
    assert run.history is not None
    assert run.history.count == result.iterations + 1
    assert run.trace is not None
    assert run.configuration() == session.configuration
    assert run.described()[0] == dataclasses.replace(session.configuration, device="cpu", memory_limit=None)
    # The end is evaluated by the session, so the run alone has no summary.
    assert run.summary is None if form == "run" else run.summary["iterations"] == result.iterations


def test_a_session_without_a_run_has_a_name_and_nothing_else():
    run = RunHandle(Session(configure("poisson5", n=8)))
    assert (run.history, run.trace, run.run, run.summary, run.unknowns) == (None,) * 5
    assert not run.over
    assert run.provenance == {"configuration": run.configuration().to_dict()}


def test_a_record_without_a_configuration_cannot_be_repeated(session):
    record = dataclasses.replace(session.result.record(), provenance={})
    with pytest.raises(InputError, match="cannot be repeated"):
        RunHandle(record).configuration()
