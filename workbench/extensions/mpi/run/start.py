"""The start of a run on ranks: mpiexec, and the phases of the setup as rank 0 reports them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import cast

import numpy as np

from workbench.errors import InputError
from workbench.extensions.mpi.run.iterations import RankIterations, trace_of_ranks
from workbench.extensions.mpi.run.messages import READY, SETUP, Job
from workbench.extensions.mpi.run.processes import RankProcesses
from workbench.extensions.mpi.run.setup import RankSetup
from workbench.problems import LinearSystem
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.run.loop.start_on_ranks import RunOnRanks
from workbench.run.setup.setup_phases import SetupPhases
from workbench.run.setup.solve_setup import SolveSetup

START = "start of the ranks"
"""The phase in which mpiexec starts and the ranks import their libraries."""


def start(
    configuration: Configuration,
    system: LinearSystem | None,
    x0: np.ndarray | None,
    *,
    trace: bool,
    stopped: Callable[[], bool],
    phases: SetupPhases,
) -> RunOnRanks:
    """See `workbench.run.loop.start_on_ranks.StartOnRanks`."""
    if system is not None and configuration.problem.name != InMemoryProblem.name:
        raise InputError(
            f"ranks assemble their rows of problem {configuration.problem.name} themselves, and were given a system; "
            "leave it out, or leave out ranks"
        )
    with contextlib.ExitStack() as on_error:
        with phases(START):
            ranks = RankProcesses(configuration.ranks, Job(configuration, system, x0, trace))
            on_error.callback(ranks.end)
            kind, _, data = ranks.next(stopped)
        before = len(phases.done)
        # The same phase once more: ranks begin their setup before their first message is read here, and what START has
        # counted of it is taken back.
        with phases(START):
            while kind != READY:
                kind, _, data = ranks.next(stopped)
                if kind == SETUP:
                    done, present = data
                    phases.follow(done, present, before)
            phases.follow(data.phases, "", before)
            phases.take_over(sum(phase.seconds for phase in data.phases) + data.compile_seconds)
        on_error.pop_all()
    phases.compile_seconds += data.compile_seconds
    setup = RankSetup(configuration, system, ranks, phases, data)
    merged = trace_of_ranks() if trace else None
    # Of a `SolveSetup` it has what is asked for where vectors are elsewhere.
    return RunOnRanks(cast(SolveSetup, setup), RankIterations(configuration, setup, merged), merged)
