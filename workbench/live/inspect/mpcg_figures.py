"""What the figures of a run of `mpcg` show: taken while it runs, as often as it may be drawn, and at its end."""

from __future__ import annotations

import dataclasses
import enum
import time

import numpy as np

from workbench.live.ui.run_handle import RunHandle
from workbench.run import Look, Run, Session, State
from workbench.solvers.multi.basis import Step
from workbench.solvers.multi.directions import Directions

PERIOD = 0.3
"""Seconds between two pictures during a run, at least."""
SHARE = 0.25
"""Of the time of a run that painting may take: Matplotlib keeps Python's lock, which products and solves in
boxes do not need."""


class Part(enum.Enum):
    """A vector or block that is copied from the device only where it is shown."""

    RESIDUAL = enum.auto()
    BLOCK = enum.auto()


@dataclasses.dataclass(frozen=True, eq=False)
class Inside:
    """A run of `mpcg` after an iteration, in host memory.

    steps: what each iteration did. pieces: the unknowns of each box. residual: |b - A x|, shape (N,), and block: the
    latest directions, shape (N, k); None where they were not asked for. watched: the run, for its provenance.
    """

    watched: RunHandle
    grid: tuple[int, ...]
    steps: list[Step]
    pieces: list[np.ndarray]
    residual: np.ndarray | None = None
    block: np.ndarray | None = None

    def has(self, part: Part | None) -> bool:
        """Whether a part was taken; None is no part."""
        return part is None or (self.residual if part is Part.RESIDUAL else self.block) is not None


def inside(run: Run, watched: RunHandle, *parts: Part) -> Inside:
    """What there is to see between two iterations. For the thread that iterates.

    Cost: the residual takes one application of A, the block one read of all terms per direction.
    """
    assert run.workspace is not None
    directions: Directions = run.workspace.operators["D"]
    residual = block = None
    if Part.RESIDUAL in parts:
        residual = np.abs(run.setup.device.to_host(run.true_residual()))
    if Part.BLOCK in parts:
        block = directions.latest_block() if directions.steps else np.zeros((run.x.size, 0))
    return Inside(watched, run.setup.system.grid or (), list(directions.steps), directions.pieces, residual, block)


class Follower:
    """Follows a running session. seen: the latest look, None before the first.

    A running session is looked at again once the last picture was `drawn` and its pause is over; a session that is
    held, and another part that is wanted, at once.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.seen: Inside | None = None
        self._look: Look[Inside] | None = None
        self._asked: tuple[int, Part | None] = (0, None)
        self._next = 0.0

    @property
    def ended(self) -> bool:
        """No further look is taken."""
        return not self.session.alive

    def poll(self, part: Part | None) -> None:
        """Receive the look that was asked for, and ask for the next if it is due. part: that which is shown."""
        run = self.session.run
        if self._look is not None and self._look.done:
            self.seen, self._look = self._look.value or self.seen, None
        if run is None or self._look is not None or self.ended:
            return
        wanted = (run.iterations, part)
        due = time.monotonic() >= self._next or self.session.state is not State.RUNNING or part != self._asked[1]
        if run.iterations and wanted != self._asked and due:
            self._asked = wanted
            watched, parts = RunHandle(self.session), [part] if part else []
            self._look = run.snapshots.look(lambda: inside(run, watched, *parts))

    def drawn(self, seconds: float) -> None:
        """What was seen is on the page, which took so long."""
        self._next = time.monotonic() + max(PERIOD, seconds * (1 / SHARE - 1))
