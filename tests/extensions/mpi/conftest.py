"""Ranks of runs under test: their processes, and how they end."""

from __future__ import annotations

import contextlib

import psutil
import pytest

from tests.waiting import until
from workbench.run import Stopping, configure

# The process of the tests is no rank: Open MPI that starts in it changes the environment of what it starts.
with contextlib.suppress(ImportError):
    import mpi4py

    mpi4py.rc.initialize = False

ENDLESS = Stopping(rtol=0, atol=1e-300, stagnation=10**9, maxiter=10**9)


def endless(**more):
    """A configuration of a run on two ranks that never ends."""
    return configure(**{"problem": "poisson5", "n": 33, "solver": "sd", "ranks": 2, "stopping": ENDLESS, **more})


def pids_of(ranks):
    """The processes of the ranks."""
    return [pid for _, pid in ranks.present.processes]


def gone(pids):
    """Whether none of the processes is alive."""
    for pid in pids:
        # A process may end between two looks.
        with contextlib.suppress(psutil.NoSuchProcess):
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                return False
    return True


@pytest.fixture(autouse=True)
def _nothing_left(tmp_path, monkeypatch):
    """Whatever happens to the ranks of a test, no process and no file of theirs is left."""
    folder = tmp_path / "ranks"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield
    until(lambda: not any(folder.iterdir()))
    until(lambda: gone([one.pid for one in psutil.process_iter() if str(folder) in " ".join(_command(one))]))


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []
