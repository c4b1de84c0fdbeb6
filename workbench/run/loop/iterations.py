"""The interface of a run to its iterations, on one right-hand side (`single`) or on many (`block`), and the state of
a run between two of them, from which snapshots and reports are made."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, NamedTuple

from workbench.devices.clock import Clock
from workbench.devices.operator_protocols import DeviceVector
from workbench.records import History
from workbench.run.choices.configuration import Configuration
from workbench.run.loop.history_writer import HistoryWriter
from workbench.run.loop.iteration_state import Termination
from workbench.run.loop.result import Column
from workbench.run.loop.tracing import resolve
from workbench.run.setup.solve_setup import SolveSetup


class Found(NamedTuple):
    """A solution as results report it.

    x: of the original system. true_relative: ||b - A x||/||b|| for this x and the b that was given, the largest of many
    columns; NaN where the device is lost. columns: the end of each of many.
    """

    x: DeviceVector
    true_relative: float
    columns: tuple[Column, ...] = ()


class Iterations(abc.ABC):
    """The iterations of a run, from the setup to the end.

    writer: of the history, which grows with them. clock: of a traced run.
    """

    chunks: list[slice]
    """The right-hand sides that are solved at once, one chunk after another."""
    norm_of_b: float
    """||b|| of the original system, or 1 where the history is relative to it."""
    threshold: float
    """The norm at which they end, like those of the history."""

    def __init__(
        self, configuration: Configuration, setup: SolveSetup, clock: Clock | None, writer: HistoryWriter
    ) -> None:
        self._configuration, self._setup, self._clock = configuration, setup, clock
        self._writer = writer

    @property
    def history(self) -> History:
        """The rows so far."""
        return self._writer.history

    @property
    def seconds(self) -> float:
        """Wall-clock time of the iterations."""
        return self._writer.seconds

    @property
    def notes(self) -> list[str]:
        """Notes by the method on its run."""
        return self.workspace.notes if self.workspace else []

    @property
    @abc.abstractmethod
    def workspace(self) -> Any:
        """The workspace of the recurrence, another one after a restart and for other right-hand sides; None once the
        device is lost, and where it had no room for a restart."""

    @abc.abstractmethod
    def advance(self, most: int | None) -> Termination | None:
        """Make the start at first, then one iteration or up to `most`; why the run ends with them, None if it does not.

        Raises DeviceError.
        """

    def gather(self) -> None:  # noqa: B027  most have nothing to gather
        """Make several iterations between two checks where the caller sees none of them, and it costs no iteration."""

    @abc.abstractmethod
    def x(self) -> DeviceVector:
        """The present solution of the original system, in host memory."""

    @abc.abstractmethod
    def found(self, ending: Termination | None) -> Found:
        """The present solution with its true residual. ending: of the run, None while it is active. Cost: one product
        with A."""

    @abc.abstractmethod
    def lost(self) -> Found:
        """The part that is left of a solution once the device is lost."""

    @abc.abstractmethod
    def solution(self, column: int) -> DeviceVector:
        """The solution of the scaled system for a right-hand side, shape (N,), on the device; not to be changed."""

    def recurrence_residual(self) -> DeviceVector | None:
        """r of the recurrence, where it stores one that is valid for the present x."""
        return None

    @abc.abstractmethod
    def true_residual(self, column: int) -> DeviceVector:
        """b - A x of the scaled system, on the device, valid until the next step. Cost: one product with A."""

    @abc.abstractmethod
    def exponent(self, column: int) -> int:
        """The scaled system of a right-hand side is the original one with b and x times 2^-exponent."""

    def elsewhere(self, quantity: Any, column: int) -> tuple[Any, str] | None:
        """A vector of the original system from other processes, whose run this is, and words on its origin; None where
        the vectors are in this one. quantity: a `workbench.run.results.snapshots.Quantity`."""
        return None

    def wake(self) -> None:  # noqa: B027  most have no other processes
        """Let suspended processes of the run continue, so that it can end."""

    def close(self) -> None:  # noqa: B027  most have nothing to end
        """End what iterates; the vectors stay."""

    def release(self) -> None:
        """Drop all references to memory of the device, which the clock has too."""
        self._clock = None

    def _resolve(self) -> None:
        """Complete the trace of a traced run."""
        if self._clock:
            resolve(self._clock, self._setup)


@dataclasses.dataclass(frozen=True, eq=False)
class RunState:
    """A run between two iterations.

    vectors: those of the run, as its iterations have them. ending: None while the run can be stepped. norm_of_b: ||b||
    of the original system. started: time of the start, ISO 8601. runs_at_once: the largest number of processes that
    have used the machine meanwhile.
    """

    configuration: Configuration
    setup: SolveSetup
    vectors: Iterations
    history: History
    ending: Termination | None
    norm_of_b: float
    started: str
    iteration_seconds: float
    runs_at_once: int = 1

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return max(0, self.history.count - 1)

    def relative(self, norm: float) -> float:
        """A norm over ||b||, or the norm itself where b = 0."""
        return norm / self.norm_of_b if self.norm_of_b > 0 else norm
