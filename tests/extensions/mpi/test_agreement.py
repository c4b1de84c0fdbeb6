"""Ranks call the same collective operations in the same order, whatever rows they have, and do not wait for ever."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extensions.mpi.conftest import gone, pids_of
from tests.waiting import LIMIT, until
from workbench.errors import RANKS_WAIT, DeviceError
from workbench.extensions.mpi import this_rank as ranks
from workbench.extensions.mpi.run import messages, processes
from workbench.extensions.mpi.run.launcher import environment, mpiexec
from workbench.problems.poisson import Poisson5
from workbench.run import Run, configure

SCRIPT = Path(__file__).with_name("agreeing.py")
EVERY_SIZE = " ".join(map(str, range(1, 13)))


@pytest.mark.parametrize(
    ("count", "rows", "solvers"),
    [
        (2, "3 5", "cg block-cg"),
        *(pytest.param(count, EVERY_SIZE, "", marks=pytest.mark.slow) for count in (2, 3, 4)),
    ],
)
def test_ranks_call_the_same_operations_whatever_rows_they_have(count, rows, solvers):
    command = [mpiexec(count), "-n", str(count), sys.executable, "-m", "mpi4py", str(SCRIPT), rows, solvers]
    env = environment() | {"WORKBENCH_THREADS": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    *wrong, last = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert not wrong
    assert {"CONVERGED", "CONSISTENT"} <= last["made"].keys()


@dataclasses.dataclass(frozen=True)
class Waiting(Poisson5):
    """A problem whose rows one rank asks another for, which does not send them."""

    def rows(self, slab, seed=0):
        if slab.first:
            ranks.world().recv(source=0, tag=99)
        return super().rows(slab, seed)


def test_ranks_that_wait_for_ever_end_and_say_where(monkeypatch):
    # More than ranks that start on busy cores are apart.
    monkeypatch.setenv(RANKS_WAIT, "3")
    started = []
    whole = processes.RankProcesses.next

    def noting(self, *arguments):
        message = whole(self, *arguments)
        started.extend(pids_of(self) if message[0] == messages.RANKS else [])
        return message

    monkeypatch.setattr(processes.RankProcesses, "next", noting)
    sentence = (
        r"rank 1 has waited 3 s for the other ranks in recv, called by test_agreement\.py, line \d+, .*in the setup; "
        f"run without ranks, or raise {RANKS_WAIT} where a rank is only slow$"
    )
    with pytest.raises(DeviceError, match=sentence):
        Run(configure(Waiting(9), ranks=2))
    until(lambda: gone(started))
