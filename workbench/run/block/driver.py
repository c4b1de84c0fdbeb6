"""The run of a method on many right-hand sides."""

from __future__ import annotations

import datetime
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench import devices
from workbench.devices.lines.block_workspace import BlockWorkspace
from workbench.devices.protocol import Device
from workbench.errors import DeviceError, InputError
from workbench.operators.null_space import NullSpace
from workbench.problems import LinearSystem
from workbench.recording import BlockHistory
from workbench.run.block.chunk import Chunk
from workbench.run.block.dependencies import sentence
from workbench.run.block.memory import chunks_of
from workbench.run.block.right_hand_sides import RightHandSides, right_hand_sides
from workbench.run.breakdown import not_finite
from workbench.run.compatibility import check_columns
from workbench.run.configuration import Configuration
from workbench.run.inconsistency import FAILED, null_component
from workbench.run.judge import Ending
from workbench.run.machine_use import MACHINE_USE
from workbench.run.report import block_result_of
from workbench.run.result import Column, Result
from workbench.run.right_hand_side import Vectors
from workbench.run.run_state import RunState
from workbench.run.setup import SolveSetup, prepare
from workbench.run.setup_phases import SetupPhases
from workbench.run.stopping import Reason
from workbench.run.tracing import noting, resolve, start_trace
from workbench.scaling import norm

ENDS_ALL = {Reason.INDEFINITE, Reason.INDEFINITE_M, Reason.TIME, Reason.CANCELLED, Reason.DEVICE_LOST}
"""Reasons of a chunk that end a run, since the chunks after it would end alike."""


class BlockRun:
    """One solve of A X = B, step by step, with the interface of `Run`.

    history: in its column `residual` the largest ||r_j||/||b_j||, and by column what `BlockHistory` adds. x0: shape
    (N, s), by default zero. More right-hand sides than fit the memory of the device are solved in chunks, one after
    another. The other parameters and errors are those of `Run`.
    """

    def __init__(
        self,
        configuration: Configuration,
        system: LinearSystem | None = None,
        x0: np.ndarray | None = None,
        *,
        trace: bool = False,
        stopped: Callable[[], bool] = lambda: False,
        phases: SetupPhases | None = None,
    ) -> None:
        self._use = MACHINE_USE.watch()
        self.started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.configuration = configuration
        check_columns(configuration)
        self.ending: Ending | None = None
        """Why the run has ended; None while it can be stepped."""
        self.iteration_seconds = 0.0
        """Wall-clock time of the iterations, in s, without measurements."""
        phases = phases or SetupPhases()
        with phases.whole():
            self.setup, self._sides = _prepared(configuration, system, x0, stopped, phases)
            with self.setup.closed_on_error(), phases("kernels"):
                self._plan(trace)

    def _plan(self, trace: bool) -> None:
        """Cut the right-hand sides into chunks, and set the first one up."""
        self.trace, self._clock = start_trace(self.setup) if trace else (None, None)
        s = self._sides.B.shape[1]
        self.chunks = chunks_of(self.setup, s)
        """The right-hand sides that are solved at once, one chunk after another."""
        if len(self.chunks) > 1:
            most = max(place.stop - place.start for place in self.chunks)
            self.setup.notes.append(f"{s} right-hand sides are solved in {len(self.chunks)} chunks of at most {most}")
        self.history = BlockHistory(s)
        self._relative = np.full(s, np.nan)
        self._X = np.zeros(self._sides.B.shape, self.setup.operator.dtype)
        self._done: tuple[Column, ...] = ()
        """Of the chunks before the present one."""
        self._worst: Ending | None = None
        """Why the first chunk that failed has ended, or the last one where none did."""
        self._own: Ending | None = None
        """Why the present chunk has ended."""
        self._chunk = self._made(0)

    @property
    def space(self) -> BlockWorkspace:
        """The block vectors of the present chunk."""
        return self._chunk.space

    @property
    def setup_seconds(self) -> float:
        """Wall-clock time of the setup, in s, without the compilation of kernels."""
        return self.setup.phases.seconds

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return max(0, self.history.count - 1)

    @property
    def reason(self) -> Reason | None:
        """Why the run has ended; None while it can be stepped."""
        return self.ending.reason if self.ending else None

    @property
    def norm_of_b(self) -> float:
        """1, since the history is relative to ||b_j||."""
        return 1.0

    @property
    def threshold(self) -> float:
        """The relative residual norm at which a column has converged."""
        return self.configuration.stopping.rtol

    @property
    def x(self) -> np.ndarray:
        """The present X, shape (N, s). NaN in the columns that a lost device held."""
        return self._all_of(np.nan if self.reason is Reason.DEVICE_LOST else self._chunk.measures.returned_X())

    def _all_of(self, present: np.ndarray | float) -> np.ndarray:
        """X with the columns of the present chunk."""
        X, place = self._X.copy(), self._chunk.place
        X[:, place.stop :] = self._sides.part(slice(place.stop, None)).starts()
        X[:, place] = present
        return X

    def cancel(self, reason: Reason = Reason.CANCELLED) -> None:
        """End the run as cancelled, unless it has ended."""
        if self.ending is None:
            self.ending = Ending(reason, f"at iteration {self.iterations}")
        self._use.close()
        self.setup.close()

    def step(self, most: int | None = None) -> bool:
        """Make one iteration (the first call: the start). False when the run has ended."""
        if self.ending is None:
            with self.setup.closed_on_error():
                self._advance_or_halve()
        if self.ending:
            self._use.close()
            self.setup.close()
        return self.ending is None

    def _advance_or_halve(self) -> None:
        """Make one iteration; where its block vectors do not fit the memory, begin the chunk again as two."""
        fits = True
        try:
            self._advance()
        except DeviceError as lost:
            self.ending = Ending(Reason.DEVICE_LOST, f"at iteration {self.iterations}: {lost}")
            devices.forget(self.setup.device)
        except InputError:
            # Columns that depend on others need more block vectors than the chunk was planned for.
            if self._chunk.measures.columns == 1:
                raise
            fits = False
        # Not above: what was raised keeps the block vectors.
        if not fits:
            self._halve()

    def _advance(self) -> None:
        """Make one iteration, and judge every column."""
        begun = time.perf_counter()
        with noting(self._clock):
            row = self._chunk.advance()
        self.setup.device.synchronize()
        self.iteration_seconds += time.perf_counter() - begun
        judge, place = self._chunk.judge, self._chunk.place
        if not self._chunk.iterations:
            self._note_dependencies(row.rank)
        ending = self._chunk.judged(row, self.iteration_seconds)
        ending = ending and self._explained(ending)
        self._relative[place] = judge.relative
        # The start of a later chunk is no iteration.
        if self._chunk.iterations or not self.history.count:
            self.history.append_block(self._relative, row.rank, row.pivot, self.iteration_seconds, begun=place.stop)
        del judge
        if ending and ending.reason is Reason.NOT_FINITE and (clause := self._not_finite()):
            ending = Ending(ending.reason, f"{ending.detail}; {clause}")
        if ending:
            self._end_chunk(ending)
        if self._clock:
            resolve(self._clock, self.setup)

    def _not_finite(self) -> str:
        """Which of A and M makes NaN or infinity of a present column, as a clause; empty where neither is seen to."""
        measures, device = self._chunk.measures, self.setup.device
        b, x = (device.zeros(measures.size, self.setup.operator.dtype) for _ in range(2))
        for j in range(measures.columns):
            device.take_columns(measures.B, j, [b])
            device.take_columns(measures.X, j, [x])
            if np.isfinite(device.norm(x)) and (clause := not_finite(self.setup, b, x)):
                return clause
        return ""

    def _explained(self, ending: Ending) -> Ending:
        """The end of the present chunk, with a proof that its worst column has no solution, where there is one."""
        if ending.reason not in FAILED:
            return ending
        chunk, device = self._chunk, self.setup.device
        true = chunk.measures.true_residuals() / np.maximum(chunk.measures.norms_of_b(), np.finfo(float).tiny)
        worst = int(np.argmax(true))
        b = device.zeros(chunk.measures.size, self.setup.operator.dtype)
        device.take_columns(chunk.measures.B, worst, [b])
        found = null_component(self.setup, ending.reason, b, float(true[worst]), chunk.iterations)
        detail = f"{ending.detail}; for column {chunk.place.start + worst}, {found}"
        return Ending(Reason.INCONSISTENT, detail) if found else ending

    def _note_dependencies(self, rank: int) -> None:
        """Say which columns of the present chunk depend on others, where its start found some."""
        place = self._chunk.place
        B = self._sides.B[:, place]
        if rank < np.count_nonzero(B.any(axis=0)):
            self.setup.notes.append(sentence(B, rank, place.start))

    def _end_chunk(self, ending: Ending) -> None:
        """End with the present chunk where it is the last one, or where the others would end alike; else begin the
        next one."""
        if self._worst is None or self._worst.reason.converged:
            self._worst = self._named(ending)
        following = self.chunks.index(self._chunk.place) + 1
        if following == len(self.chunks) or ending.reason in ENDS_ALL:
            self._own, self.ending = ending, self._worst
            return
        columns, self._X[:, self._chunk.place] = self._chunk.returned(ending)
        self._done += columns
        self._begin(following)

    def _halve(self) -> None:
        """Begin the present chunk again as two of half the size."""
        place = self._chunk.place
        middle = (place.start + place.stop) // 2
        at = self.chunks.index(place)
        self.chunks[at : at + 1] = slice(place.start, middle), slice(middle, place.stop)
        self.setup.notes.append(f"columns {place.start} to {place.stop - 1} did not fit the memory, and were halved")
        self._begin(at)

    def _named(self, ending: Ending) -> Ending:
        """The end of the present chunk with its columns, where there are several."""
        if len(self.chunks) == 1:
            return ending
        place = self._chunk.place
        which = (
            f"column {place.start}" if place.stop == place.start + 1 else f"columns {place.start} to {place.stop - 1}"
        )
        return Ending(ending.reason, f"{ending.detail} of {which}")

    def _begin(self, number: int) -> None:
        """Put another chunk in place of the present one, whose memory is freed before."""
        self._chunk.close()
        del self._chunk
        self._chunk = self._made(number)

    def _made(self, number: int) -> Chunk:
        return Chunk(self.setup, self.configuration.stopping, self._sides, self.chunks[number], self._clock)

    def result(self) -> Result:
        """The result, valid between any two steps."""
        present, X = self._chunk.returned(self._own or self.ending, lost=self.reason is Reason.DEVICE_LOST)
        columns = self._done + present
        waiting = self._relative.size - len(columns)
        columns += (Column(self.reason or Reason.CANCELLED, 0, math.nan, math.nan),) * waiting
        return block_result_of(self.state, self._all_of(X), columns, self.trace)

    def serve_snapshots(self) -> None:
        """Block runs have no snapshots."""

    @property
    def runs_at_once(self) -> int:
        """The largest number of processes that have used the machine since the start of this run."""
        return self._use.most

    @property
    def state(self) -> RunState:
        return RunState(
            configuration=self.configuration,
            setup=self.setup,
            workspace=None,
            measures=None,
            history=self.history,
            ending=self.ending,
            norm_of_b=self.norm_of_b,
            started=self.started,
            iteration_seconds=self.iteration_seconds,
            runs_at_once=self.runs_at_once,
        )


def _prepared(
    configuration: Configuration,
    system: LinearSystem | None,
    x0: np.ndarray | None,
    stopped: Callable[[], bool],
    phases: SetupPhases,
) -> tuple[SolveSetup, RightHandSides]:
    """The setup with vectors of one column as work space, and all right-hand sides."""
    found: list[RightHandSides] = []

    def vectors_of(
        configuration: Configuration,
        system: LinearSystem,
        x0: Any,
        _bound: Any,
        device: Device,
        null_space: NullSpace,
        notes: list[str],
        _stopped: Any,
    ) -> Vectors:
        sides = right_hand_sides(configuration, system, x0, null_space)
        found.append(sides)
        notes += sides.changes
        size, dtype = system.operator.shape[0], system.operator.dtype
        return Vectors(
            device.zeros(size, dtype), device.zeros(size, dtype), None, 0, norm(sides.removed), sides.changes
        )

    setup = prepare(configuration, system, x0, stopped, vectors_of, phases)
    return setup, found[0]
