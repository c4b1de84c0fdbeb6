"""The runs of one explorer that have begun or wait for their turn, and which of them the buttons are about."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from workbench.live.convergence import Curve
from workbench.run import Session, State

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
    return alive[0] if alive else max(runs, key=lambda run: run.number, default=None)


def still_needed(runs: Sequence[Going]) -> tuple[Going, ...]:
    """Those that go on, also in the background, and the last one that has ended."""
    last = max((run.number for run in runs if not run.session.alive), default=0)
    return tuple(run for run in runs if run.session.alive or run.session.lingering or run.number == last)


def beside(runs: Sequence[Going], shown: Going) -> str:
    """What to say of the others, empty for nothing: those that wait, are held, or have still to come to an end."""
    others = [run for run in runs if run is not shown]
    groups = (
        ("queued", [run for run in others if run.queued]),
        ("held", [run for run in others if run.session.state is State.PAUSED and not run.queued]),
        ("stopped, ending in the background", [run for run in others if run.session.lingering]),
    )
    return "; ".join(f"{_names(found)} {what}" for what, found in groups if found)


def _names(runs: Sequence[Going]) -> str:
    numbers = [str(run.number) for run in sorted(runs, key=lambda run: run.number)]
    if len(numbers) == 1:
        return f"run {numbers[0]}"
    return f"runs {', '.join(numbers[:-1])} and {numbers[-1]}"
