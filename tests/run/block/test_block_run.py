"""Runs with many right-hand sides: stepping, saving, cancelling, a lost device, and what they refuse."""

import gc
import json
import weakref

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench import cli
from workbench.errors import InputError
from workbench.records import BlockHistory, kernel_table, load, save
from workbench.run import Race, Run, Session, Stopping, configure, race, run_through, sweep

WITHIN = {"stopping": Stopping(rtol=1e-8)}


def configuration(**chosen):
    stopping = chosen.pop("stopping", Stopping(rtol=1e-8))
    return configure("poisson5", n=12, rhs="random:3", stopping=stopping, **{"solver": "block-cg", **chosen})


def test_a_run_is_saved_whole_and_read_back(tmp_path):
    result = run_through(Run(configuration()))
    path = save(result.record(with_solution=True), tmp_path / "run.npz")
    found = load(path)
    assert isinstance(found.history, BlockHistory)
    for name in ("columns", "rank", "pivot"):
        np.testing.assert_array_equal(getattr(found.history, name), getattr(result.history, name))
    np.testing.assert_array_equal(found.solution, result.x)
    assert found.summary["columns"] == result.summary["columns"]


def test_the_history_by_column_ends_below_the_tolerance():
    result = run_through(Run(configuration()))
    assert result.history.columns.shape == (result.iterations + 1, 3)
    assert (result.history.columns[-1] <= 1e-8).all()
    np.testing.assert_array_equal(result.history["residual"], result.history.columns.max(axis=1))


@pytest.mark.parametrize("solver", ["block-cg", "pseudo-block-cg", "bf-block-cg", "block-cg-oleary"])
def test_nothing_keeps_a_run_that_was_dropped(solver):
    run = Run(configuration(solver=solver, preconditioner="ic"))
    run_through(run)
    kept = weakref.ref(run.workspace)
    del run
    gc.collect()
    assert kept() is None


def test_programs_are_compiled_once_where_columns_depend_on_others():
    B = np.random.default_rng(0).standard_normal((144, 2)) @ np.ones((2, 6))
    from workbench.run.choices.in_memory import InMemoryProblem, system_of

    A = configure("poisson5", n=12).problem.assemble(0).operator
    system, _ = system_of(A, B)
    run = Run(configure(InMemoryProblem(), solver="block-cg", preconditioner="ic"), system)
    counts = []
    while run.step():
        counts.append(len(run.workspace.programs))
    assert counts[-1] == counts[3]


def test_a_traced_run_records_its_lines():
    run = Run(configuration(), trace=True)
    trace = run_through(run).trace
    calls = {row["kernel"]: row["calls"] for row in kernel_table(trace)}
    assert calls["X = X + P@step"] == run.iterations
    assert calls["delta = (P, S)"] == run.iterations


def test_sessions_races_and_sweeps_take_many_right_hand_sides():
    alone = run_through(Run(configuration())).iterations
    assert Session(configuration()).wait(LIMIT).iterations == alone
    chosen = [configuration(solver=name) for name in ("block-cg", "pseudo-block-cg")]
    block, pseudo = race(chosen)
    assert (block.iterations, block.converged, pseudo.converged) == (alone, True, True)
    entered = Race(chosen)
    entered.start()
    entered.wait()
    assert [entry.result.iterations for entry in entered.entries] == [block.iterations, pseudo.iterations]
    rows = sweep("poisson5", {"solver": ["block-cg", "pseudo-block-cg"]}, n=12, rhs="random:3", **WITHIN).rows
    assert [row["iterations"] for row in rows] == [block.iterations, pseudo.iterations]


def test_the_command_line_prints_every_column(capsys):
    status = cli.main(["solve", "poisson5", "--n", "12", "--solver", "block-cg", "--rhs", "random:3"])
    out = capsys.readouterr().out
    assert status == 0
    assert out.count("converged, verified by the true residual") == 4
    cli.main(["solve", "poisson5", "--n", "12", "--solver", "block-cg", "--rhs", "random:3", "--json"])
    plain = json.loads(capsys.readouterr().out)
    assert len(plain["columns"]) == plain["right_hand_sides"] == 3


@pytest.mark.parametrize("rhs", ["random:0", "random:x", "random:-1", "columns"])
def test_right_hand_sides_that_make_no_sense(rhs):
    with pytest.raises(InputError, match="rhs"):
        configure("poisson5", rhs=rhs)
