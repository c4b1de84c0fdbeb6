"""An entry of a race: one run in time slices, or one that has ended before, here or elsewhere."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any

from workbench.errors import error_message
from workbench.files import EndedBySignal
from workbench.records import History, Record
from workbench.run.cancellation import STOPPED, StoppedError
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.stopping import Reason
from workbench.run.driver import Run
from workbench.run.jobs.job import Job, State
from workbench.run.jobs.run_queue import QueueSlot
from workbench.run.loop.result import Result
from workbench.run.loop.traffic import iteration_bytes
from workbench.run.results.report import result_of_failure


@dataclasses.dataclass(frozen=True, eq=False)
class PastRun:
    """A run that has ended, with the numbers by which a race ranks it. record: the run as plain data."""

    record: Record

    @property
    def history(self) -> History:
        """The rows of the run."""
        return self.record.history

    @functools.cached_property
    def norm_of_b(self) -> float:
        """||b||."""
        return self.record.norm_of_b

    @property
    def setup_seconds(self) -> float:
        """Wall-clock time of the setup, in s, without the compilation of kernels."""
        return float(self.record.summary["setup_seconds"] or 0.0)

    @property
    def compile_seconds(self) -> float:
        """Seconds of compiling kernels."""
        return float(self.record.summary["compile_seconds"] or 0.0)

    @property
    def iteration_seconds(self) -> float:
        """Wall-clock time of the iterations, in s."""
        return float(self.record.summary["iteration_seconds"] or 0.0)

    def relative(self, norm: float) -> float:
        """A norm over ||b||."""
        return norm / self.norm_of_b


class RaceEntry(Job):
    """One run of a race, in the race's slot of the run queue.

    number: in the race, from 1. held: it is not to advance. iteration_bytes:
    memory traffic of an ordinary iteration, None before the setup and where it is unknown.

    Examples:
        >>> from workbench.run import Race, configure
        >>> (entry,) = Race([configure("two-layer", n=16)]).entries
        >>> entry.label, entry.begun
        ('1: CG, Jacobi', False)
    """

    def __init__(self, number: int, configuration: Configuration, slot: QueueSlot) -> None:
        super().__init__(slot)
        self.number = number
        self.configuration = configuration
        self.result: Result | None = None
        self.past: PastRun | None = None
        """The run of an entry that was recalled."""
        self.recalled = False
        """It has ended before, here or elsewhere."""
        self.iteration_bytes: int | None = None
        self.held = False
        self.name = configuration.label
        """A name by its differences from the other entries; the race sets it."""

    @property
    def made(self) -> Run | PastRun | None:
        """The run, which may have ended before; None before the end of its setup."""
        return self.past or self.run

    @property
    def summary(self) -> Mapping[str, Any]:
        """The summary of the run, as in `Result`; empty before its end, and for one that failed."""
        if self.past is not None:
            return self.past.record.summary
        return self.result.summary if self.result is not None else {}

    @property
    def record(self) -> Record | None:
        """The run as plain data without its solution; None before its end, and for one that failed."""
        if self.past is not None:
            return self.past.record
        return self.result.record() if self.result is not None and self.result.x.shape[0] else None

    @property
    def label(self) -> str:
        """The text of legends: the number in the race and the name."""
        return f"{self.number}: {self.name}"

    @property
    def state(self) -> State:
        """The state; PAUSED also for an entry that is held before its setup."""
        state = super().state
        return State.PAUSED if self.held and state in (State.IDLE, State.RUNNING) else state

    @property
    def begun(self) -> bool:
        """Its setup has begun, or it was stopped before."""
        return self._state is not State.IDLE or self.stopping

    @property
    def outcome(self) -> Result:
        """The result; of an entry that failed or was stopped before its first iteration one that says so."""
        if self.result is not None:
            return self.result
        history = self.made.history if self.made else History()
        seconds = self.made.setup_seconds if self.made else math.nan
        reason = Reason.CANCELLED if self.error in STOPPED else Reason.FAILED
        return self._with_traffic(result_of_failure(self.configuration, reason, self.error, history, seconds))

    @property
    def ready(self) -> bool:
        """True if `advance` has something to do."""
        return not self.over and (self.stopping or not self.held)

    def recall(self, record: Record | None, error: str = "") -> None:
        """End an entry that has not begun as it has ended before. error: the sentence of one without a record."""
        self.past = PastRun(record) if record is not None else None
        self.error, self.recalled = error, True
        self.iteration_bytes = record.summary.get("iteration_bytes") if record is not None else None
        self._state = State.DONE if record is not None else State.FAILED

    def advance(self) -> None:
        """Set the run up, make one iteration, or take the result; any error ends this entry alone."""
        try:
            self._advance()
        except StoppedError:
            self._state = State.FAILED
        except EndedBySignal:
            raise
        # Errors of this thread can be reported nowhere else, and the other entries must continue. A function of the
        # user may raise what is no Exception.
        except BaseException as error:
            self.error = self.error or error_message(error)
            self._state = State.FAILED

    @property
    def _cancelled_state(self) -> State:
        return State.DONE if self.run else State.FAILED

    def _advance(self) -> None:
        if self.run is None:
            with self._entering(State.SETUP):
                pass
            run = self._new_run(self.configuration)
            self.iteration_bytes = iteration_bytes(run.setup)
            with self._entering(State.RUNNING):
                self.run = run
            return
        if self.stopping:
            self.run.cancel()
        elif self.run.step():
            return
        self.result = self._with_traffic(self.run.result())
        self._state = State.DONE

    def _with_traffic(self, result: Result) -> Result:
        """A result whose summary has the bytes of an iteration, for the curves of a race that is opened again."""
        return dataclasses.replace(result, summary={**result.summary, "iteration_bytes": self.iteration_bytes})
