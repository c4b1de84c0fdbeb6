"""States of x that were kept during a run: where no solution is known, they are compared with the last one."""

from __future__ import annotations

from workbench.live.field.cuts import Cut
from workbench.run import Quantity, Snapshot

MOST = 48
"""States that are kept, two megabytes each at most; of more every second one is dropped."""
LATER = (
    "the exact solution is not known; once the run has ended, the {count} states of x kept so far are compared with "
    "its final x"
)
NONE_KEPT = (
    "the exact solution is not known, and no x was kept to compare with the final one; choose the error before the "
    "run, or the right-hand side ones-scaled"
)
BAR = "final x − x"
AGAINST = "final x of this run − x, in place of the error, since the exact solution is not known"


class IterateHistory:
    """Snapshots of one cut of x, thinned out as the run continues; `end` gives them their reference."""

    def __init__(self) -> None:
        self._frames: list[Snapshot] = []
        self._final: Snapshot | None = None
        self._every, self._turn = 1, 0

    @property
    def iterations(self) -> list[int]:
        """Of the states that can be shown; empty before the end."""
        return [frame.iteration for frame in self._shown()]

    def add(self, look: Snapshot, *, final: bool) -> None:
        """One more snapshot of x. Another cut or column than before discards those kept."""
        if look.values is None:
            return
        if self._frames and (self._frames[0].cut, self._frames[0].column) != (look.cut, look.column):
            self._frames, self._every, self._turn = [], 1, 0
        self._final = look if final else None
        if not final:
            if self._turn % self._every == 0:
                self._frames.append(look)
            self._turn += 1
        if len(self._frames) > MOST:
            self._frames, self._every = self._frames[::2], 2 * self._every

    def show(self, place: int, cut: Cut) -> Snapshot:
        """The error of one of the states as far as it is known, the first being 0; a sentence before the end."""
        made = Snapshot(Quantity.ERROR, cut)
        frames, final = self._shown(), self._final
        if final is None or not frames:
            made.words = NONE_KEPT if final else LATER.format(count=len(self._frames))
            return made
        frame = frames[min(max(place, 0), len(frames) - 1)]
        made.iteration, made.column, made.words = frame.iteration, frame.column, AGAINST
        assert final.values is not None
        made.values = final.values - frame.values
        return made

    def _shown(self) -> list[Snapshot]:
        final = self._final
        return [] if final is None else [frame for frame in self._frames if frame.iteration < final.iteration]
