"""The run of a configuration: with one right-hand side, or with many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.problems import LinearSystem
from workbench.run.block import BlockRun
from workbench.run.configuration import Configuration
from workbench.run.driver import Run
from workbench.run.setup_phases import SetupPhases
from workbench.run.vector_files import asks_for_blocks


def start_run(
    configuration: Configuration,
    system: LinearSystem | None = None,
    x0: np.ndarray | None = None,
    *,
    trace: bool = False,
    stopped: Callable[[], bool] = lambda: False,
    phases: SetupPhases | None = None,
) -> Run | BlockRun:
    """A new run; the parameters and errors are those of `Run`."""
    made = BlockRun if asks_for_blocks(configuration, system) else Run
    return made(configuration, system, x0, trace=trace, stopped=stopped, phases=phases)
