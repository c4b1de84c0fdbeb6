"""Runs of systems in memory, and sessions that iterate until they are stopped or their test has ended."""

import pytest

from tests.waiting import LIMIT, until
from workbench.problems import LinearSystem
from workbench.run import Run, Session, Stopping, configure
from workbench.run.choices.in_memory import InMemoryProblem

ENDLESS = Stopping(rtol=0, atol=1e-300, stagnation=10**9, maxiter=10**9)


@pytest.fixture
def endless():
    """Make a session of a solve that never ends. queue: as of `Session`."""
    made = []

    def session(queue=None, n=32):
        made.append(Session(configure("poisson5", n=n, solver="sd", stopping=ENDLESS), queue=queue))
        return made[-1]

    yield session
    for each in made:
        each.stop()
    for each in made:
        each.join(LIMIT)


def iterating(*jobs, beyond=3):
    """Wait until each of the sessions or entries of a race has made more than so many iterations."""
    until(lambda: all(job.run is not None and job.run.iterations > beyond for job in jobs))


def run_of(operator, b, solver="cg", device="cpu", x0=None, **stopping):
    """A run of a system in memory with the default preconditioner."""
    configuration = configure(InMemoryProblem(), solver=solver, device=device, stopping=Stopping(**stopping))
    return Run(configuration, LinearSystem(operator, b), x0=x0)
