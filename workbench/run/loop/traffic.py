"""Memory traffic of an iteration, counted from the plan of the solver's lines."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from workbench.deflation.variants import TwoLevel
from workbench.devices.programs.counting import CountingDevice
from workbench.devices.programs.workspace import Workspace
from workbench.lines.schedule import Inlined
from workbench.run.setup.solve_setup import SolveSetup


@runtime_checkable
class KnowsIterationBytes(Protocol):
    """A setup of a run that iterates elsewhere, where `iteration_bytes` was counted."""

    @property
    def iteration_bytes(self) -> int | None: ...


def planning_workspace(setup: SolveSetup) -> Workspace:
    """A workspace for the system of a run that plans programs and counts their vectors and bytes, but runs nothing."""
    operators = {"A": setup.A, "M": setup.M}
    vectors = {"b": setup.solver_b, "x": setup.x}
    return Workspace(
        CountingDevice(), setup.b.size, setup.b.dtype, vectors=vectors, operators=operators, stored=setup.stored
    )


def iteration_bytes(setup: SolveSetup | KnowsIterationBytes) -> int | None:
    """Bytes that an ordinary iteration reads and writes, including A, M and the second level.

    Occasional work is not counted: residual replacements, true residuals, measurements of the drift. None where
    iterations differ, as the rank or the number of directions does, for solvers on two devices, and where A or M is a
    function of unknown traffic. Cost: planning, some milliseconds.
    """
    if isinstance(setup, KnowsIterationBytes):
        return setup.iteration_bytes
    if not setup.solver.same_work or 0 in (setup.bound.traffic, _first_level(setup)):
        return None
    space = planning_workspace(setup)
    _, iterate = space.lines(*setup.solver.texts(space))
    return iterate.bytes


def _first_level(setup: SolveSetup) -> int | None:
    """Bytes of one M^-1 r without the second level; None if it is element-wise and fused into the passes."""
    if isinstance(setup.M, TwoLevel):
        return next(call.traffic for call in setup.M.parts() if call.name == "M")
    return None if isinstance(setup.M, Inlined) else setup.M.traffic
