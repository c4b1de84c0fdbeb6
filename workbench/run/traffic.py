"""The bytes of an iteration, counted from the plan of the solver's lines."""

from __future__ import annotations

from workbench.deflation.variants import TwoLevel
from workbench.devices.lines.counting import CountingDevice
from workbench.devices.lines.workspace import Workspace
from workbench.run.setup import SolveSetup


def planning_workspace(setting: SolveSetup) -> Workspace:
    """A workspace for the system of a run that plans programs, counts their vectors and bytes, and runs nothing."""
    vectors, operators = {"b": setting.seen_b, "x": setting.x}, {"A": setting.A, "M": setting.M}
    return Workspace(CountingDevice(), setting.b.size, setting.b.dtype, vectors=vectors, operators=operators)


def iteration_bytes(setting: SolveSetup) -> int | None:
    """Bytes that a plain iteration reads and writes, A, M and the second level included.

    What comes only now and then is left out: residual replacements, confirmed true residuals, looks at the drift. None
    for solvers whose work is shared between two devices, and where A or M is a function that tells nothing of its
    bytes. For a run that has been made, as some parts of M learn their sizes when they are first applied. Cost:
    planning, some milliseconds.
    """
    if setting.solver.needs_accelerator or 0 in (setting.bound.traffic, _first_level(setting)):
        return None
    space = planning_workspace(setting)
    _, iterate = space.lines(*setting.solver.texts(space))
    return iterate.bytes


def _first_level(setting: SolveSetup) -> int | None:
    """Bytes of one M^-1 r without the second level; None where it is a formula within the passes."""
    if isinstance(setting.M, TwoLevel):
        return next(traffic for _, _, name, traffic, _ in setting.M.parts() if name == "M")
    return getattr(setting.M, "traffic", None)
