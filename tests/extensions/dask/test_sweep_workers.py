"""Sweeps on workers of a Dask scheduler: every row once, with what was lost and repeated."""

from __future__ import annotations

import importlib
import os
import signal

import pytest

from workbench.errors import CLUSTERS, InputError
from workbench.extensions.dask import workers as of_dask
from workbench.extensions.dask.local_workers import LocalWorkers
from workbench.run import Stopping, sweep
from workbench.run.jobs.sweeping import to_csv

pytest.importorskip("distributed", reason="workers need Dask")

ENDLESS = {
    "over": {"rtol": [0.5, 1e-300, 1e-299]},
    "solver": "sd",
    "stopping": Stopping(maxiter=10**9, stagnation=10**9),
}
"""A sweep whose first run alone ends: what happens then meets the second one at work."""


@pytest.fixture
def made(monkeypatch):
    """The `Workers` that are made."""
    found = []
    begin = of_dask.Workers.__init__
    monkeypatch.setattr(of_dask.Workers, "__init__", lambda self, *given: (found.append(self), begin(self, *given))[1])
    return found


def test_rows_of_workers_are_those_of_this_process(scheduler, tmp_path):
    over = {"n": [8, 13, 24], "deflation": ["none", "eigenvectors:400"]}
    here, there = sweep("two-layer", over), sweep("two-layer", over, workers=scheduler)
    same = ("n", "deflation", "N", "iterations", "converged", "reason", "deflation_vectors")
    assert [[row[name] for name in same] for row in there.rows] == [[row[name] for name in same] for row in here.rows]
    assert not here.on_workers
    assert all(row["worker"].startswith("tcp://127.0.0.1:") and row["repeats"] == 0 for row in there.rows)
    assert "worker,repeats" in to_csv(there, tmp_path / "rows.csv").read_text()


def test_the_row_of_a_lost_worker_is_repeated_and_marked(made):
    seen = []

    def progress(done, of, row):
        seen.append(row["n"])
        if done == 1:
            os.kill(made[0].processes[0], signal.SIGKILL)

    sizes = [200, 201, 202, 203, 204, 205]
    found = sweep("two-layer", {"n": sizes}, preconditioner="jacobi", workers="local:2", progress=progress)
    assert sorted(seen) == sizes == [row["n"] for row in found.rows]
    assert found.converged
    assert 1 <= sum(row["repeats"] for row in found.rows) <= 4
    assert max(row["repeats"] for row in found.rows) <= of_dask.REPEATS


def test_without_any_worker_left_the_rows_so_far_are_kept(made):
    def progress(done, of, row):
        for process in made[0].processes:
            os.kill(process, signal.SIGKILL)

    found = sweep("two-layer:16", **ENDLESS, workers="local:1", progress=progress)
    assert [row["converged"] for row in found.rows] == [True, False, False]
    assert "all workers of local:1 were lost" in found.rows[2]["reason"]


def test_a_lost_scheduler_keeps_the_rows_so_far():
    """One that was started elsewhere, as for this sweep."""
    distributed = importlib.import_module("distributed")
    elsewhere = LocalWorkers(distributed, 1)
    with distributed.Client(elsewhere.address, set_as_default=False) as client:
        elsewhere.wait_for(client)

    def progress(done, of, row):
        elsewhere.close()

    found = sweep("two-layer:16", **ENDLESS, workers=elsewhere.address, progress=progress)
    assert [row["converged"] for row in found.rows] == [True, False, False]
    assert f"the scheduler of cluster {elsewhere.address} does not answer any more" in found.rows[2]["reason"]


def test_stop_ends_a_run_on_a_worker_and_keeps_the_rows():
    ended = []
    found = sweep(
        "two-layer:16", **ENDLESS,
        workers="local:1", progress=lambda *given: ended.append(given), cancelled=lambda: bool(ended),
    )  # fmt: skip
    assert found.cancelled
    assert [row["rtol"] for row in found.rows] == [0.5]


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"workers": "local:0"}, "workers is the address of a Dask scheduler"),
        ({"workers": "host"}, "workers is the address of a Dask scheduler"),
        ({"workers": "tcp://127.0.0.1:1"}, "no Dask scheduler answers at tcp://127.0.0.1:1"),
        (
            {"workers": "local:2", "preconditioner": "schwarz:2x2", "cluster": "local:2"},
            "workers make the runs of a sweep, and cluster spreads the boxes of one run",
        ),
    ],
)
def test_bad_workers(choices, sentence, monkeypatch):
    monkeypatch.setattr(of_dask, "CONNECT_SECONDS", 1.0)
    with pytest.raises(InputError, match=sentence):
        sweep("two-layer", {"n": [8]}, **choices)


def test_other_versions_and_pages_that_may_not(scheduler, monkeypatch):
    with monkeypatch.context() as changed:
        here = os.getpid()
        changed.setattr(of_dask, "versions", lambda: {"workbench": "0.0" if os.getpid() == here else "0.1"})
        with pytest.raises(InputError, match="has workbench 0.1, and this process 0.0; install the same version"):
            sweep("two-layer", {"n": [8]}, workers=scheduler)
    monkeypatch.setenv(CLUSTERS, "none")
    with pytest.raises(InputError, match="workers are not available on this page"):
        sweep("two-layer", {"n": [8]}, workers="local:1")


def test_without_dask(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(InputError, match=r"needs Dask, which is not installed; run: pip install .*\[cluster\]"):
        sweep("two-layer", {"n": [8]}, workers="local:1")
