"""The history of a run with many right-hand sides, written row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.records import BlockHistory
from workbench.run.loop.block.chunk import Chunk
from workbench.run.loop.history_writer import HistoryWriter
from workbench.run.loop.single.vectorized_check import best_so_far
from workbench.run.loop.stopping import Stopping
from workbench.run.loop.stopping_test import StoppingTest
from workbench.solvers.block.base import BlockRow


class BlockHistoryWriter(HistoryWriter):
    """Appends the rows of one chunk after another to the history of all columns."""

    history: BlockHistory

    def __init__(self, stopping: Stopping, columns: int) -> None:
        super().__init__(stopping, BlockHistory(columns))
        self._stagnation = stopping.stagnation
        self._relative, self._true = np.full(columns, np.nan), np.zeros(columns)
        """||r_j||/||b_j||, and of the columns that were verified ||b_j - A x_j||/||b_j||."""

    def append(self, row: BlockRow, chunk: Chunk, *, last: bool) -> None:
        """Append the row of a chunk. The start of a later chunk is no iteration. last: the block vectors are those of
        it."""
        self._relative[chunk.place] = chunk.test.relative
        if chunk.iterations or not self.history.count:
            drift = self._drift(chunk.drift) if last else np.nan
            self.history.append_block(self._relative, row.rank, row.pivot, self.seconds, chunk.place.stop, drift)

    def append_at_once(self, kept: Mapping[str, np.ndarray], seconds: float, chunk: Chunk) -> bool:
        """Append rows at which no column ends, unless the run stagnates at one of them; whether they were appended.

        kept: as in `Repeats`. seconds: of an iteration.
        """
        squares, test = np.real(kept["rr"]), chunk.test
        count, ends = len(squares), [column.norm for column in test.columns]
        norms = np.where(test.frozen, ends, np.sqrt(np.maximum(squares, 0)))
        relative = norms / np.array([column.norm_of_b or 1.0 for column in test.columns])
        scores = norms[:, 0] if test.single else relative.sum(axis=1)
        best, found = best_so_far(test.best, scores, at := chunk.iterations + 1 + np.arange(count))
        if (at - found > self._stagnation).any():
            return False
        test.best = float(best[-1]), int(found[-1])
        whole = np.tile(self._relative, (count, 1))
        whole[:, chunk.place] = relative
        ranks = np.count_nonzero(kept["spanned"], axis=1) if "spanned" in kept else np.full(count, squares.shape[1])
        pivots = np.real(kept["pivot"][:, 0]) if "pivot" in kept else np.full(count, np.nan)
        times = self.seconds + seconds * np.arange(1, count + 1)
        self.history.extend_block(whole, ranks, pivots, times, chunk.place.stop)
        self.seconds += seconds * count
        chunk.iterations += count
        return True

    def _of_all(self, true_residuals: Sequence[float] | np.ndarray, test: StoppingTest) -> float:
        """The largest ||b_j - A x_j||/||b_j||."""
        self._true[test.place] = test.relative_to_b(true_residuals)
        return float(self._true.max())
