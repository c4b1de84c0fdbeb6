"""Two texts of paper lines to edit."""

from __future__ import annotations

from typing import Any

import traitlets

from workbench.live.ui.assets import module
from workbench.live.ui.view import LiveWidget
from workbench.solvers.user_text import UserLinesError


class LinesEditor(LiveWidget):
    """The lines before the loop and those of an iteration. wrong: part and number of the line that is marked."""

    _esm = module("teach/editor.js")
    start = traitlets.Unicode("").tag(sync=True)
    iterate = traitlets.Unicode("").tag(sync=True)
    wrong = traitlets.Dict({"part": "", "number": 0}).tag(sync=True)

    def write(self, start: str, iterate: str) -> None:
        """Put both texts in place of what is there."""
        with self.hold_sync():
            self.start, self.iterate = start, iterate

    def mark(self, error: Exception | None) -> None:
        """Mark the line that an error is about, or none."""
        found = error if isinstance(error, UserLinesError) else None
        wrong: dict[str, Any] = {"part": found.part if found else "", "number": (found.number or 0) if found else 0}
        if wrong != self.wrong:
            self.wrong = wrong
