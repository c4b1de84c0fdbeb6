"""The workbench with a problem and a method chosen by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.live.app.app import RACE, Workbench
from workbench.live.compare.race import RaceView
from workbench.live.ui.frontend import in_voila
from workbench.live.ui.page_link import asked_for, race_of_page, view_of_page
from workbench.problems import Problem
from workbench.run import Configuration, configure
from workbench.run.jobs.race_codec import from_link

LONGEST = 20.0
"""Seconds for which the cell of a served page waits for the view of its address, which a thread makes."""


def workbench(
    problem: str | Problem | Configuration = "bubbles-2d", folder: str | Path | None = None, **choices: Any
) -> Workbench:
    """The workbench, filled as by `configure`: workbench("bubbles-3d", n=64, preconditioner="neumann:2").

    problem may also be a share link, the name of a saved problem, or a configuration. folder: where exports go, by
    default exports/ next to the notebook. On a served page, a link in its address comes first. Raises InputError for
    unknown names.

    Examples:
        >>> from workbench.live import workbench
        >>> page = workbench("two-layer", n=16)
        >>> page.close()
    """
    configuration, refused = asked_for(lambda: _configured(problem, choices))
    made = Workbench(configuration, folder)
    # Nothing starts on another problem than the one that was asked for.
    made.turn_to_place(view_of_page().partition(":")[0] if refused else view_of_page())
    if (link := race_of_page()) is not None:
        try:
            made.open_race(from_link(link))
        except InputError as error:
            race: RaceView = made.view(RACE)
            race.controller.complain(f"The race in the address of this page cannot be opened: {error}")
            made.turn_to(RACE)
    if refused:
        made.share.say(refused, "bad")
    if in_voila():
        # A browser that loads the page misses messages on widgets of before, and makes an error of a later box with
        # such a widget in it. When this cell has ended, it gets all widgets at once.
        made.settle(LONGEST)
    return made


def _configured(problem: str | Problem | Configuration, choices: dict[str, Any]) -> Configuration:
    if isinstance(problem, Configuration):
        return problem
    suggested = {"preconditioner": "neumann:2", "deflation": "levelset:8"} if problem == "bubbles-2d" else {}
    return configure(problem, **{**suggested, **choices})
