"""The iterations of a run on many right-hand sides, in chunks that fit the memory of the device."""

from __future__ import annotations

import math
import time

import numpy as np

from workbench.arrays.scaling import scaled
from workbench.devices.clock import Clock
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.programs.block_workspace import BlockWorkspace
from workbench.errors import DeviceError, InputError
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.stopping import Reason
from workbench.run.loop.block.chunk import Chunk
from workbench.run.loop.block.dependencies import sentence
from workbench.run.loop.block.memory import chunks_of
from workbench.run.loop.history_writer import BlockHistoryWriter
from workbench.run.loop.iteration_state import Termination
from workbench.run.loop.iterations import Found, Iterations
from workbench.run.loop.result import Column
from workbench.run.loop.tracing import recording
from workbench.run.setup.solve_setup import SolveSetup

ENDS_ALL = {Reason.INDEFINITE, Reason.INDEFINITE_M, Reason.TIME, Reason.PAGE_TIME}
"""Reasons of a chunk that end a run, since the chunks after it would end alike."""


class BlockIterations(Iterations):
    """The iterations on many right-hand sides.

    history: in its column `residual` the largest ||r_j||/||b_j||, and by column what `BlockHistory` adds. Raises
    InputError where not even one right-hand side fits the memory of the device.
    """

    norm_of_b = 1.0
    _writer: BlockHistoryWriter

    def __init__(self, configuration: Configuration, setup: SolveSetup, clock: Clock | None) -> None:
        assert setup.sides is not None
        self._sides, self._columns = setup.sides, setup.sides.B.shape[1]
        writer = BlockHistoryWriter(configuration.stopping, self._columns)
        super().__init__(configuration, setup, clock, writer)
        self.threshold = configuration.stopping.rtol
        self.chunks = chunks_of(setup, self._columns)
        if len(self.chunks) > 1:
            most = max(place.stop - place.start for place in self.chunks)
            several = f"{self._columns} right-hand sides are solved in {len(self.chunks)} chunks"
            setup.notes.append(f"{several} of at most {most}")
        self._X = np.zeros(self._sides.B.shape, setup.operator.dtype)
        self._done: tuple[Column, ...] = ()
        """The columns of the chunks before the present one."""
        self._worst: Termination | None = None
        """Why the first chunk that failed has ended, or the last one where none did."""
        self._own: Termination | None = None
        """Why the present chunk has ended."""
        self._chunk = self._made(0)

    @property
    def workspace(self) -> BlockWorkspace | None:
        return self._chunk.space

    def advance(self, most: int | None) -> Termination | None:
        """Make one iteration, or several where the device repeats them; where its block vectors do not fit the memory,
        begin the chunk again as two."""
        try:
            return self._advanced(most)
        except DeviceError:
            raise
        except InputError:
            # Columns that depend on others need more block vectors than the chunk was planned for.
            if self._chunk.measures.columns == 1:
                raise
        # Not above: what was raised keeps the block vectors.
        self._halve()
        return None

    def x(self) -> np.ndarray:
        return self._all_of(self._chunk.measures.returned_x())

    def found(self, ending: Termination | None) -> Found:
        columns, X = self._chunk.returned(self._own or ending)
        return self._found(columns, X, ending)

    def lost(self) -> Found:
        """The solution with NaN in the columns that were on the device."""
        lost = Termination(Reason.DEVICE_LOST, "")
        return self._found(self._chunk.lost(lost), np.nan, lost)

    def solution(self, column: int) -> DeviceVector:
        device, place = self._setup.device, self._chunk.place
        x = self._zeros()
        if place.start <= column < place.stop:
            device.take_columns(self._chunk.measures.solution(), column - place.start, [x])
            return x
        done = column < place.start
        given = scaled(self._X[:, column], -self.exponent(column)) if done else self._sides.X0[:, column]
        return device.array(np.ascontiguousarray(given), self._X.dtype)

    def true_residual(self, column: int) -> DeviceVector:
        device, r = self._setup.device, self._zeros()
        self._setup.bound.apply(self.solution(column), r)
        device.subtract_from(self._b(column), r)
        return r

    def exponent(self, column: int) -> int:
        return int(self._sides.exponents[column])

    def release(self) -> None:
        super().release()
        self._chunk.release()

    def _zeros(self) -> DeviceVector:
        return self._setup.device.zeros(self._setup.operator.shape[0], self._X.dtype)

    def _b(self, column: int) -> DeviceVector:
        return self._setup.device.array(np.ascontiguousarray(self._sides.B[:, column]), self._X.dtype)

    def _found(self, present: tuple[Column, ...], X: np.ndarray | float, ending: Termination | None) -> Found:
        """All columns with those of the present chunk; the others wait."""
        columns = self._done + present
        waiting = Column(ending.reason if ending else Reason.CANCELLED, 0, math.nan, math.nan)
        columns += (waiting,) * (self._columns - len(columns))
        true_relative = float(np.max([column.true_relative_residual for column in columns]))
        return Found(self._all_of(X), true_relative, columns)

    def _all_of(self, present: np.ndarray | float) -> np.ndarray:
        """X with the columns of the present chunk."""
        X, place = self._X.copy(), self._chunk.place
        X[:, place.stop :] = self._sides.part(slice(place.stop, None)).starts()
        X[:, place] = present
        return X

    def _advanced(self, most: int | None) -> Termination | None:
        """Iterate until the next check, and judge every column."""
        chunk, begun = self._chunk, time.perf_counter()
        with recording(self._clock):
            kept, rows = chunk.advance(self._allowed(most))
        self._setup.device.synchronize()
        several = len(kept["rr"]) if kept else 0
        seconds = (time.perf_counter() - begun) / (several + len(rows))
        if math.isfinite(self._configuration.stopping.time_limit[0]):
            # All ranks end with the same iteration.
            seconds = self._setup.device.agreed(seconds)
        if chunk.iterations < 0:
            self._note_dependencies(rows[0].rank)
        if several and not self._writer.append_at_once(kept, seconds, chunk):
            rows = chunk.rows_of(kept) + rows
        ending = None
        for place, row in enumerate(rows):
            self._writer.seconds += seconds
            last = place == len(rows) - 1
            judged = chunk.judged(row, self.seconds, last=last)
            self._writer.append(row, chunk, last=last)
            ending = ending or judged
        self._writer.confirm(chunk.test, chunk.measures, ended=ending is not None)
        # The next chunk takes its memory.
        del chunk
        if ending:
            ending = self._end_chunk(ending)
        self._resolve()
        return ending

    def _allowed(self, most: int | None) -> int:
        """Iterations until the limit of the run, or until a true residual is due."""
        stopping, iterations = self._configuration.stopping, max(0, self.history.count - 1)
        left = stopping.limit(self._setup.system.unknowns) - max(0, self._chunk.iterations)
        until = stopping.true_every - iterations % stopping.true_every if stopping.true_every else left
        asked = [count for count in (most, stopping.check_every) if count]
        return max(1, min(left, until, *asked))

    def _note_dependencies(self, rank: int) -> None:
        """Say which columns of the present chunk depend on others, where its start found some."""
        place = self._chunk.place
        B = self._sides.B[:, place]
        if rank < np.count_nonzero(B.any(axis=0)):
            self._setup.notes.append(sentence(B, rank, place.start))

    def _end_chunk(self, ending: Termination) -> Termination | None:
        """The end of the run where the present chunk is the last one, or where the others would end alike; else begin
        the next one."""
        if self._worst is None or self._worst.reason.converged:
            self._worst = self._named(ending)
        following = self.chunks.index(self._chunk.place) + 1
        if following == len(self.chunks) or ending.reason in ENDS_ALL:
            self._own = ending
            return self._worst
        columns, self._X[:, self._chunk.place] = self._chunk.returned(ending)
        self._done += columns
        self._begin(following)
        return None

    def _halve(self) -> None:
        """Begin the present chunk again as two of half the size."""
        place = self._chunk.place
        middle = (place.start + place.stop) // 2
        at = self.chunks.index(place)
        self.chunks[at : at + 1] = slice(place.start, middle), slice(middle, place.stop)
        self._setup.notes.append(f"columns {place.start + 1} to {place.stop} did not fit the memory, and were halved")
        self._begin(at)

    def _named(self, ending: Termination) -> Termination:
        """The end of the present chunk, with its columns if there are several chunks."""
        if len(self.chunks) == 1:
            return ending
        place = self._chunk.place
        which = (
            f"column {place.stop}" if place.stop == place.start + 1 else f"columns {place.start + 1} to {place.stop}"
        )
        return Termination(ending.reason, f"{ending.detail} of {which}")

    def _begin(self, number: int) -> None:
        """Put another chunk in place of the present one, whose memory is freed before."""
        del self._chunk
        self._chunk = self._made(number)

    def _made(self, number: int) -> Chunk:
        return Chunk(self._setup, self._configuration.stopping, self._sides, self.chunks[number], self._clock)
