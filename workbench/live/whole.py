"""The whole workbench on one page: build a problem, solve it, race methods on it, look inside, step, share."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live._worker import LatestOnly
from workbench.live.building import Builder, kind_of
from workbench.live.explorer import Explorer
from workbench.live.inside_page import InsidePage
from workbench.live.own import OwnMethod, originals
from workbench.live.page import Page
from workbench.live.race import RaceView
from workbench.live.replay import Replay
from workbench.live.share_bar import ShareBar
from workbench.live.step_page import StepPage
from workbench.live.sweep import SweepView
from workbench.problems import Problem
from workbench.run import Configuration, configure

BUILD, SOLVE, RACE, SWEEP = "Build", "Solve", "Race", "Sweep"
INSIDE, STEP, OWN, OPEN = "Look inside", "Step", "Your method", "Open a run"


class Workbench:
    """Pages that hand one configuration on: what is built is solved, raced, swept over, looked into, stepped through.

    configuration: at first. folder: where exports go, by default exports/ beside the notebook. A page is made when it
    is first turned to; `view(title)` is what it shows, `turn_to(title)` turns to it. Nothing is shared with another
    workbench in the same kernel but the machine, on which runs take turns.
    """

    def __init__(self, configuration: Configuration, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.explorer = Explorer(configuration, self.folder)
        self.share = ShareBar(lambda: self.configuration, self.load, self.folder)
        self._built = False
        self._worker = LatestOnly("workbench-page")
        self.pages = {
            BUILD: Page(self._builder, self._renew_builder),
            SOLVE: Page(self._explorer, lambda _explorer: self._take_over()),
            RACE: Page(lambda: RaceView(self.configuration, folder=self.folder), self._rebase),
            SWEEP: Page(lambda: SweepView(self.configuration, folder=self.folder), self._rebase),
            INSIDE: Page(lambda: InsidePage(self.explorer), InsidePage.renew),
            STEP: Page(lambda: StepPage(self.configuration), self._rebase),
            OWN: Page(self._own, self._rebase),
            OPEN: Page(lambda: Replay(folder=self.folder)),
        }
        self.tabs = widgets.Tab([page.box for page in self.pages.values()], titles=tuple(self.pages), selected_index=0)
        self.box = widgets.VBox([self.tabs]).add_class("wb-workbench")
        self.pages[BUILD].turn_to()
        self.tabs.observe(lambda _change: self._turned(), "selected_index")

    @property
    def configuration(self) -> Configuration:
        """What is built and chosen. Raises InputError with the sentence for the first wrong value."""
        self._take_over()
        return self.explorer.form.configuration()

    def load(self, configuration: Configuration) -> None:
        """Show a configuration: in the form, on the canvas where it can be drawn, and later on the other pages."""
        self._built = False
        self.explorer.form.load(configuration)
        builder = self.pages[BUILD].view
        if builder is not None:
            self._renew_builder(builder)

    def view(self, title: str) -> Any:
        """What a page shows, made now where nobody has looked at it yet."""
        page = self.pages[title]
        if page.view is None:
            page.turn_to()
        return page.view

    def turn_to(self, title: str) -> None:
        """Show a page."""
        self.tabs.selected_index = tuple(self.pages).index(title)

    def close(self) -> None:
        """End all runs and take everything off the page."""
        self._worker.close()
        for page in self.pages.values():
            page.close()
        self.box.close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _turned(self) -> None:
        """Pages may take their time, and callbacks may not; only the page that is in front is worth the work."""
        title = tuple(self.pages)[self.tabs.selected_index or 0]
        self._worker.ask(self.pages[title].turn_to)

    def _rebase(self, view: Any) -> None:
        view.rebase(self.configuration)

    def _explorer(self) -> Explorer:
        self._take_over()
        return self.explorer

    def _own(self) -> OwnMethod:
        named = self.configuration.solver.name
        made = OwnMethod(named if named in originals() else "cg", folder=self.folder)
        made.rebase(self.configuration)
        return made

    def _builder(self) -> Builder:
        chosen = self.explorer.form.configuration()
        made = Builder(chosen.problem, chosen.deflation)
        made.on_change(self._changed)
        made.box.children = (*made.box.children, self.share)
        return made

    def _changed(self) -> None:
        self._built = True

    def _take_over(self) -> None:
        """What was built since goes into the form, where all other pages find it."""
        builder = self.pages[BUILD].view
        if not self._built or builder is None:
            return
        self._built = False
        chosen = {"problem": builder.problem}
        if builder.deflation is not None:
            chosen["deflation"] = builder.deflation
        self.explorer.form.load(dataclasses.replace(self.explorer.form.configuration(), **chosen))

    def _renew_builder(self, builder: Builder) -> None:
        """Show what was chosen elsewhere, where it is something that is built."""
        chosen = self.explorer.form.configuration()
        if self._built or not kind_of(chosen.problem) or chosen.problem == _or_none(builder):
            return
        builder.load(chosen.problem, chosen.deflation)
        self._built = False


def workbench(
    problem: str | Problem | Configuration = "bubbles-2d", folder: str | Path | None = None, **choices: Any
) -> Workbench:
    """The workbench, filled as by `configure`: workbench("bubbles-3d", n=64, preconditioner="neumann:2").

    problem may also be link text, the name of a saved problem, or a configuration. folder: where exports go, by default
    exports/ beside the notebook. Raises InputError for unknown names.
    """
    if isinstance(problem, Configuration):
        return Workbench(problem, folder)
    suggested = {"preconditioner": "neumann:2", "deflation": "levelset:8"} if problem == "bubbles-2d" else {}
    return Workbench(configure(problem, **{**suggested, **choices}), folder)


def _or_none(builder: Builder) -> Problem | None:
    try:
        return builder.problem
    except InputError:
        return None
