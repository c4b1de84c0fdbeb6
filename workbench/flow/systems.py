"""Sequences of systems: the problems that make them, step by step, each from the solution of the one before."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.problems import LinearSystem, Problem
from workbench.registry import parameter

STARTS_HELP = "first guess of a step: zero, last, linear, quadratic, or fischer:m for the best of m solutions"
LARGEST_TIME = 1e6


class StepSystem(NamedTuple):
    """One system of a sequence.

    time, dt: at its end, and the length of the step. system: A, b, the number of the component of each cell as phase.
    inside: whether a cell is of the second phase, shape of the grid. unit: the norm of a residual whose volume error is
    1, None where the tolerance is relative, as the configuration has it. parts_changed: whether components have merged,
    split or vanished.
    """

    time: float
    dt: float
    system: LinearSystem
    inside: np.ndarray
    unit: float | None
    parts_changed: bool


class Systems(abc.ABC):
    """The systems of a sequence in order, with the state that makes them.

    `next` is followed by `end` with its solution. time: that is reached. seconds: of the parts of the last step.
    """

    time: float = 0.0
    seconds: Mapping[str, float]

    @abc.abstractmethod
    def next(self) -> StepSystem | None:
        """The next system; None at the end."""

    @abc.abstractmethod
    def end(self, x: np.ndarray) -> None:
        """Take the solution of the last system, shape (N,)."""

    def measures(self) -> dict[str, float]:
        """Numbers of the state reached, for the series."""
        return {}

    def fields(self) -> dict[str, np.ndarray]:
        """What can be drawn, each of the shape of the grid."""
        return {}

    def state(self) -> dict[str, np.ndarray]:
        """Arrays from which `restore` continues, copies."""
        return {}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from a state."""


@dataclasses.dataclass(frozen=True)
class SystemSequence(Problem):
    """Base class of problems that are sequences of systems; alone it is its first system."""

    has_phases: ClassVar[bool] = True
    measured: ClassVar[tuple[str, ...]] = ()
    """Names of what its steps measure."""

    until: float = parameter(3.0, "time at which it ends", low=0.0, high=LARGEST_TIME)
    start: str = parameter("linear", STARTS_HELP)

    def systems(self) -> Systems:
        """Begin the sequence. Raises InputError for what cannot be begun."""
        raise TypeError(f"problem {self.name} does not implement systems")

    def assemble(self, seed: int = 0) -> LinearSystem:
        first = self.systems().next()
        assert first is not None
        return first.system

    def field(self, name: str) -> Any:
        """A parameter, for those that only some sequences have; None without it."""
        return getattr(self, name, None)
