"""Sweeps: every combination once, each as a single run would go."""

from __future__ import annotations

import csv
import itertools
import json

import pytest

from workbench.errors import InputError
from workbench.run import QueueSlot, Run, RunQueue, configure, run_through, sweep
from workbench.run.jobs.sweeping import plain, to_csv, to_json

OVER = {"n": [8, 16], "preconditioner": ["jacobi", "neumann:2"], "deflation": ["none", "stripes"]}


def test_rows_are_those_of_single_runs_in_order():
    seen = []
    found = sweep("two-layer", OVER, progress=lambda done, of, row: seen.append((done, of, row)))
    assert [tuple(row[name] for name in OVER) for row in found.rows] == list(itertools.product(*OVER.values()))
    for row in found.rows:
        alone = run_through(Run(configure("two-layer", **{name: row[name] for name in OVER})))
        assert row["iterations"] == alone.iterations
        assert row["true_relative_residual"] == alone.true_relative_residual
        assert row["N"] == row["n"] ** 2
    assert found.converged
    assert seen == [(number, 8, row) for number, row in enumerate(found.rows, 1)]


def test_a_sweep_is_cancelled_between_iterations(monkeypatch):
    made, steps = Run.step, []
    monkeypatch.setattr(Run, "step", lambda run, most=None: steps.append(run) or made(run, most))
    found = sweep("two-layer", OVER, cancelled=lambda: len(steps) >= 5)
    assert found.cancelled
    assert not found.converged
    (row,) = found.rows
    # The start is the first step.
    assert row["iterations"] == 4
    assert row["reason"].startswith("stopped by the user")


def test_what_cannot_be_solved_has_a_row_that_says_why():
    found = sweep("two-layer", {"deflation": ["eigenvectors:400", "none"]}, n=8)
    bad, good = found.rows
    assert "400 vectors" in bad["reason"]
    assert bad["iterations"] is None
    assert good["converged"]
    assert not found.converged


def test_ctrl_c_keeps_the_rows(monkeypatch):
    def interrupt(run, most=None):
        raise KeyboardInterrupt

    def progress(done, of, row):
        monkeypatch.setattr(Run, "step", interrupt)

    found = sweep("two-layer", {"n": [8, 16, 24]}, progress=progress)
    assert [row["converged"] for row in found.rows] == [True, False]
    assert found.cancelled


def test_ctrl_c_at_the_end_of_a_run_ends_the_sweep():
    def interrupt(configuration, result):
        raise KeyboardInterrupt

    found = sweep("two-layer", {"n": [8, 16]}, on_result=interrupt)
    assert [row["reason"] for row in found.rows] == ["stopped by the user"]
    assert found.cancelled


def test_files_hold_rows_and_provenance(tmp_path):
    found = sweep("two-layer", {"n": [8], "preconditioner": ["jacobi", "neumann:2"]})
    lines = to_csv(found, tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    notes = dict(line[2:].split(": ", 1) for line in lines if line.startswith("#"))
    assert json.loads(notes["configuration"])["problem"]["parameters"]["n"] == 8
    assert json.loads(notes["machine"])["cpu"]
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert [int(row["iterations"]) for row in rows] == [row["iterations"] for row in found.rows]
    assert json.loads(to_json(found, tmp_path / "a.json").read_text(encoding="utf-8")) == plain(found)
    with pytest.raises(InputError, match="choose another place"):
        to_csv(found, tmp_path / "nowhere" / "a.csv")


@pytest.mark.parametrize(
    ("over", "more", "sentence"),
    [
        ({}, {}, "nothing to sweep"),
        ({"n": []}, {}, "at least one value"),
        ({"n": "64"}, {}, "at least one value"),
        ({"n": [8, 8]}, {}, "8 twice"),
        ({"n": [8, "x"]}, {}, "n must be a whole number"),
        ({"solver": ["cg", "pipecgg"]}, {}, "did you mean pipecg"),
        ({"size": [8]}, {}, "unknown parameter 'size'"),
        ({"solver": ["cg"]}, {"solver": "sd"}, "give it once"),
        ({"seed": ["x"]}, {}, "seed must be a whole number"),
        ({"n": list(range(8, 108)), "seed": list(range(101))}, {}, "at most 10000 runs"),
    ],
)
def test_wrong_values_are_told_before_anything_runs(over, more, sentence, monkeypatch):
    monkeypatch.setattr("workbench.run.jobs.sweeping.Run", None)
    with pytest.raises(InputError, match=sentence):
        sweep("two-layer", over, **more)


def test_a_sweep_that_is_stopped_while_it_waits_has_no_row():
    queue = RunQueue()
    other = QueueSlot(queue)
    assert other.acquire(unless=lambda: False)
    found = sweep("poisson5", {"n": [8, 9]}, cancelled=iter([False, True]).__next__, slot=QueueSlot(queue))
    assert found.cancelled
    assert found.rows == []


def test_whatever_a_users_function_raises_costs_its_own_row_only(monkeypatch):
    class Leaves(Run):
        def step(self, most=None):
            if self.configuration.problem.n == 8:
                raise SystemExit(3)
            return super().step(most)

    monkeypatch.setattr("workbench.run.jobs.sweeping.Run", Leaves)
    found = sweep("poisson5", {"n": [8, 9]})
    assert [row["converged"] for row in found.rows] == [False, True]
    assert "SystemExit" in found.rows[0]["reason"]


def test_whoever_asks_gets_each_result():
    kept = []
    found = sweep(
        "two-layer", {"n": [8, 12]}, on_result=lambda configuration, result: kept.append((configuration, result))
    )
    assert [configuration.problem.n for configuration, _ in kept] == [8, 12]
    assert [result.iterations for _, result in kept] == [row["iterations"] for row in found.rows]


def test_the_tolerance_is_swept():
    found = sweep("poisson5", {"rtol": [1e-2, "1e-8"]}, n=16)
    assert [row["rtol"] for row in found.rows] == [1e-2, "1e-8"]
    assert [row["relative_residual"] <= rtol for row, rtol in zip(found.rows, (1e-2, 1e-8), strict=True)] == [
        True,
        True,
    ]
    assert found.rows[0]["relative_residual"] > 1e-8
    with pytest.raises(InputError, match="rtol must be"):
        sweep("poisson5", {"rtol": [-1.0]}, n=16)
