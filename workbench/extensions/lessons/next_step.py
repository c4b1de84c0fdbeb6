"""Where a lesson leads: a problem, a method and a view of the workbench, with a sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from urllib.parse import quote

from workbench.run import Configuration
from workbench.run.choices.share_link import to_link


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
