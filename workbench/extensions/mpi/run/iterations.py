"""The iterations of a run on ranks: commands to them, and replies that continue the history and the trace here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.extensions.mpi.run.lanes import RankLanes
from workbench.extensions.mpi.run.messages import Solution, Steps
from workbench.extensions.mpi.run.processes import FOLDER
from workbench.extensions.mpi.run.setup import RankSetup
from workbench.files import TemporaryFolder
from workbench.machines.describe import machine_line
from workbench.records import BlockHistory, History, Trace
from workbench.run.choices.configuration import Configuration
from workbench.run.loop.iteration_state import Termination
from workbench.run.loop.iterations import Found, Iterations
from workbench.run.results.snapshots import Quantity, of_result

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


class RankIterations(Iterations):
    """The iterations of a run whose vectors are with its ranks.

    x is written by all ranks into one file, which is mapped into the memory of this process; no rank has all of it.
    """

    def __init__(self, configuration: Configuration, setup: RankSetup, trace: Trace | None) -> None:
        facts = setup.facts
        self._configuration, self._ranks_setup, self._ranks = configuration, setup, setup.ranks
        self._history = BlockHistory(facts.columns) if facts.columns else History()
        self._lanes = RankLanes(trace) if trace is not None else None
        self.chunks, self.norm_of_b, self.threshold = facts.chunks, facts.norm_of_b, facts.threshold
        self._seconds = 0.0
        self._final: Found | None = None
        self._ranks.doing = "in the iterations; x is lost"

    @property
    def history(self) -> History:
        return self._history

    @property
    def seconds(self) -> float:
        return self._seconds

    @property
    def notes(self) -> list[str]:
        """No notes of its own: those of the ranks are in the setup."""
        return []

    @property
    def workspace(self) -> None:
        return None

    def advance(self, most: int | None) -> Termination | None:
        """Make iterations for a twentieth of a second, at most `most`."""
        return self._take(self._ask("step", most=most))

    def x(self) -> DeviceVector:
        return self.found(None).x

    def found(self, ending: Termination | None) -> Found:
        if self._final is not None:
            return self._final
        if ending:
            self.wake()
        at, self._ranks.doing = self._ranks.doing, "while x was written; x is lost"
        reply: Solution
        reply, x = self._ask_for_file("result", reason=ending.reason.name if ending else None)
        self._ranks.doing = at
        self._ranks_setup.all_notes = reply.notes
        found = Found(x, reply.true_relative, reply.columns)
        if ending:
            if self._lanes:
                self._lanes.end(reply.clock_error)
            self._final = found
            self._ranks.end()
        return found

    def lost(self) -> Found:
        facts = self._ranks_setup.facts
        shape = (facts.unknowns, facts.columns) if facts.columns else (facts.unknowns,)
        # No memory of that size: it is read for a report, if at all.
        return Found(np.broadcast_to(np.array(math.nan, facts.dtype), shape), math.nan)

    def elsewhere(self, quantity: Quantity, column: int) -> tuple[np.ndarray | None, str]:
        if self._final is not None:
            return of_result(self._configuration, self._ranks_setup.system, self._final.x, quantity, column)
        words, vector = self._ask_for_file("vector", quantity=quantity.value, column=column)
        return vector, words

    def solution(self, column: int) -> DeviceVector:
        return self.elsewhere(Quantity.SOLUTION, column)[0]

    def true_residual(self, column: int) -> DeviceVector:
        return self.elsewhere(Quantity.RESIDUAL, column)[0]

    def exponent(self, column: int) -> int:
        """0: the ranks send vectors of the original system."""
        return 0

    def wake(self) -> None:
        self._ranks.wake()

    def release(self) -> None:
        self._ranks.end()

    def _ask(self, do: str, **more: object) -> Any:
        return self._ranks.ask(do, self._take, **more)

    def _take(self, reply: object) -> Termination | None:
        if not isinstance(reply, Steps):
            return None
        self._history.follow(reply.rows)
        self._seconds = reply.seconds
        self._ranks_setup.all_notes = reply.notes
        if self._lanes:
            self._lanes.take(reply.events)
        return reply.ending

    def _ask_for_file(self, do: str, **more: object) -> tuple[Any, np.ndarray | None]:
        """The reply to a command, and the vector that the ranks have written, if they have.

        The file is gone with its folder; its pages are there until the array is gone. Changes stay in this process.
        """
        with TemporaryFolder(FOLDER) as folder:
            path = folder / "vector.npy"
            reply = self._ask(do, file=str(path), **more)
            return reply, np.asarray(np.load(path, mmap_mode="c")) if path.exists() else None


def trace_of_ranks() -> Trace:
    """An empty trace for the events of ranks."""
    return Trace(machine=machine_line())
