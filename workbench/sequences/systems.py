"""Sequences of systems: the problems that make them, step by step, each from the solution of the one before."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.problems import LinearSystem, Problem
from workbench.sequences.starts import check_start

STARTS_HELP = "first guess of a step: zero, last, linear, quadratic, or fischer:m for the best of m solutions"
LARGEST_TIME = 1e6


class StepSystem(NamedTuple):
    """One system of a sequence.

    time, dt: at its end, and the length of the step. b: shape (N,), overwritten by the next one; NumPy's, or CuPy's
    where a flow computes on CUDA. labels: the number of the connected component of each cell, 0 outside, int32, shape
    of the grid, in an array that is not changed later; NumPy's, or a `PlacedPhase` where a flow computes on an
    accelerator. unit: the norm of a residual whose volume error is 1, 0 where
    the tolerance is that of the configuration. moved: flat places of all cells whose label is another than in the
    system before, None where that is not known.
    """

    time: float
    dt: float
    b: np.ndarray
    labels: Any
    unit: float
    moved: np.ndarray | None = None


class Systems(abc.ABC):
    """The systems of a sequence in order, with the state that makes them.

    `next` is followed by `end` with its solution, or by `undo`. A differs by the labels alone. seconds: of the parts of
    the last step.
    """

    seconds: dict[str, float]

    @abc.abstractmethod
    def next(self) -> StepSystem | None:
        """The next system; None at the end."""

    @abc.abstractmethod
    def end(self, x: np.ndarray) -> None:
        """Take the solution of the last system, shape (N,), of the kind of its b."""

    def undo(self) -> None:  # noqa: B027  most systems change in `end` alone
        """Return to the state before the last system, which was not solved."""

    @abc.abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Arrays from which `restore` continues, copies."""

    @abc.abstractmethod
    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from a state, between two steps, whose arrays are like those of `state`. Raises InputError for
        entries that no state has."""

    def measures(self) -> dict[str, float]:
        """Numbers of the state reached, for the series, by the names in `SystemSequence.measured`."""
        return {}

    def drawn(self) -> dict[str, Callable[[], np.ndarray]]:
        """Fields to be drawn, by name: functions that return them, in the shape of the grid and in host memory."""
        return {}

    def fields(self) -> dict[str, np.ndarray]:
        """All fields to be drawn. Cost: passes over the grid, and a copy of each from an accelerator."""
        return {name: made() for name, made in self.drawn().items()}


@dataclasses.dataclass(frozen=True)
class SystemSequence(Problem):
    """Base class of problems that are sequences of systems; alone it is its first system."""

    has_phases: ClassVar[bool] = True
    measured: ClassVar[tuple[str, ...]] = ()
    """Names of what its steps measure."""
    drawn: ClassVar[tuple[str, ...]] = ()
    """Names of the fields of its `Systems` that are drawn, in 2D."""
    tolerance_by: ClassVar[str] = ""
    """The parameter of its `tolerance`, in place of rtol."""

    if TYPE_CHECKING:
        # Declared by every sequence, after the parameters that its text may leave out.
        start: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_start(self.start)
        self.check()

    @property
    def tolerance(self) -> float:
        """The volume error at which a solve ends; 0 where the tolerance is that of the configuration."""
        return 0.0

    def systems(self, device: str = "cpu") -> Systems:
        """Begin the sequence. device: where it computes, where it can. Raises InputError for what cannot be begun."""
        raise TypeError(f"problem {self.name} does not implement systems")

    def assemble(self, seed: int = 0) -> LinearSystem:
        self.check_memory()
        systems = self.systems()
        first = systems.next()
        if first is None:
            raise InputError(f"problem {self.name} has no step; use a later until")
        return self.system(first)

    def system(self, made: StepSystem) -> LinearSystem:
        """A system with its operator."""
        raise TypeError(f"problem {self.name} does not implement system")
