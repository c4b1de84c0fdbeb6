"""Looking into any run of a workbench: which one, and the views on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.live.inspect.inside import Given, InsideView
from workbench.live.kit.controls import button
from workbench.live.kit.rows import row
from workbench.live.kit.run_pictures import Watched
from workbench.live.kit.status import StatusLine
from workbench.live.solve.explorer import Explorer
from workbench.live.transport.closing import close_all
from workbench.recording import Record
from workbench.run import Configuration, Result, Run, Session

HINT = "This run was made without kernel timings; press “Run again with timings” and its kernels appear here."
UNTIMED = "This run was made without kernel timings, which Timeline and Roofline show."
KEPT = 10
"""Runs that were made again here which can be looked into."""
Runs = list[tuple[str, Given]]


class InsidePage:
    """Display it. The menu holds the explorer's active run, those that have ended, and what `others` returns.

    others: runs of other views by name, such as lanes of a race. `renew` looks for new ones. A run without kernel
    timings can be made again with them, which is one more run in the menu.
    """

    def __init__(self, explorer: Explorer, others: Callable[[], Runs] = list) -> None:
        self._explorer, self._others = explorer, others
        self._shown: Given | None = None
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
        same = [place for place, (_, run) in enumerate(self._runs) if run is self._shown]
        named = [place for place, (name, _) in enumerate(self._runs) if name == self.choice.label]
        kept = next(iter([*same, *named]), 0)
        # New options choose the first of them for a moment, which must not close the views of another run.
        self._renewing = True
        self.choice.options = [(name, place) for place, (name, _) in enumerate(self._runs)]
        self.choice.disabled = not self._runs
        self.choice.index = (fresh[0] if fresh else kept) if self._runs else None
        self._renewing = False
        self._follow()

    def run_again(self) -> Session:
        """Make the run that is shown once more with kernel timings, and look into it from its beginning.

        It waits for its turn on the machine as any run does. Raises InputError where there is no run, and for one that
        does not say all of its configuration.
        """
        if self._shown is None:
            raise InputError("there is no run to make again yet; run something first")
        configuration = _configuration_of(self._shown)
        session = Session(configuration, trace=True)
        self._count += 1
        name = f"with timings {self._count}: {configuration.problem.label}, {configuration.label}"
        # Only the last keeps its vectors in addition to its solution.
        settled = [(before, _settled(given)) for before, given in self._timed]
        self._timed = [*settled, (name, session)][-KEPT:]
        session.start()
        self.renew()
        return session

    def hide(self, hidden: bool) -> None:
        """While it stands behind another page nothing is drawn."""
        self.inside.hide(hidden)

    def close(self) -> None:
        """End what was begun here and take everything off the page."""
        for _, given in self._timed:
            if isinstance(given, Session):
                given.stop()
        self.inside.close()
        close_all(self.box)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _follow(self) -> None:
        place = self.choice.index
        run = self._runs[place][1] if place is not None and place < len(self._runs) else None
        if run is not None and run is not self._shown:
            self._shown = run
            self.inside.follow(run)
            if isinstance(run, Session):
                run.when_over(self._say)
        self._say()

    def _say(self) -> None:
        """Offer timings where the run has none."""
        run = self._shown
        if isinstance(run, Session) and run.error:
            self.status.say(run.error, "bad")
        elif run is not None and Watched(run).over and Watched(run).trace is None:
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


def _is_new(run: tuple[str, Given], before: Runs) -> bool:
    """Not there before by that name; a session that has ended is there as its record."""
    held = [given for name, given in before if name == run[0]]
    return not any(given is run[1] or isinstance(given, Session) for given in held)


def _configuration_of(run: Given) -> Configuration:
    if isinstance(run, (Session, Run)):
        return run.configuration
    try:
        return Configuration.from_dict(run.provenance["configuration"])
    except (KeyError, TypeError):
        raise InputError("the run does not say all of its configuration, so it cannot be made again") from None


def _settled(run: Given) -> Given:
    """What is kept of a run that has ended."""
    result: Result | None = run.result if isinstance(run, Session) else None
    kept: Record | None = result.record(with_solution=True) if result is not None else None
    return kept or run
