"""The runs of one explorer that have begun or wait for their turn, and which of them the buttons are about."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from workbench.live.plots.convergence import Curve
from workbench.run import Session, State
from workbench.run.cancellation import STOPPED_EARLY

WORKING = (State.SETUP, State.RUNNING)


@dataclasses.dataclass(frozen=True, eq=False)
class Going:
    """A run with its number in the explorer and its curve."""

    number: int
    session: Session
    curve: Curve

    @property
    def queued(self) -> bool:
        """It has not begun."""
        return self.session.run is None and self.session.state in (State.QUEUED, State.PAUSED)


def present(runs: Sequence[Going]) -> Going | None:
    """The one that works, else the one that is held, else the first that waits, else the last that has ended."""
    alive = [run for run in runs if run.session.alive]
    for states in (WORKING, (State.PAUSED,)):
        for run in alive:
            if run.session.state in states:
                return run
    return alive[0] if alive else _last_ended(runs)


def still_needed(runs: Sequence[Going]) -> tuple[Going, ...]:
    """Those that go on, also in the background, and the last one that has ended."""
    last = _last_ended(runs)
    return tuple(run for run in runs if run.session.alive or run.session.lingering or run is last)


def beside(runs: Sequence[Going], shown: Going) -> str:
    """What to say of the others, empty for nothing: those that wait, are held, or have still to come to an end."""
    others = [run for run in runs if run is not shown]
    groups = (
        ("queued", [run for run in others if run.queued]),
        ("held", [run for run in others if run.session.state is State.PAUSED and not run.queued]),
        ("stopped, ending in the background", [run for run in others if run.session.lingering]),
    )
    return "; ".join(f"{_names(found)} {what}" for what, found in groups if found)


def _last_ended(runs: Sequence[Going]) -> Going | None:
    """The latest that has ended; one that was taken out of the queue has nothing to say, unless no other is there."""
    ended = [run for run in runs if not run.session.alive]
    return max(ended, key=lambda run: (run.session.error != STOPPED_EARLY, run.number), default=None)


def _names(runs: Sequence[Going]) -> str:
    numbers = [str(run.number) for run in sorted(runs, key=lambda run: run.number)]
    if len(numbers) == 1:
        return f"run {numbers[0]}"
    return f"runs {', '.join(numbers[:-1])} and {numbers[-1]}"
