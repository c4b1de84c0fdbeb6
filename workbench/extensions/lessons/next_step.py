"""Where a lesson leads: a problem, a method and a view of the workbench, with a sentence."""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Callable
from urllib.parse import quote

from workbench.run import Configuration
from workbench.run.choices.share_link import to_link, to_python
from workbench.run.jobs.race_codec import to_link as to_race_link
from workbench.run.jobs.race_record import EntryRecord, RaceRecord


@dataclasses.dataclass(frozen=True)
class NextStep:
    """words: what there is to see. view: the place in the page. made: problem and method, None for those with which
    the page opens. race: the race that the page opens with, in place of a problem; see `waiting_race`.

    Examples:
        >>> from workbench.extensions.lessons.next_step import NextStep
        >>> NextStep("Bubbles that rise.", "flow.flow").query
        '?view=flow.flow'
    """

    words: str
    view: str
    made: Callable[[], Configuration] | None = None
    race: Callable[[], RaceRecord] | None = None

    @property
    def query(self) -> str:
        """The query that opens it, behind the base of the workbench's address."""
        asked = f"race={quote(to_race_link(self.race()))}&" if self.race is not None else ""
        if self.made is not None:
            asked = f"p={quote(to_link(self.made()))}&"
        return f"?{asked}view={quote(self.view)}"

    def link(self, base: str) -> str:
        """A link that opens it in a new tab, as HTML. base: the address of the workbench. Paper has the words alone."""
        words, address = html.escape(self.words), html.escape(base + self.query)
        on_paper = f'<span class="wb-onpaper" hidden>{words}</span>'
        return f'<a href="{address}" target="_blank" rel="noopener">{words}</a>{on_paper}'

    @property
    def call(self) -> str:
        """The words and, where there is a problem or a race, the call that opens it in a notebook, as HTML."""
        words = html.escape(self.words)
        if self.race is not None:
            call = f"RaceView({', '.join(_configured(entry.configuration) for entry in self.race().entries)})"
        elif self.made is not None:
            call = f"workbench({_configured(self.made())})"
        else:
            return words
        return f"{words} <code>{html.escape(call)}</code>"


def waiting_race(measure: str, *configurations: Configuration) -> RaceRecord:
    """A race that has not started, at the tolerance of its first entry. measure: its x-axis, one of `ranking.MEASURES`;
    seconds are those of iterations.

    Examples:
        >>> from workbench.extensions.lessons.next_step import waiting_race
        >>> from workbench.run import configure
        >>> waiting_race("bytes", configure("two-layer", n=16), configure("two-layer", n=16, solver="pipecg")).measure
        'bytes'
    """
    entries = tuple(map(EntryRecord, configurations))
    return RaceRecord(entries, configurations[0].stopping.rtol, measure, with_setup=False)


def _configured(configuration: Configuration) -> str:
    """The call of `configure` in one line."""
    chosen = re.sub(r"\s+", " ", to_python(configuration).partition("configuration = ")[2])
    return chosen.replace("( ", "(").replace(", )", ")").strip()
