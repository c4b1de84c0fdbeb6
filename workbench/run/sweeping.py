"""A sweep: one run after another for every combination of some choices, as rows of plain data."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import workbench
from workbench.errors import InputError, sentence_of
from workbench.machine.describe import describe_machine
from workbench.problems import Problem
from workbench.run.cancellation import StoppedError
from workbench.run.configuration import Configuration, configure
from workbench.run.driver import Run
from workbench.run.result import Result
from workbench.run.run_queue import QueueSlot, RunQueue
from workbench.run.stopping import Reason, Stopping
from workbench.settings import SWEEP_AXES

OUTCOME = (
    "N",
    "nnz",
    "deflation_vectors",
    "iterations",
    "converged",
    "reason",
    "relative_residual",
    "true_relative_residual",
    "setup_seconds",
    "iteration_seconds",
)
"""What a row says of a run beside the choices, as in its summary; of a run that failed only why, the rest None."""
MOST_RUNS = 10_000

Row = dict[str, Any]
Progress = Callable[[int, int, Row], None]
"""Called after every run with the number of runs done, that of all, and the row."""
Taken = Callable[[Configuration, Result], object]
"""Called with each run that gave a result, before its row is known."""


@dataclasses.dataclass(frozen=True)
class Sweep:
    """The rows of a sweep, in the order in which they ran: the choices by name, then `OUTCOME`, seconds in s.

    over: the values of each choice that was swept. cancelled: it ended before all were run. provenance: the first
    configuration in full, versions, machine and time.
    """

    over: dict[str, list[Any]]
    rows: list[Row]
    cancelled: bool
    provenance: dict[str, Any]

    @property
    def columns(self) -> list[str]:
        """The names of a row's fields."""
        return [*self.over, *OUTCOME]

    @property
    def converged(self) -> bool:
        """Every combination was run and converged."""
        return not self.cancelled and all(row["converged"] for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dataclasses.asdict(self)


def sweep(
    problem: str | Problem,
    over: Mapping[str, Sequence[Any]],
    *,
    stopping: Stopping | None = None,
    progress: Progress | None = None,
    taken: Taken | None = None,
    cancelled: Callable[[], bool] | None = None,
    turn: RunQueue | None = None,
    **choices: Any,
) -> Sweep:
    """Run the cartesian product of the values in `over`, the last name varying fastest.

    over: values by name, such as {"n": [64, 128], "deflation": ["none", "stripes"]}; names are `SWEEP_AXES` or
    parameters of the problem. choices: what stays the same, as in `configure`. cancelled is asked between iterations
    and between the parts of a setup; the run under way then ends and has its row, as with Ctrl-C. The setup of the
    first run of a method includes compiling it. taken: called with each result; the sweep itself keeps none. turn: the
    queue in which each run waits for its turn, by default none. Raises InputError for unknown names and wrong values
    before anything runs; a combination that cannot be solved has a row that says why.
    """
    points = combinations(problem, over, stopping=stopping, **choices)
    asked = cancelled or (lambda: False)
    place = QueueSlot(turn if turn is not None else RunQueue())
    begun = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    rows: list[Row] = []
    stopped = False
    for chosen, configuration in points:
        stopped = asked()
        if stopped:
            break
        try:
            if not place.take(unless=asked):
                stopped = True
                break
            row, stopped = _run(chosen, configuration, asked, taken)
        finally:
            place.give_back()
        rows.append(row)
        if progress:
            progress(len(rows), len(points), row)
        if stopped:
            break
    provenance = {
        "configuration": points[0][1].to_dict(),
        "started": begun,
        "workbench": workbench.__version__,
        "machine": describe_machine(),
    }
    return Sweep({name: list(values) for name, values in over.items()}, rows, stopped, provenance)


def combinations(
    problem: str | Problem, over: Mapping[str, Sequence[Any]], *, stopping: Stopping | None = None, **choices: Any
) -> list[tuple[Row, Configuration]]:
    """The runs of a sweep: the values of each and its whole configuration. Raises InputError as `sweep` does."""
    if not over:
        raise InputError("sweep: there is nothing to sweep; give at least one choice with its values, such as n")
    for name, values in over.items():
        if isinstance(values, str) or not len(values):
            raise InputError(f"sweep: {name} needs a list with at least one value, got {values!r}")
        if name in choices:
            raise InputError(f"sweep: {name} is given as fixed and as swept; give it once")
        told = [str(value) for value in values]
        twice = next((value for value in told if told.count(value) > 1), None)
        if twice is not None:
            raise InputError(f"sweep: {name} has the value {twice} twice; give each value once")
    points = list(itertools.islice(itertools.product(*over.values()), MOST_RUNS + 1))
    if len(points) > MOST_RUNS:
        raise InputError(f"a sweep has at most {MOST_RUNS} runs; give fewer values")
    parameters = [name for name in over if name not in SWEEP_AXES]
    made = []
    for point in points:
        chosen = dict(zip(over, point, strict=True))
        own = {name: chosen[name] for name in parameters}
        rest = {name: value for name, value in chosen.items() if name not in parameters}
        rest |= {"seed": _whole(rest["seed"])} if "seed" in rest else {}
        made.append((chosen, configure(problem, stopping=stopping, **choices, **rest, **own)))
    return made


def _run(
    chosen: Row, configuration: Configuration, cancelled: Callable[[], bool], taken: Taken | None
) -> tuple[Row, bool]:
    """The row of one run, and whether it was cancelled."""
    run, stopped = None, False
    # Hours of rows must not be lost to one run, whatever went wrong with it, were it a SystemExit of a user's function.
    try:
        try:
            run = Run(configuration, stopped=cancelled)
            while not stopped and run.step():
                stopped = cancelled()
        except (KeyboardInterrupt, StoppedError):
            stopped = True
        if run is None:
            return _no_row(chosen, Reason.CANCELLED.sentence), True
        if stopped:
            run.cancel()
        result = run.result()
        summary = result.summary
        if taken:
            taken(configuration, result)
    except BaseException as error:
        return _no_row(chosen, sentence_of(error)), stopped
    return {**chosen, **{name: summary[name] for name in OUTCOME}}, stopped


def _no_row(chosen: Row, reason: str) -> Row:
    return {**chosen, **dict.fromkeys(OUTCOME), "converged": False, "reason": reason}


def _whole(seed: Any) -> int:
    try:
        return int(seed)
    except (TypeError, ValueError):
        raise InputError(f"seed must be a whole number, got {seed!r}") from None
