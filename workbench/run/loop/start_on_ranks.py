"""The start of a run on ranks: processes of an extension make it, and this one shows it as any run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from workbench.problems import LinearSystem
from workbench.records import Trace
from workbench.registry.extensions import service
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.rank_rules import RANKS, check_ranks
from workbench.run.loop.iterations import Iterations
from workbench.run.setup.setup_phases import SetupPhases
from workbench.run.setup.solve_setup import SolveSetup


class RunOnRanks(NamedTuple):
    """A run whose ranks are set up.

    setup: what reports and views ask for; vectors and operators are with the ranks. trace: of all ranks, None where
    the run is not traced.
    """

    setup: SolveSetup
    iterations: Iterations
    trace: Trace | None


class StartOnRanks(Protocol):
    """The service `RANKS` of an extension: starts the ranks of a configuration and waits until they are set up."""

    def __call__(
        self,
        configuration: Configuration,
        system: LinearSystem | None,
        x0: np.ndarray | None,
        *,
        trace: bool,
        stopped: Callable[[], bool],
        phases: SetupPhases,
    ) -> RunOnRanks:
        """Arguments as those of a `Run`. Raises what the setup of a run does, in whichever rank."""
        ...


def start_on_ranks(
    configuration: Configuration,
    system: LinearSystem | None,
    x0: np.ndarray | None,
    *,
    trace: bool,
    stopped: Callable[[], bool],
    phases: SetupPhases,
) -> RunOnRanks:
    """Start a run on the ranks of its configuration. Raises InputError where it may not run on ranks."""
    check_ranks(configuration)
    start: StartOnRanks = service(RANKS)
    return start(configuration, system, x0, trace=trace, stopped=stopped, phases=phases)
