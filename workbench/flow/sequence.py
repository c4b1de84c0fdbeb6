"""Sequences of solves: a problem that makes systems step by step, and a method that solves them one after another."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, quoted
from workbench.flow.starts import StartVectors
from workbench.flow.systems import StepSystem, SystemSequence
from workbench.run import MACHINE_USE, Configuration, Prepared, Reason, configure

COLUMNS = ("time", "dt", "iterations", "seconds", "moved_cells")
"""Of the series of every sequence, before what its problem measures."""


class Step(NamedTuple):
    """One step: its number from 1, the time at its end, its length, iterations and why they ended, wall-clock seconds
    of its parts (those of the flow, then start, setup, solve and measures), cells that changed their phase, and what
    was measured."""

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

    problem: a `Configuration` whose problem is a sequence, or what `configure` takes, with further settings of it.
    keep: whether the right-hand sides are kept, so that `workbench.flow.records.save` can write a record to replay, for
    8 N bytes a step. Not safe for several threads at once.

    series: by column, a list with a number for each step; its first are `COLUMNS`. marks: where methods begin. phases:
    of each step whether a cell is inside, one bit a cell, see `phase_at`. x: the last solution. systems: the state of
    the problem, see `Systems`.

    The setup is kept while no cell changes its phase, vectors and programs always. Cost of a step: that of its problem,
    a solve, and a setup where cells have changed. Raises InputError for a problem that is no sequence, and for a method
    that cannot be prepared.

    Examples:
        >>> from workbench.flow.sequence import Sequence
        >>> sequence = Sequence("rising-bubbles", n=16, preconditioner="mg")
        >>> sequence.step().reason.name, len(sequence.series["time"])
        ('CONVERGED', 1)
    """

    def __init__(self, problem: Any, *, keep: bool = False, **settings: Any) -> None:
        if isinstance(problem, Configuration) and settings:
            raise InputError("settings belong to the configuration that is given; leave out one of the two")
        configuration = problem if isinstance(problem, Configuration) else configure(problem, **settings)
        if not isinstance(configuration.problem, SystemSequence):
            raise InputError(
                f"problem {quoted(configuration.problem.name)} is one system; a sequence is rising-bubbles, "
                "heat-steps or a record, .seq.npz"
            )
        self.configuration, self._keeps = configuration, keep
        self.reset()

    @property
    def problem(self) -> SystemSequence:
        """The problem of the configuration."""
        assert isinstance(self.configuration.problem, SystemSequence)
        return self.configuration.problem

    @property
    def steps(self) -> int:
        """Steps done."""
        return len(self.seconds)

    def reset(self) -> None:
        """Begin again, with the present method."""
        self.systems = self.problem.systems()
        self.series: dict[str, list[float]] = {name: [] for name in (*COLUMNS, *self.problem.measured)}
        self.seconds: list[dict[str, float]] = []
        self.marks = [MethodMark(1, self.configuration.label)]
        self.phases: list[np.ndarray] = []
        self.kept: list[np.ndarray] = []
        self.units: list[float] = []
        self.x: np.ndarray | None = None
        self.starts = StartVectors(self.problem.start)
        self.labels: np.ndarray | None = None
        self._prepared: Prepared | None = None
        self._pending: StepSystem | None = None
        self.done = False

    def use(self, **settings: Any) -> None:
        """Use another method from the next step on; earlier solutions stay. settings: of `configure`, without a
        problem."""
        names = [field.name for field in dataclasses.fields(Configuration) if field.name != "problem"]
        chosen = configure(self.problem, **{**{name: getattr(self.configuration, name) for name in names}, **settings})
        if chosen.problem != self.problem:
            raise InputError("the problem of a sequence stays; change only blocks and settings of its method")
        self.configuration, self._prepared = chosen, None
        mark = MethodMark(self.steps + 1, chosen.label)
        self.marks = [*(known for known in self.marks if known.step != mark.step), mark]

    def step(self) -> Step | None:
        """Make one step; None at the end of the sequence.

        Raises InputError where a solve or the flow fails. After a solve that failed, `use` another method and step on.
        """
        begun = last = time.perf_counter()
        if self._pending is None:
            self._pending = self.systems.next()
            if self._pending is None:
                self.done = True
                return None
            last = time.perf_counter()
            moved = self._moved = self._extended(self._pending.labels)
        else:
            moved = self._moved
        made = self._pending
        seconds = {"setup": 0.0, "start": 0.0}
        prepared = self._up_to_date(made)
        seconds["setup"], last = time.perf_counter() - last, time.perf_counter()
        x0 = self.starts.vector(made.time, made.b, self._product)
        seconds["start"] = time.perf_counter() - last
        result = prepared.solve(made.b, x0)
        if not result.converged:
            raise InputError(f"step {self.steps + 1} at time {made.time:.4g}: {result.reason.sentence} {result.detail}")
        self._pending = None
        self.x = np.asarray(result.x)
        self.starts.note(self.x, made.time)
        self.systems.end(self.x)
        seconds = {**self.systems.seconds, **seconds, "solve": result.seconds}
        last = time.perf_counter()
        measured = self.systems.measures()
        now = time.perf_counter()
        seconds["measures"] = now - last
        self._note(made, result.iterations, now - begun, moved, measured, seconds)
        return Step(self.steps, made.time, made.dt, result.iterations, result.reason, seconds, moved, measured)

    def __iter__(self) -> Iterator[Step]:
        with MACHINE_USE:
            while (step := self.step()) is not None:
                yield step

    def phase_at(self, step: int) -> np.ndarray:
        """Whether each cell was inside after a step, from 1; bool, shape of the grid."""
        if not 1 <= step <= self.steps:
            raise InputError(f"step must be between 1 and {self.steps}, got {step}")
        assert self.labels is not None
        bits = np.unpackbits(self.phases[step - 1], count=self.labels.size)
        return bits.astype(bool).reshape(self.labels.shape)

    def _extended(self, labels: np.ndarray) -> int:
        """Continue earlier solutions into changed cells; how many there are."""
        moved = 0 if self.labels is None else self.starts.extend(labels, self.labels)
        self.labels = labels.copy()
        return moved

    def _up_to_date(self, made: StepSystem) -> Prepared:
        """The method set up for a step, with its absolute tolerance."""
        if self._prepared is None:
            self._prepared = Prepared(self.configuration, self.problem.system(made))
        elif self._moved:
            self._prepared.update(made.labels)
        if made.unit:
            atol = self.problem.tolerance * made.unit
            stopping = self.configuration.stopping
            if not math.isclose(self._prepared.configuration.stopping.atol, atol, rel_tol=1e-12):
                stopping = stopping.changed({"rtol": 0.0, "atol": atol})
                self._prepared.configuration = dataclasses.replace(self._prepared.configuration, stopping=stopping)
        return self._prepared

    def _product(self, x: np.ndarray) -> np.ndarray:
        from workbench import devices

        assert self._prepared is not None
        out = np.empty_like(x)
        self._prepared.system.operator.bind(devices.device("cpu")).apply(np.ascontiguousarray(x), out)
        return out

    def _note(
        self, made: StepSystem, iterations: int, whole: float, moved: int, measured: dict[str, float],
        seconds: dict[str, float],
    ) -> None:  # fmt: skip
        row = {"time": made.time, "dt": made.dt, "iterations": iterations, "seconds": whole, "moved_cells": moved}
        for name, value in (row | measured).items():
            self.series[name].append(value)
        self.phases.append(np.packbits(made.labels > 0))
        self.units.append(made.unit)
        if self._keeps:
            self.kept.append(made.b.copy())
        self.seconds.append(seconds)
