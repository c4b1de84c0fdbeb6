"""Two texts of paper lines to edit."""

from __future__ import annotations

from typing import Any

import traitlets

from workbench.live.ui.assets import script
from workbench.live.ui.view import LiveWidget
from workbench.solvers.user_defined import UserLinesError


class LinesEditor(LiveWidget):
    """The lines before the loop and those of an iteration. wrong: part, line and column of the word that is marked."""

    _script = script("stepping/editor.js")
    start = traitlets.Unicode("").tag(sync=True)
    iterate = traitlets.Unicode("").tag(sync=True)
    wrong = traitlets.Dict({"part": "", "number": 0, "column": 0}).tag(sync=True)

    def write(self, start: str, iterate: str) -> None:
        """Replace both texts."""
        with self.hold_sync():
            self.start, self.iterate = start, iterate

    def mark(self, error: Exception | None) -> None:
        """Mark the line that an error is about and the word in it, or none."""
        found = error if isinstance(error, UserLinesError) else None
        wrong: dict[str, Any] = {"part": "", "number": 0, "column": 0}
        if found is not None:
            # Column 1 is that of errors about a whole line too.
            column = found.column if found.column and found.column > 1 else 0
            wrong = {"part": found.part, "number": found.number or 0, "column": column}
        if wrong != self.wrong:
            self.wrong = wrong
