"""What a page does with a method: every registered one races, is swept, looked into, and stepped or says why not."""

from __future__ import annotations

import pytest

import workbench.run  # noqa: F401  registers every block
from tests.waiting import LIMIT
from workbench.costs.roofline import roofline_points
from workbench.errors import InputError
from workbench.live import StepView
from workbench.records import kernel_table
from workbench.registry import blocks as registry
from workbench.run import Race, Reason, Run, State, Stopping, configure, run_through, sweep, user_solver
from workbench.run.jobs.ranking import MEASURES, rank

SOLVERS = {name: solver for name, solver in registry.registered("solver").items() if name != "petsc"}
"""PETSc is optional, and has tests of its own."""
MINE = user_solver("mine")
EVERY = [*sorted(SOLVERS), MINE]
MANY = sorted(name for name, cls in SOLVERS.items() if cls.takes_blocks)
SHORT = Stopping(rtol=1e-3)


def name_of(solver):
    return getattr(solver, "spec", solver)


def chosen(solver, **choices):
    pair = solver is not MINE and SOLVERS[solver].needs_accelerator
    choices = {"preconditioner": "jacobi", "rhs": "random", "device": "opencl" if pair else "cpu"} | choices
    return configure("poisson5", n=9, solver=solver, stopping=SHORT, **choices)


def test_every_solver_races():
    entries = [chosen(solver) for solver in EVERY] + [chosen(solver, rhs="random:2") for solver in MANY]
    entries += [chosen("mpcg", preconditioner=first) for first in ("schwarz:2x2", "jacobi + neumann:1")]
    race = Race(entries, queue=None)
    results = race.wait(LIMIT)
    assert [(entry.label, result.reason) for entry, result in zip(race.entries, results, strict=True)] == [
        (entry.label, Reason.CONVERGED) for entry in race.entries
    ]
    for measure in MEASURES:
        found = rank(race.entries, 1e-2, measure)
        assert len(found.finished) + len(found.uncounted) == len(entries)
        assert not found.failed
    for entry in race.entries:
        # The setup of `hybrid` takes the method that is fastest here.
        assert (entry.iteration_bytes is not None) == entry.run.setup.solver.same_work


@pytest.mark.parametrize("device", ["cpu", "opencl"])
def test_every_solver_is_swept(device):
    names = sorted(name for name, cls in SOLVERS.items() if cls.needs_accelerator == (device == "opencl"))
    rows = sweep("poisson5", {"solver": names}, n=9, rhs="random", device=device, stopping=SHORT).rows
    assert [(row["solver"], row["converged"]) for row in rows] == [(name, True) for name in names]


@pytest.mark.parametrize("solver", EVERY, ids=name_of)
def test_every_solver_can_be_looked_into(solver):
    trace = run_through(Run(chosen(solver), trace=True)).trace
    assert {row["lane"] for row in kernel_table(trace) if row["calls"]} == set(trace.busy())
    for lane in trace.busy():
        assert sum(point.share for point in roofline_points(trace, lane)) == pytest.approx(1)


@pytest.mark.parametrize("solver", EVERY, ids=name_of)
def test_every_solver_is_stepped_or_says_why_not(solver):
    configuration = chosen(solver, device="cpu")
    if why := configuration.solver.not_stepped:
        with pytest.raises(
            InputError, match=f"solver {solver} has no lines to step through: it .*; step through"
        ) as no:
            StepView(configuration)
        assert str(no.value).endswith(why)
        return
    StepView(configuration, iterations=2).close()


def test_an_entry_that_fails_has_a_result_with_its_reason(monkeypatch):
    wrong = chosen("cg", deflation="eigenvectors:400"), chosen("cg"), chosen("hybrid1", device="cpu")
    configurations = [chosen("cg"), *wrong]
    race = Race(configurations, queue=None)
    race.entries[2].advance()
    race.entries[2].advance()
    monkeypatch.setattr(race.entries[2].run, "step", lambda: (_ for _ in ()).throw(RuntimeError("a wheel came off")))
    good, bad, broken, refused = race.wait(LIMIT)
    assert good.reason is Reason.CONVERGED
    assert {result.reason for result in (bad, broken, refused)} == {Reason.FAILED}
    assert bad.summary["reason"].startswith("not solved: an error ended the run (")
    for result, words in ((bad, "400 vectors"), (broken, "a wheel came off"), (refused, "device cpu")):
        assert words in result.detail
        assert result.summary.keys() == good.summary.keys()
        assert not result.converged
        assert result.x.shape == (0,)
        with pytest.raises(InputError, match="no solution to save"):
            result.record()
    assert {entry.state for entry in race.entries[1:]} == {State.FAILED}
    assert race.entries[2].error == "the run failed by a RuntimeError: a wheel came off"
    assert broken.history.count == 1
    assert rank(race.entries, 1e-2).failed == tuple(race.entries[1:])
