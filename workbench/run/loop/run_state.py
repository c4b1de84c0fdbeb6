"""The state of a run between two iterations, from which snapshots and reports are made."""

from __future__ import annotations

import dataclasses

from workbench.records import History
from workbench.run.choices.configuration import Configuration
from workbench.run.loop.iterations import Iterations
from workbench.run.loop.stopping_test import Termination
from workbench.run.setup.solve_setup import SolveSetup


@dataclasses.dataclass(frozen=True, eq=False)
class RunState:
    """A run between two iterations.

    vectors: those of the run, as its iterations have them. ending: None while the run can be stepped. norm_of_b: ||b||
    of the original system. started: time of the start, ISO 8601. runs_at_once: the largest number of processes that
    have used the machine meanwhile.
    """

    configuration: Configuration
    setup: SolveSetup
    vectors: Iterations
    history: History
    ending: Termination | None
    norm_of_b: float
    started: str
    iteration_seconds: float
    runs_at_once: int = 1

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return max(0, self.history.count - 1)

    def relative(self, norm: float) -> float:
        """A norm over ||b||, or the norm itself where b = 0."""
        return norm / self.norm_of_b if self.norm_of_b > 0 else norm
