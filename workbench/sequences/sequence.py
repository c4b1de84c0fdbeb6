"""Sequences of solves: a problem that makes systems step by step, and the methods that solve each of them."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Listed
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.arrays.scaling import norm
from workbench.devices.interchange import on_host
from workbench.errors import InputError
from workbench.run import MACHINE_USE, Configuration, PreparedResult, Reason, configure
from workbench.sequences.method import Method, changed, problem_of
from workbench.sequences.starts import extend
from workbench.sequences.systems import StepSystem, Systems

if TYPE_CHECKING:
    from workbench.problems import Problem

COLUMNS = ("time", "dt", "iterations", "seconds", "moved_cells", "volume_error")
"""Columns of the series of every sequence, before the measures of its problem."""


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


class Sequence:
    """A sequence of systems, each solved by one method or by several, which may be changed between two steps.

    problem: a `Configuration` whose problem is a sequence, or what `configure` takes, with further settings of it.
    keep: True keeps all right-hand sides, a number those of that many last steps, for the record to replay that
    `workbench.extensions.flow.records.save` writes; 8 N bytes each. others: settings of further methods, see `add`.
    renewed_every: of the leading method, see `Method`. at_once: make the state of the problem now, not with the
    first step. Not safe for several threads at once.

    series: by column, a list with a number for each step; its first are `COLUMNS`, whose iterations and seconds are
    those of the leading method alone. methods: the leading one, from whose solution the next system follows, and the
    others. phases: of each step whether a cell is inside, one bit a cell, see `phase_at`. x: the last solution, of the
    kind of the right-hand sides: on CUDA those of a flow are CuPy's. labels: of the last step, see `StepSystem`.
    systems: the state of the problem, see `Systems`.

    A flow computes on the device of the leading method that it begins with.

    Cost of a step: that of its problem, and per method a solve and what `Prepared.update` takes for the cells that have
    changed. Raises InputError for a problem that is no sequence, and for a method that cannot be prepared.

    Examples:
        >>> from workbench.sequences.sequence import Sequence
        >>> sequence = Sequence("rising-bubbles", n=16, preconditioner="mg")
        >>> sequence.step().reason.name, len(sequence.series["time"])
        ('CONVERGED', 1)
    """

    def __init__(
        self,
        problem: str | Problem | Configuration,
        *,
        keep: bool | int = False,
        others: Listed[Mapping[str, Any]] = (),
        renewed_every: int = 1,
        at_once: bool = True,
        **settings: Any,
    ) -> None:
        if isinstance(problem, Configuration) and settings:
            raise InputError("settings belong to the configuration that is given; leave out one of the two")
        configuration = problem if isinstance(problem, Configuration) else configure(problem, **settings)
        self.problem, self._keeps = problem_of(configuration), keep
        leading = Method(configuration, renewed_every=renewed_every)
        self._begin([leading, *(_other(configuration, **other) for other in others)])
        if at_once:
            _ = self.systems

    @property
    def configuration(self) -> Configuration:
        """The problem with the leading method."""
        return self.methods[0].configuration

    @property
    def systems(self) -> Systems:
        """The state of the problem, made when it is first asked for, which may compile kernels."""
        if self._systems is None:
            self._systems = self.problem.systems(self.methods[0].configuration.device)
        return self._systems

    @property
    def steps(self) -> int:
        """Steps done."""
        return len(self.seconds)

    def reset(self) -> None:
        """Begin again, with the present methods."""
        self._begin([Method(known.configuration, renewed_every=known.renewed_every) for known in self.methods])

    def use(self, **settings: Any) -> None:
        """Change the leading method from the next step on, see `Method.use`."""
        self.methods[0].use(**settings)

    def add(self, **settings: Any) -> Method:
        """Let a further method solve the systems from the next step on: the leading one with these settings of
        `Method.use`. It begins with the solutions of the leading one. Raises InputError as that."""
        method = _other(self.configuration, self.methods[0].starts, self.steps, **settings)
        self.methods = [*self.methods, method]
        return method

    def remove(self, method: Method) -> None:
        """Let a method that is not the leading one solve no more."""
        if method is self.methods[0]:
            raise InputError("the leading method makes the steps; use another one in its place")
        self.methods = [known for known in self.methods if known is not method]

    def step(self, stopped: Callable[[], bool] = lambda: False) -> Step | None:
        """Make one step; None at the end of the sequence.

        Raises InputError where the leading method or the flow fails, and StoppedError within a solve once `stopped`
        returns True. The sequence is then that after the step before: `use` another method, or step again. Of the
        other methods one that fails is noted, see `Method.failure`.
        """
        begun, before = time.perf_counter(), self.labels
        made = self.systems.next()
        if made is None:
            self.done = True
            return None
        leading, *others = self.methods
        try:
            moved = self._extended(made)
            result, parts = leading.solve(made, moved, stopped)
            also = [self._also(method, made, moved, stopped) for method in others]
        except BaseException:
            self.systems.undo()
            self.labels = before
            raise
        self.x = result.x
        if self._keeps:
            # `end` may overwrite it.
            self.kept.append(np.array(on_host(made.b, "b")))
        self.systems.end(result.x)
        last = time.perf_counter()
        measured = self.systems.measures()
        now = time.perf_counter()
        seconds = {**self.systems.seconds, **parts, "measures": now - last}
        leading.take(made.time, result, parts)
        for method, solved in zip(others, also, strict=True):
            method.take(made.time, *solved) if solved else method.note(math.nan, {})
        whole = now - begun - sum(filter(math.isfinite, (method.seconds[-1] for method in others)))
        # NumPy's norm wakes the threads of BLAS, which takes longer than all of a small solve.
        size = norm(made.b) if isinstance(made.b, np.ndarray) else float(np.linalg.norm(made.b))
        left = size * result.true_relative_residual / made.unit if made.unit else math.nan
        row = {"time": made.time, "dt": made.dt, "iterations": result.iterations, "seconds": whole}
        self._note(made, {**row, "moved_cells": moved, "volume_error": left, **measured}, seconds)
        return Step(self.steps, made.time, made.dt, result.iterations, result.reason, seconds, moved, measured)

    def run(self) -> Sequence:
        """Step to the end; returns this sequence. Raises InputError as `step`."""
        for _ in self:
            pass
        return self

    def __iter__(self) -> Iterator[Step]:
        with MACHINE_USE:
            while (step := self.step()) is not None:
                yield step

    def ranking(self) -> list[dict[str, Any]]:
        """The methods by milliseconds per step, the fastest first, those that failed last: label, deflation vectors of
        the latest step, means of iterations, milliseconds and milliseconds of setup over the steps after the first that
        each has solved, whose setup is that of everything, and why it failed."""
        rows = []
        for method in self.methods:
            solved = np.isfinite(method.seconds)
            if solved.sum() > 1:
                solved[solved.argmax()] = False
            means = [np.array(values)[solved].mean() if solved.any() else math.nan for values in method.series]
            names = ("iterations", "milliseconds", "setup_milliseconds")
            numbers = dict(zip(names, np.multiply(means, (1, 1000, 1000)).tolist(), strict=True))
            about = {"method": method.label, "deflation_vectors": method.deflation_vectors}
            rows.append({**about, **numbers, "failure": method.failure})
        return sorted(rows, key=lambda row: (bool(row["failure"]), row["milliseconds"]))

    def ranked(self) -> str:
        """The ranking as a table."""
        rows = self.ranking()
        width = max(len(row["method"]) for row in rows)
        lines = [f"{'method':{width}}  iterations per step  ms per step  of which setup"]
        for row in rows:
            numbers = f"{row['iterations']:19.3g}  {row['milliseconds']:11.3g}  {row['setup_milliseconds']:14.3g}"
            lines.append(f"{row['method']:{width}}  {row['failure'] or numbers}")
        return "\n".join(lines)

    def phase_at(self, step: int) -> np.ndarray:
        """True for each cell that was inside after a step, from 1; bool, shape of the grid."""
        if not 1 <= step <= self.steps:
            raise InputError(f"step must be between 1 and {self.steps}, got {step}")
        assert self.labels is not None
        bits = np.unpackbits(self.phases[step - 1], count=self.labels.size)
        return bits.astype(bool).reshape(self.labels.shape)

    def _begin(self, methods: list[Method]) -> None:
        self._systems: Systems | None = None
        self.series: dict[str, list[float]] = {name: [] for name in (*COLUMNS, *self.problem.measured)}
        self.seconds: list[dict[str, float]] = []
        self.methods = methods
        self.phases: list[np.ndarray] = []
        self.kept: deque[np.ndarray] = deque(maxlen=None if self._keeps is True else int(self._keeps))
        self.units: list[float] = []
        self.x: Any = None
        self.labels: Any = None
        self.done = False

    @staticmethod
    def _also(
        method: Method, made: StepSystem, moved: int, stopped: Callable[[], bool]
    ) -> tuple[PreparedResult, dict[str, float]] | None:
        """The result of a method that does not lead, and its seconds by part; None once it has failed."""
        if not method.failure:
            try:
                return method.solve(made, moved, stopped)
            except InputError as error:
                method.failure = str(error)
        return None

    def _extended(self, made: StepSystem) -> int:
        """Continue earlier solutions into changed cells; the number of these."""
        labels, before, self.labels = made.labels, self.labels, made.labels
        if before is None:
            return 0
        moved = np.flatnonzero(np.asarray(labels) != np.asarray(before)) if made.moved is None else made.moved
        cells = moved[(labels.reshape(-1)[moved] > 0) != (before.reshape(-1)[moved] > 0)]
        for method in self.methods if cells.size else ():
            extend(method.starts.solutions, labels, before, cells)
        return cells.size

    def _note(self, made: StepSystem, row: Mapping[str, float], seconds: dict[str, float]) -> None:
        for name, value in row.items():
            self.series[name].append(value)
        labels = made.labels
        self.phases.append(np.packbits(labels > 0) if isinstance(labels, np.ndarray) else labels.bits())
        self.units.append(made.unit)
        self.seconds.append(seconds)


def _other(configuration: Configuration, *known: Any, renewed_every: int = 1, **settings: Any) -> Method:
    """A method that differs from a configuration in some settings. known: of `Method`."""
    return Method(changed(configuration, **settings), *known, renewed_every=renewed_every)
