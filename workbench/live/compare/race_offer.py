"""The offer to race on a system that was chosen elsewhere: entries that have begun are dropped only on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import ipywidgets as widgets

from workbench.live.compare.sweep_text import each_of
from workbench.live.ui.controls import button
from workbench.live.ui.rows import row

LONGEST = 32
"""Characters of a problem that fit on the button."""


class Offer:
    """A button and a sentence. Display `box`, which hides itself while there is nothing to take over."""

    def __init__(self, take: Callable[[], object]) -> None:
        self.press = button("", "end these entries, and race their methods on the chosen problem", take, width="auto")
        self.text = widgets.HTML()
        self.box = row("wb-buttons", self.press, self.text)
        self.withdraw()

    def make(self, problem: str, news: Sequence[str]) -> None:
        """Offer a problem, in which these parts are new."""
        named = problem if len(problem) <= LONGEST else f"{problem[: LONGEST - 1]}…"
        self.press.description = f"Take over {named}"
        said = f"Chosen elsewhere: another {each_of(news)}. Taking it over ends these entries, so export them first."
        self.text.value = f'<span role="status">{escape(said)}</span>'
        self.box.layout.display = None

    def withdraw(self) -> None:
        """Offer nothing any more."""
        self.text.value, self.box.layout.display = "", "none"
