"""Where a lesson leads: a problem, a method and a view of the workbench, with a sentence."""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Callable
from urllib.parse import quote

from workbench.run import Configuration
from workbench.run.choices.share_link import to_link, to_python


@dataclasses.dataclass(frozen=True)
class NextStep:
    """words: what there is to see. view: the place in the page. made: problem and method, None for those with which
    the page opens.

    Examples:
        >>> from workbench.extensions.lessons.next_step import NextStep
        >>> NextStep("Bubbles that rise.", "flow.flow").query
        '?view=flow.flow'
    """

    words: str
    view: str
    made: Callable[[], Configuration] | None = None

    @property
    def query(self) -> str:
        """The query that opens it, behind the base of the workbench's address."""
        asked = "" if self.made is None else f"p={quote(to_link(self.made()))}&"
        return f"?{asked}view={quote(self.view)}"

    def link(self, base: str) -> str:
        """A link that opens it in a new tab, as HTML. base: the address of the workbench. Paper has the words alone."""
        words, address = html.escape(self.words), html.escape(base + self.query)
        on_paper = f'<span class="wb-onpaper" hidden>{words}</span>'
        return f'<a href="{address}" target="_blank" rel="noopener">{words}</a>{on_paper}'

    @property
    def call(self) -> str:
        """The words and, where there is a problem, the call that opens it in a notebook, as HTML."""
        words = html.escape(self.words)
        if self.made is None:
            return words
        chosen = re.sub(r"\s+", " ", to_python(self.made()).partition("configuration = ")[2])
        call = f"workbench({chosen.replace('( ', '(').replace(', )', ')').strip()})"
        return f"{words} <code>{html.escape(call)}</code>"
