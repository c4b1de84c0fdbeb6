"""One method on a sequence of systems: its setup, kept from step to step, its start vectors, and its series."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from workbench.errors import InputError, quoted
from workbench.registry import Parameter
from workbench.run import Configuration, Prepared, PreparedResult, configure
from workbench.sequences.starts import DEFAULT, StartVectors
from workbench.sequences.systems import StepSystem, SystemSequence
from workbench.words.numbers import ordinal

PARTS = ("setup", "start", "solve")
"""The parts of the seconds of a method in a step."""
RENEWED_EVERY = Parameter(
    "renewed_every", int, 1, "steps for which mg keeps its coarse levels; 1 for none", low=1, high=10**6
)


class MethodMark(NamedTuple):
    """From which step on a method is used. step: its number; label: the method's name."""

    step: int
    label: str


class Method:
    """A method that solves every system of a sequence.

    configuration: its problem is the sequence, and may have a start of its own. starts: earlier solutions, copied.
    steps: of the sequence, before this method is added to it. renewed_every: steps that preconditioner mg keeps its
    coarse levels for; 1 renews them with every cell that changes.

    iterations, setup_seconds, seconds: lists with a number for each step of the sequence, NaN where the method did not
    solve; seconds are those of start, setup and solve. marks: where it was changed. failure: a sentence once a solve
    has failed; it solves no further system until it is changed.
    """

    def __init__(
        self,
        configuration: Configuration,
        starts: StartVectors | None = None,
        steps: int = 0,
        renewed_every: int = 1,
    ) -> None:
        self.configuration, self.failure = configuration, ""
        self.renewed_every = _checked(renewed_every, configuration)
        self.starts = StartVectors(problem_of(configuration).start, starts)
        self.iterations, self.setup_seconds, self.seconds = ([math.nan] * steps for _ in range(3))
        self.marks = [MethodMark(steps + 1, self.label)]
        self._prepared: Prepared | None = None
        self._renewed = self._set_up_at = 0
        """The steps at which all levels were made last, and whose phase the setup has."""

    @property
    def label(self) -> str:
        """The method's name."""
        kept = f", levels of every {ordinal(self.renewed_every)} step" if self.renewed_every > 1 else ""
        start = f", start {self.starts.kind}" if self.starts.kind != DEFAULT else ""
        return f"{self.configuration.label}{kept}{start}"

    @property
    def deflation_vectors(self) -> int:
        """The number of deflation vectors of the latest setup; 0 before the first."""
        return self._prepared.deflation_vectors if self._prepared is not None else 0

    @property
    def series(self) -> tuple[list[float], list[float], list[float]]:
        """Iterations, seconds, and seconds of setup."""
        return self.iterations, self.seconds, self.setup_seconds

    def use(self, *, renewed_every: int = 1, **settings: Any) -> None:
        """Use another method from the next step on; earlier solutions stay. settings: of `configure`, without a
        problem. Raises InputError for those, and for a method that does not take the problem."""
        configuration = changed(self.configuration, **settings)
        self.renewed_every = _checked(renewed_every, configuration)
        self.configuration, self._prepared, self.failure = configuration, None, ""
        self.starts = StartVectors(problem_of(self.configuration).start, self.starts)
        mark = MethodMark(len(self.iterations) + 1, self.label)
        self.marks = [*(known for known in self.marks if known.step != mark.step), mark]

    def solve(
        self, made: StepSystem, moved: int, stopped: Callable[[], bool] = lambda: False
    ) -> tuple[PreparedResult, dict[str, float]]:
        """Solve a system whose cells differ in `moved` places from the one before; the result, and seconds by part.
        stopped: see `Prepared.solve`.

        Raises InputError where the solve does not converge, with the failure noted.
        """
        begun = time.perf_counter()
        prepared = self._up_to_date(made, moved)
        set_up = time.perf_counter()
        x0 = self.starts.vector(made.time, made.b, prepared.product)
        started = time.perf_counter()
        result = prepared.solve(made.b, x0, stopped)
        if not result.converged:
            self.failure = f"step {len(self.iterations) + 1} at time {made.time:.4g}: {result.reason.sentence} "
            self.failure += result.detail
            raise InputError(self.failure)
        return result, {"setup": set_up - begun, "start": started - set_up, "solve": result.seconds}

    def take(self, at: float, result: PreparedResult, seconds: dict[str, float]) -> None:
        """Add a step, with the solution that `solve` has found for this time."""
        self.starts.note(result.x, at)
        self.note(result.iterations, seconds)

    def note(self, iterations: float, seconds: dict[str, float]) -> None:
        """Add a step to the lists."""
        self.iterations.append(iterations)
        self.setup_seconds.append(seconds.get("setup", math.nan))
        self.seconds.append(sum(seconds.values()) if seconds else math.nan)

    def _up_to_date(self, made: StepSystem, moved: int) -> Prepared:
        """The method set up for a system, with its absolute tolerance."""
        problem = problem_of(self.configuration)
        step = len(self.iterations)
        if self._prepared is None:
            self._prepared, self._renewed = Prepared(self.configuration, problem.system(made)), step
        elif moved:
            keep = step - self._renewed < self.renewed_every
            # A step that is made again after it failed may have been set up already.
            places = made.moved if self._set_up_at == step - 1 else None
            self._prepared.update(made.labels, numbered=True, moved=places, keep_coarse=keep)
            self._renewed = self._renewed if keep else step
        self._set_up_at = step
        if made.unit:
            atol = problem.tolerance * made.unit
            stopping = self.configuration.stopping
            if not math.isclose(self._prepared.configuration.stopping.atol, atol, rel_tol=1e-12):
                stopping = stopping.changed({"rtol": 0.0, "atol": atol})
                self._prepared.configuration = dataclasses.replace(self._prepared.configuration, stopping=stopping)
        return self._prepared


def _checked(renewed_every: object, configuration: Configuration) -> int:
    """The number of steps. Raises InputError for another, and for a preconditioner without levels to keep."""
    steps: int = RENEWED_EVERY.check(renewed_every)
    preconditioner = configuration.preconditioner
    if steps > 1 and not preconditioner.keeps_levels:
        raise InputError(
            f"renewed_every keeps coarse levels of preconditioner mg, and {preconditioner.name} has none; leave it at 1"
        )
    return steps


def problem_of(configuration: Configuration) -> SystemSequence:
    """The sequence of a configuration. Raises InputError for a problem that is one system."""
    if not isinstance(configuration.problem, SystemSequence):
        raise InputError(
            f"problem {quoted(configuration.problem.name)} is one system; a sequence is rising-bubbles, heat-steps "
            "or a record, .seq.npz"
        )
    return configuration.problem


def settings_of(configuration: Configuration) -> dict[str, Any]:
    """All of a configuration but its problem, by name, as `configure` takes it."""
    return {name: value for name, value in configuration.choices.items() if name != "problem"}


def changed(configuration: Configuration, **settings: Any) -> Configuration:
    """The configuration with other blocks, settings, and another start of its problem. Raises InputError for one that
    changes the problem otherwise."""
    before = problem_of(configuration)
    chosen = configure(before, **{**settings_of(configuration), **settings})
    if dataclasses.replace(problem_of(chosen), start=before.start) != before:
        raise InputError("the problem of a sequence stays; change only its start, blocks and settings of its method")
    return chosen
