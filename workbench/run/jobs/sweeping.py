"""Parameter sweeps: one run for every combination of some choices, reported as rows of plain data."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import workbench
from workbench.errors import CLUSTERS, DeviceError, InputError, error_message
from workbench.files import EndedBySignal, write
from workbench.files.codec import finite, table
from workbench.machines.describe import describe_machine
from workbench.problems import Problem
from workbench.run.cancellation import StoppedError
from workbench.run.choices.configuration import Configuration, configure
from workbench.run.choices.share_link import from_link, to_link
from workbench.run.choices.stopping import Reason, Stopping
from workbench.run.driver import Run
from workbench.run.jobs.run_queue import QueueSlot, RunQueue
from workbench.run.loop.result import Result
from workbench.run.machine_use import MACHINE_USE
from workbench.settings import STOPPING, SWEEP_AXES, SWEEP_STOPPING, SWEEP_WORKERS

RESULT_FIELDS = (
    "N",
    "nnz",
    "deflation_vectors",
    "iterations",
    "converged",
    "reason",
    "relative_residual",
    "true_relative_residual",
    "setup_seconds",
    "compile_seconds",
    "iteration_seconds",
)
"""The fields of a run's summary that a row holds after the choices; None in a failed run, except for the reason."""
WORKER_FIELDS = ("worker", "repeats")
"""On workers also the address of the one that made the run, and how often it was repeated since others were lost."""
MOST_RUNS = 10_000

Row = dict[str, Any]
Progress = Callable[[int, int, Row], None]
"""Called after every run with the number of runs done, that of all, and the row."""
OnResult = Callable[[Configuration, Result], object]
"""Called with the result of each run that did not fail, before `Progress`."""


@dataclasses.dataclass(frozen=True)
class Sweep:
    """The rows of a sweep, in the order of their runs: the choices by name, then `RESULT_FIELDS`, seconds in s.

    over: the values of each swept choice. cancelled: it ended before all runs were made. provenance: the first
    configuration in full, versions, machine and time.

    Examples:
        >>> from workbench.run import sweep
        >>> swept = sweep("two-layer", {"n": [8, 16]})
        >>> swept.converged, [row["N"] for row in swept.rows]
        (True, [64, 256])
    """

    over: dict[str, list[Any]]
    rows: list[Row]
    cancelled: bool
    provenance: dict[str, Any]

    @property
    def columns(self) -> list[str]:
        """The names of a row's fields."""
        return [*self.over, *RESULT_FIELDS, *(WORKER_FIELDS if self.on_workers else ())]

    @property
    def on_workers(self) -> bool:
        """True if workers made the runs."""
        return "workers" in self.provenance

    @property
    def converged(self) -> bool:
        """True if every combination was run and converged."""
        return not self.cancelled and all(row["converged"] for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dataclasses.asdict(self)


def to_csv(swept: Sweep, path: str | Path) -> Path:
    """Write one row per run, and the provenance in comment lines that start with #. Raises InputError on failure."""
    about = {**swept.provenance, "cancelled": swept.cancelled}
    rows = ([row.get(name) for name in swept.columns] for row in swept.rows)
    return write(Path(path), table(about, swept.columns, rows))


def to_json(swept: Sweep, path: str | Path) -> Path:
    """Write over, rows, cancelled and provenance as one object. Raises InputError on failure."""
    return write(Path(path), json.dumps(plain(swept), indent=1))


def plain(swept: Sweep) -> dict[str, Any]:
    """The sweep with null for NaN and infinity in its rows, which JSON lacks."""
    whole = swept.to_dict()
    return {**whole, "rows": finite(whole["rows"])}


def sweep(
    problem: str | Problem,
    over: Mapping[str, Sequence[Any]],
    *,
    stopping: Stopping | None = None,
    progress: Progress | None = None,
    on_result: OnResult | None = None,
    cancelled: Callable[[], bool] | None = None,
    slot: QueueSlot | None = None,
    workers: str | None = None,
    **choices: Any,
) -> Sweep:
    """Run the cartesian product of the values in `over`, the last name varying fastest.

    over: values by name, such as {"n": [64, 128], "deflation": ["none", "stripes"]}; names are `SWEEP_AXES`,
    `SWEEP_STOPPING` or parameters of the problem. choices: the fixed settings, as in `configure`. cancelled:
    cancellation request, tested between iterations and between the parts of a setup; the current run then ends and has
    its row, as with Ctrl-C. on_result: called with each result; the sweep keeps none. slot: in the run queue, held
    during each run; by default in a new queue. workers: the address of a Dask scheduler whose
    workers make the runs, or local:4 for four processes of this machine; rows then come in the order in which runs end,
    `on_result` is not called, and a row has two more fields, `WORKER_FIELDS`. Raises InputError for unknown names and
    wrong values before the first run, and where no workers answer; a combination that cannot be solved has a row with
    the reason.

    Examples:
        >>> from workbench.run import sweep
        >>> found = sweep("two-layer", {"n": [8, 16], "deflation": ["none", "stripes"]})
        >>> [(row["n"], row["deflation_vectors"]) for row in found.rows]
        [(8, 0), (8, 16), (16, 0), (16, 32)]
    """
    points = combinations(problem, over, stopping=stopping, **choices)
    begun = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    stop = cancelled or (lambda: False)
    if workers := SWEEP_WORKERS.check(workers):
        rows, stopped = _on_workers(points, workers, stop, progress)
    else:
        rows, stopped = _run_all(points, slot or QueueSlot(RunQueue()), stop, progress, on_result)
    provenance = {
        "configuration": points[0][1].to_dict(),
        "started": begun,
        "workbench": workbench.__version__,
        "machine": describe_machine(),
    }
    if workers:
        provenance["workers"] = workers
    return Sweep({name: list(values) for name, values in over.items()}, rows, stopped, provenance)


def combinations(
    problem: str | Problem, over: Mapping[str, Sequence[Any]], *, stopping: Stopping | None = None, **choices: Any
) -> list[tuple[Row, Configuration]]:
    """The runs of a sweep: the swept values of each, and its whole configuration. Raises InputError as `sweep` does."""
    if not over:
        raise InputError("sweep: nothing to sweep; give at least one choice with its values, such as n")
    for name, values in over.items():
        if isinstance(values, str) or not len(values):
            raise InputError(f"sweep: {name} needs a list with at least one value, got {values!r}")
        if name in choices:
            raise InputError(f"sweep: {name} is given as fixed and as swept; give it once")
        texts = [str(value) for value in values]
        twice = next((value for value in texts if texts.count(value) > 1), None)
        if twice is not None:
            raise InputError(f"sweep: {name} has the value {twice} twice; give each value once")
    points = list(itertools.islice(itertools.product(*over.values()), MOST_RUNS + 1))
    if len(points) > MOST_RUNS:
        raise InputError(f"a sweep has at most {MOST_RUNS} runs; give fewer values")
    parameters = [name for name in over if name not in (*SWEEP_AXES, *SWEEP_STOPPING)]
    made = []
    for point in points:
        chosen = dict(zip(over, point, strict=True))
        own = {name: chosen[name] for name in parameters}
        rest = {name: value for name, value in chosen.items() if name not in parameters}
        rest |= {"seed": _whole(rest["seed"])} if "seed" in rest else {}
        rule = {name: STOPPING[name].check(rest.pop(name), "sweep") for name in SWEEP_STOPPING if name in rest}
        aim = dataclasses.replace(stopping or Stopping(), **rule) if rule else stopping
        made.append((chosen, configure(problem, stopping=aim, **choices, **rest, **own)))
    return made


def _run_all(
    points: Sequence[tuple[Row, Configuration]],
    slot: QueueSlot,
    cancelled: Callable[[], bool],
    progress: Progress | None,
    on_result: OnResult | None,
) -> tuple[list[Row], bool]:
    """Make all runs: their rows, and whether the sweep was cancelled."""
    rows: list[Row] = []
    for chosen, configuration in points:
        if cancelled():
            return rows, True
        try:
            if not slot.acquire(unless=cancelled):
                return rows, True
            with MACHINE_USE:
                row, stopped = _run(chosen, configuration, cancelled, on_result)
        finally:
            slot.release()
        rows.append(row)
        if progress:
            progress(len(rows), len(points), row)
        if stopped:
            return rows, True
    return rows, False


def _on_workers(
    points: Sequence[tuple[Row, Configuration]], address: str, cancelled: Callable[[], bool], progress: Progress | None
) -> tuple[list[Row], bool]:
    """Make all runs on the workers of a scheduler: their rows, in the order of the combinations, and whether the sweep
    was cancelled."""
    if any(configuration.cluster for _, configuration in points):
        raise InputError("workers make the runs of a sweep, and cluster spreads the boxes of one run; give one of them")
    if os.environ.get(CLUSTERS) == "none":
        raise InputError("workers are not available on this page; leave them out")
    # Few sweeps have workers.
    from workbench.run.setup.workers import connected

    workers, rows, stopped = connected(address), {}, False
    try:
        for done in workers.each(row_of_link, [(to_link(configuration),) for _, configuration in points], cancelled):
            chosen = points[done.place][0]
            row = {**chosen, **done.value} if done.value else _no_row(chosen, done.failure)
            rows[done.place] = {**row, "worker": done.worker, "repeats": done.repeats}
            if progress:
                progress(len(rows), len(points), rows[done.place])
    except KeyboardInterrupt:
        stopped = True
    except DeviceError as lost:
        for place in range(len(points)):
            rows.setdefault(place, {**_no_row(points[place][0], str(lost)), "worker": "", "repeats": 0})
    finally:
        workers.close()
    return [rows[place] for place in sorted(rows)], stopped or len(rows) < len(points)


def row_of_link(link: str, cancelled: Callable[[], bool]) -> Row:
    """The fields of a row of a run that a share link describes, on a worker. cancelled: the request to end it."""
    row, _ = _run({}, from_link(link), cancelled, None)
    return row


def _run(
    chosen: Row, configuration: Configuration, cancelled: Callable[[], bool], on_result: OnResult | None
) -> tuple[Row, bool]:
    """Make one run: its row, and whether it was cancelled."""
    run, stopped = None, False
    # One failing run must not lose the rows of the others, not even by a SystemExit in a user's function.
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
        if on_result:
            on_result(configuration, result)
    except KeyboardInterrupt:
        return _no_row(chosen, Reason.CANCELLED.sentence), True
    except EndedBySignal:
        raise
    except BaseException as error:
        return _no_row(chosen, error_message(error)), stopped
    return {**chosen, **{name: summary[name] for name in RESULT_FIELDS}}, stopped


def _no_row(chosen: Row, reason: str) -> Row:
    """The row of a run that has no result."""
    return {**chosen, **dict.fromkeys(RESULT_FIELDS), "converged": False, "reason": reason}


def _whole(seed: Any) -> int:
    """The seed as an int. Raises InputError for what `int` refuses."""
    try:
        return int(seed)
    except (TypeError, ValueError):
        raise InputError(f"seed must be a whole number, got {seed!r}") from None
