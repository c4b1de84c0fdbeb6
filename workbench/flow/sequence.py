"""Sequences of solves: a problem that makes systems step by step, and a method that solves them one after another."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, quoted
from workbench.flow.starts import StartVectors
from workbench.flow.systems import StepSystem, SystemSequence
from workbench.problems import LinearSystem
from workbench.run import Configuration, Reason, Run, configure, run_through

COLUMNS = ("time", "dt", "iterations", "seconds", "moved_cells")
"""Of the series of every sequence, before what its problem measures."""


class Step(NamedTuple):
    """One step: its number from 1, the time at its end, its length, iterations and why they ended, wall-clock seconds of
    its parts, `setup` and `iterate` of the solve among them, cells that changed their phase, and what was measured."""

    number: int
    time: float
    dt: float
    iterations: int
    reason: Reason
    seconds: dict[str, float]
    moved_cells: int
    measures: dict[str, float]


class MethodMark(NamedTuple):
    """From which step on a method is used. step: its number; label: the method's name."""

    step: int
    label: str


class Sequence:
    """A sequence of systems solved by one method, which may be changed between two steps.

    problem: a `Configuration` whose problem is a sequence, or what `configure` takes, with further settings of it. Not
    safe for several threads at once. series: by column, a list with a number for each step. marks: where methods begin.
    phases: of each step whether a cell is inside, one bit a cell, see `phase_at`.

    Cost of a step: that of its problem, and a solve. Raises InputError for a problem that is no sequence.

    Examples:
        >>> from workbench.flow.sequence import Sequence
        >>> sequence = Sequence("rising-bubbles", n=16, preconditioner="mg")
        >>> sequence.step().reason.name, len(sequence.series["time"])
        ('CONVERGED', 1)
    """

    def __init__(self, problem: Any, **settings: Any) -> None:
        configuration = problem if isinstance(problem, Configuration) else configure(problem, **settings)
        if isinstance(problem, Configuration) and settings:
            raise InputError("settings belong to the configuration that is given; leave out one of the two")
        if not isinstance(configuration.problem, SystemSequence):
            raise InputError(
                f"problem {quoted(configuration.problem.name)} is one system; a sequence is rising-bubbles, heat-steps or "
                "the path of a record, .seq.npz"
            )
        self.configuration = configuration
        self.reset()

    @property
    def problem(self) -> SystemSequence:
        """The problem of the configuration."""
        assert isinstance(self.configuration.problem, SystemSequence)
        return self.configuration.problem

    def reset(self) -> None:
        """Begin again, with the present method."""
        self.systems = self.problem.systems()
        self.series: dict[str, list[float]] = {name: [] for name in (*COLUMNS, *self.problem.measured)}
        self.seconds: list[dict[str, float]] = []
        self.marks = [MethodMark(1, self.configuration.label)]
        self.phases: list[np.ndarray] = []
        self.x: np.ndarray | None = None
        self._starts = StartVectors(self.problem.start)
        self._before: np.ndarray | None = None
        self.done = False

    @property
    def steps(self) -> int:
        """Steps done."""
        return len(self.seconds)

    def use(self, **settings: Any) -> None:
        """Use another method from the next step on; earlier solutions stay. settings: of `configure`, without a problem."""
        chosen = configure(self.problem, **{**_method(self.configuration), **settings})
        if chosen.problem != self.problem:
            raise InputError("the problem of a sequence stays; give only blocks and settings of a method")
        self.configuration = chosen
        self.marks.append(MethodMark(self.steps + 1, chosen.label))

    def step(self) -> Step | None:
        """Make one step; None at the end of the sequence. Raises InputError where a solve fails, with the state kept."""
        begun = time.perf_counter()
        made = self.systems.next()
        if made is None:
            self.done = True
            return None
        moved = self._extended(made)
        x0 = self._starts.vector(made.time, made.system.b, lambda x: _product(made.system, x))
        start_seconds = time.perf_counter() - begun - sum(self.systems.seconds.values())
        run = Run(self._for(made), made.system, x0=x0)
        result = run_through(run)
        if not result.converged:
            raise InputError(f"step {self.steps + 1} at time {made.time:.4g} {result.reason.sentence}")
        self.x = np.asarray(result.x)
        self._starts.note(self.x, made.time)
        self.systems.end(self.x)
        seconds = {
            **self.systems.seconds, "start": max(start_seconds, 0.0),
            "setup": run.setup_seconds, "iterate": run.iteration_seconds,
        }  # fmt: skip
        measured = self.systems.measures()
        whole = time.perf_counter() - begun
        self._note(made, result.iterations, whole, moved, measured, seconds)
        return Step(self.steps, made.time, made.dt, result.iterations, result.reason, seconds, moved, measured)

    def __iter__(self) -> Iterator[Step]:
        while (step := self.step()) is not None:
            yield step

    def phase_at(self, step: int) -> np.ndarray:
        """Whether each cell was inside after a step, from 1, bool, shape of the grid."""
        if not 1 <= step <= self.steps:
            raise InputError(f"step must be between 1 and {self.steps}, got {step}")
        assert self.problem.grid is not None
        shape = self.problem.grid
        count = int(np.prod(shape))
        return np.unpackbits(self.phases[step - 1], count=count).astype(bool).reshape(shape)

    def fields(self) -> dict[str, np.ndarray]:
        """What can be drawn of the state reached, see `Systems.fields`."""
        return self.systems.fields()

    def _extended(self, made: StepSystem) -> int:
        moved = 0
        if self._before is not None:
            moved = self._starts.extend(made.inside, self._before)
        self._before = made.inside.copy()
        return moved

    def _for(self, made: StepSystem) -> Configuration:
        """The configuration of a step, with its absolute tolerance."""
        error = self.problem.field("volume_error")
        if made.unit is None or error is None:
            return self.configuration
        stopping = self.configuration.stopping.changed({"rtol": 0.0, "atol": error * made.unit})
        return dataclasses.replace(self.configuration, stopping=stopping)

    def _note(
        self, made: StepSystem, iterations: int, whole: float, moved: int, measured: dict[str, float],
        seconds: dict[str, float],
    ) -> None:  # fmt: skip
        row = {"time": made.time, "dt": made.dt, "iterations": iterations, "seconds": whole, "moved_cells": moved}
        for name, value in (row | measured).items():
            self.series[name].append(value)
        self.phases.append(np.packbits(made.inside))
        self.seconds.append(seconds)


def _method(configuration: Configuration) -> dict[str, Any]:
    """The method of a configuration as keywords of `configure`."""
    return {
        field.name: getattr(configuration, field.name)
        for field in dataclasses.fields(configuration)
        if field.name != "problem"
    }


def _product(system: LinearSystem, x: np.ndarray) -> np.ndarray:
    from workbench import devices

    out = np.empty_like(x)
    system.operator.bind(devices.device("cpu")).apply(np.ascontiguousarray(x), out)
    return out
