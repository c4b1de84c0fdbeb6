"""Looking into any run of a workbench: which one, and the views on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.live.inspect.inside import InsideView
from workbench.live.kit.controls import button
from workbench.live.kit.rows import row
from workbench.live.kit.run_handle import RunHandle
from workbench.live.kit.status import StatusLine
from workbench.live.solve.explorer import Explorer
from workbench.live.transport.closing import close_all
from workbench.run import Session

HINT = "This run was made without kernel timings; press “Run again with timings” and its kernels appear here."
UNTIMED = "This run was made without kernel timings, which Timeline and Roofline show."
KEPT = 10
"""Runs that were made again here which can be looked into."""
Runs = list[RunHandle]


class InsidePage:
    """Display it. The menu holds the explorer's active run, those that have ended, and what `others` returns.

    others: runs of other views by name, such as lanes of a race. `renew` looks for new ones. A run without kernel
    timings can be made again with them, which is one more run in the menu.
    """

    def __init__(self, explorer: Explorer, others: Callable[[], Runs] = list) -> None:
        self._explorer, self._others = explorer, others
        self._shown: RunHandle | None = None
        self._runs: Runs = []
        self._timed: Runs = []
        self._count = 0
        self._renewing = False
        self.choice = widgets.Dropdown(
            description="run", layout={"width": "min(760px, 100%)"}, style={"description_width": "initial"}
        )
        self.again = button("Run again with timings", "solve the same once more and record every kernel", self._try)
        self.again.layout.width = "176px"
        self.status = StatusLine()
        self.offer = row("wb-buttons", self.again, self.status)
        self.inside = InsideView(publisher=explorer.publisher, folder=explorer.folder, hint=HINT)
        parts = [self.choice, self.offer, self.inside.box]
        self.box = widgets.VBox(parts).add_class("wb-explorer").add_class("wb-insidepage")
        self.choice.observe(lambda _change: self._renewing or self._follow(), "index")
        self.renew()

    def renew(self) -> None:
        """Offer the runs as they are now, and show the first of the new ones where there are any."""
        before, self._runs = self._runs, [*reversed(self._timed), *self._explorer.runs, *self._others()]
        fresh = [place for place, run in enumerate(self._runs) if _is_new(run, before)]
        # A run that has ended may be there as its record, by the same name.
        same = [place for place, run in enumerate(self._runs) if self._shown and run.source is self._shown.source]
        named = [place for place, run in enumerate(self._runs) if run.name == self.choice.label]
        kept = next(iter([*same, *named]), 0)
        # New options choose the first of them for a moment, which must not close the views of another run.
        self._renewing = True
        self.choice.options = [(run.name, place) for place, run in enumerate(self._runs)]
        self.choice.disabled = not self._runs
        self.choice.index = (fresh[0] if fresh else kept) if self._runs else None
        self._renewing = False
        self._follow()

    def run_again(self) -> Session:
        """Make the run that is shown once more with kernel timings, and look into it from its beginning.

        It waits for its turn on the machine as any run does. Raises InputError where there is no run, and for one that
        does not contain all of its configuration.
        """
        if self._shown is None:
            raise InputError("there is no run to make again yet; run something first")
        configuration = self._shown.configuration()
        session = Session(configuration, trace=True)
        self._count += 1
        name = f"with timings {self._count}: {configuration.problem.label}, {configuration.label}"
        # Only the last keeps its vectors in addition to its solution.
        self._timed = [*(run.settled() for run in self._timed), RunHandle(session, name)][-KEPT:]
        session.start()
        self.renew()
        return session

    def hide(self, hidden: bool) -> None:
        """While it stands behind another page nothing is drawn."""
        self.inside.hide(hidden)

    def close(self) -> None:
        """End what was begun here and take everything off the page."""
        for made in self._timed:
            if isinstance(made.source, Session):
                made.source.stop()
        self.inside.close()
        close_all(self.box)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _follow(self) -> None:
        place = self.choice.index
        run = self._runs[place] if place is not None and place < len(self._runs) else None
        if run is not None and (self._shown is None or run.source is not self._shown.source):
            self._shown = run
            self.inside.follow(run.source)
            if isinstance(run.source, Session):
                run.source.when_over(self._say)
        self._say()

    def _say(self) -> None:
        """Offer timings where the run has none."""
        run = self._shown
        if run is not None and run.error:
            self.status.say(run.error, "bad")
        elif run is not None and run.over and run.trace is None:
            self.status.say(UNTIMED)
        else:
            self.offer.layout.display = "none"
            return
        self.offer.layout.display = None

    def _try(self) -> None:
        try:
            self.run_again()
        # No one else would report it to the user.
        except Exception as error:
            self.status.say(error_message(error), "bad")
            self.offer.layout.display = None


def _is_new(run: RunHandle, before: Runs) -> bool:
    """Whether no run of this name was there before; a session that has ended is there as its record."""
    held = [other.source for other in before if other.name == run.name]
    return not any(source is run.source or isinstance(source, Session) for source in held)
