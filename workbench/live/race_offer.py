"""What a race says where another system was chosen elsewhere: lanes that have begun are not dropped without a press."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import ipywidgets as widgets

from workbench.live._rows import row
from workbench.live.controls import button
from workbench.live.sweep_words import each_of


class Offer:
    """A button and a sentence. Display `box`, which hides itself while there is nothing to take over."""

    def __init__(self, take: Callable[[], object]) -> None:
        self.press = button("", "end the lanes and let their methods begin anew on what was chosen", take, width="auto")
        self.text = widgets.HTML()
        self.box = row("wb-buttons", self.press, self.text)
        self.withdraw()

    def make(self, problem: str, news: Sequence[str]) -> None:
        """Offer a problem, in which these parts are new."""
        self.press.description = f"Take over {problem}"
        kept = "the lanes stay as they are until you take it over, which ends them; export before what is to be kept"
        self.text.value = f'<span role="status">Chosen elsewhere: another {escape(each_of(news))}; {kept}.</span>'
        self.box.layout.display = None

    def withdraw(self) -> None:
        """Offer nothing any more."""
        self.text.value, self.box.layout.display = "", "none"
