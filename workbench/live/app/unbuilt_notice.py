"""The line on the other pages while the problem in Build is wrong: the error, and the problem that they work on."""

from __future__ import annotations

import html

import ipywidgets as widgets

from workbench.problems import Problem


class UnbuiltNotice(widgets.HTML):
    """Shown until the error in Build is corrected, or another problem is chosen."""

    def __init__(self) -> None:
        super().__init__()
        self._wrong, self._chosen = "", None
        """The fault in Build, and the problem that was chosen when it was found."""
        self._show("")

    def update(self, wrong: str, chosen: Problem | None, *, in_build: bool) -> None:
        """wrong: the error in Build, empty without one. chosen: the problem that the other pages work on, None where it
        is incomplete. in_build: Build is in front, which shows the error itself."""
        if wrong != self._wrong:
            self._wrong, self._chosen = wrong, chosen
        shown = wrong and chosen is not None and not in_build and not self.is_superseded_by(chosen)
        self._show(f"In Build: {wrong.rstrip('.')}. This page works on {chosen.label}." if shown and chosen else "")

    def is_superseded_by(self, chosen: Problem | None) -> bool:
        """True if another problem was chosen since the fault in Build was noted here; False before that."""
        return bool(self._wrong) and chosen != self._chosen

    def _show(self, words: str) -> None:
        self.value = f'<p class="wb-status wb-busy" role="status">{html.escape(words)}</p>' if words else ""
        self.layout.display = None if words else "none"
