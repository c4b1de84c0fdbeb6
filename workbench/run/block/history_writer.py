"""The history of a run with many right-hand sides, written row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.recording import BlockHistory
from workbench.run.block.chunk import Chunk
from workbench.run.history_writer import HistoryWriter
from workbench.run.stopping import Stopping
from workbench.run.stopping_test import StoppingTest
from workbench.solvers.block.row import BlockRow


class BlockHistoryWriter(HistoryWriter):
    """Appends the rows of one chunk after another to the history of all columns."""

    history: BlockHistory

    def __init__(self, stopping: Stopping, columns: int) -> None:
        super().__init__(stopping, BlockHistory(columns))
        self._relative, self._true = np.full(columns, np.nan), np.zeros(columns)
        """||r_j||/||b_j||, and of the columns that were verified ||b_j - A x_j||/||b_j||."""

    def append(self, row: BlockRow, chunk: Chunk) -> None:
        """Append the row of a chunk. The start of a later chunk is no iteration."""
        self._relative[chunk.place] = chunk.test.relative
        if chunk.iterations or not self.history.count:
            drift = self._drift(chunk.drift)
            self.history.append_block(self._relative, row.rank, row.pivot, self.seconds, chunk.place.stop, drift)

    def _of_all(self, true_residuals: Sequence[float] | np.ndarray, test: StoppingTest) -> float:
        """The largest ||b_j - A x_j||/||b_j||."""
        self._true[test.place] = test.relative_to_b(true_residuals)
        return float(self._true.max())
