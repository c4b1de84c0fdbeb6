"""The whole workbench on one page: build a problem, solve it, race methods on it, look inside, step, share."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from workbench.errors import InputError
from workbench.live.app.drawing import Drawing
from workbench.live.app.extension_pages import ExtensionPages
from workbench.live.app.frame import Frame
from workbench.live.app.keeper import Keeper
from workbench.live.app.page import Page
from workbench.live.app.undoing import HeaderUndo
from workbench.live.builders.builder import Builder
from workbench.live.compare.race import RaceView
from workbench.live.compare.race_opening import opening
from workbench.live.compare.suggest import Suggest
from workbench.live.compare.sweep import SweepView
from workbench.live.inspect.inside_page import InsidePage
from workbench.live.inspect.replay import Replay
from workbench.live.runs.runs_page import RunsPage
from workbench.live.solve.explorer import Explorer
from workbench.live.stepping.own_method import OwnMethod, originals
from workbench.live.stepping.step_page import StepPage
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.extension_view import ExtensionView
from workbench.live.ui.frontend import in_voila
from workbench.live.ui.run_list import ListedRun, RunList
from workbench.live.ui.server_connection import server_connection
from workbench.live.ui.share_bar import ShareBar
from workbench.live.ui.undo import Undoes
from workbench.live.ui.view import View
from workbench.run import Configuration
from workbench.run.jobs.race_record import RaceRecord

BUILD, SOLVE, RACE, SWEEP = "Build", "Solve", "Race", "Sweep"
INSIDE, STEP, OWN, OPEN = "Look inside", "Step", "Your method", "Open a run"
SUGGEST, RUNS = "Suggest", "Runs"


class OfConfiguration(Protocol):
    """A view that shows, or starts from, the configuration that is chosen elsewhere."""

    def rebase(self, configuration: Configuration) -> None:
        """Take the configuration."""
        ...


class Workbench(View):
    """Pages that share one configuration, which is built, solved, raced, swept over, inspected and stepped through.

    configuration: at first. folder: where exports go, by default exports/ next to the notebook. A page is made when it
    is first shown; `view(title)` returns its view, `turn_to(title)` shows it. Workbenches in one kernel share only the
    machine, on which runs take turns.

    Examples:
        >>> from workbench.live import Workbench
        >>> from workbench.run import configure
        >>> page = Workbench(configure("two-layer", n=16))
        >>> page.configuration.problem.n
        16
        >>> page.close()
    """

    def __init__(self, configuration: Configuration, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.runs = RunList()
        """All runs of the page."""
        self.runs.acts = {"inside": self._look_inside, "timings": self._time_again, "race": self._add_to_race}
        self.explorer = Explorer(configuration, self.folder, self.runs, shares=False)
        self.share = ShareBar(lambda: self._shared, self._open_shared, self.folder, self.open_race)
        self.share.in_front = self._race_link
        server = server_connection()
        collected = server is not None and bool(server.facts["collects"])
        # A notebook's kernel keeps all of it itself.
        self.keeper = Keeper(self.runs, self._reopen, self._recall_race, collected=collected) if in_voila() else None
        self._kept = [self.keeper] if self.keeper is not None else []
        self.explorer.forgets = False
        self._worker = LatestOnly("workbench-page")
        self.undoing = HeaderUndo(lambda: self._undoes, lambda sentence: self.frame.shell.say(sentence), self._undone)
        acts = {"undo": self.undoing.undo, "redo": self.undoing.redo}
        acts |= {"tour": self._run_for_tour, "tour-look": self._look_for_tour}
        self.frame = Frame(acts, self.share)
        self.pages = self.frame.pages
        build = Page(self._builder, lambda builder: self.drawing.renew(builder))
        self.drawing = Drawing(self.explorer.form, lambda: build.view, lambda: self.frame.in_front is build)
        self.notice = self.drawing.notice
        self.frame.add("build", BUILD, build)
        self.frame.add(
            "solve", SOLVE, Page(lambda: self.explorer, lambda _explorer: self.drawing.take_over()), flush=True
        )
        self.frame.add("compare", RACE, Page(self._race, self._rebase), flush=True)
        self.frame.add("compare", SWEEP, Page(self._sweep, self._rebase), flush=True)
        self.frame.add("compare", SUGGEST, Page(self._suggest, self._rebase), flush=True)
        self.frame.add("inspect", INSIDE, Page(self._inside, InsidePage.renew))
        self.frame.add("inspect", OPEN, Page(lambda: Replay(folder=self.folder, runs=self.runs)))
        self.frame.add("learn", STEP, Page(lambda: StepPage(self.configuration), self._rebase))
        self.frame.add("learn", OWN, Page(self._own, self._rebase))
        self.frame.add("runs", RUNS, Page(self._runs))
        self.extensions = ExtensionPages(self.frame, self, self._name_problem)
        self.bars = self.extensions.bars()
        for line in reversed(self.bars):
            self.frame.add_above(line)
        self.box = self.frame.box
        self.explorer.changed = self._name_problem
        self.frame.turn_to(BUILD)
        self.pages[SOLVE].made()
        self.pages[BUILD].turn_to()
        self._name_problem()
        self.frame.shell.observe(lambda _change: self._turned(), "shown")

    @property
    def configuration(self) -> Configuration:
        """The problem that is built, and the method chosen for it. Raises InputError with the sentence for the first
        wrong value; for one in Build only while that is in front, since the other pages work on the problem in the
        header."""
        self.drawing.take_over()
        return self.explorer.form.configuration()

    def load(self, configuration: Configuration) -> None:
        """Show a configuration: in the form, on the canvas where it can be drawn, and later on the other pages."""
        self.drawing.load(configuration)

    def show(self, configuration: Configuration) -> None:
        """Show a configuration as `load` does, and on the page in front at once."""
        self.load(configuration)
        self._turned()

    def open_race(self, race: RaceRecord) -> None:
        """Show a race as it ended, and its problem on the other pages. Nothing is run."""
        self.load(race.entries[0].configuration)
        self._recall_race(race)
        self.turn_to(RACE)

    def view(self, title: str) -> Any:
        """The view of a page, made now if it was not shown before."""
        return self.pages[title].made()

    def turn_to(self, title: str) -> None:
        """Show a page."""
        self.frame.turn_to(title)

    def turn_to_place(self, place: str) -> None:
        """Show the page of a place such as "compare.race", or an item of it, "papers.papers:mpcg.table3", or
        "compare.race:start", which starts the race; where there is no such page, the present one stays."""
        former, _, item = place.partition(":")
        view = self.frame.now_at(former)
        if view in self.frame.places:
            self.frame.shell.shown = view
            if item:
                self.frame.in_front.attempt(lambda made: isinstance(made, View) and made.open_at(item))

    def settle(self, timeout: float) -> bool:
        """Wait until the view in front is made and up to date; False when that takes longer than `timeout` seconds."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """End all runs and take everything off the page."""
        self._worker.close()
        for page in self.pages.values():
            page.close()
        super().close()

    def _turned(self) -> None:
        """Bring the page in front up to date in the worker, since pages take time and callbacks must return at once.
        The drawing goes into the form immediately, since Run may be pressed before its page is made."""
        with contextlib.suppress(InputError):
            self.drawing.take_over()
        shown = self.frame.in_front
        for page in self.pages.values():
            if page is not shown:
                page.leave()
        self._worker.ask(shown.turn_to)
        self._worker.ask(self._name_problem, "name")

    def _name_problem(self) -> None:
        """Name a problem in the header: in Build the one drawn, in Inspect that of the run shown, in a view of an
        extension the one that it shows, else that of the form; none in a view that does not use it. A wrong value
        changes no name."""
        self._worker.ask(self._note_place, "place")
        with contextlib.suppress(InputError):
            form, inside = self.explorer.form, self.pages[INSIDE]
            drawn = self.drawing.shown
            looked_into = inside.view.shown if inside.view and self.frame.in_front is inside else None
            chosen = looked_into.handle.configuration() if looked_into else form.configuration()
            added = self._extension_view
            shown = added.problem_shown if added else None
            front = self.frame.in_front.view
            used = not isinstance(front, View) or front.names_problem
            self.frame.name((shown or drawn or chosen.problem) if used else None)
        self.frame.shell.undoing = self.undoing.state

    def _note_place(self) -> None:
        """Write the present problem and page into the address of a served page. A wrong value, or a configuration that
        no link holds, leaves the address as it is."""
        if self.keeper is not None:
            with contextlib.suppress(InputError):
                chosen = self.explorer.form.configuration()
                drawn = self.drawing.changed or chosen.problem
                self.keeper.place(dataclasses.replace(chosen, problem=drawn), self._place)

    @property
    def _place(self) -> str:
        """The key of the page in front, and the item that it shows behind a colon, see `turn_to_place`."""
        shown, added = self.frame.shell.shown, self._extension_view
        item = added.at if added else ""
        return f"{shown}:{item}" if item else shown

    @property
    def _extension_view(self) -> ExtensionView | None:
        """The view of an extension that is in front; None for another page, and before it is made."""
        view = self.frame.in_front.view
        return view if isinstance(view, ExtensionView) else None

    @property
    def _shared(self) -> Configuration:
        """The configuration of a view of an extension in front which has one, else that of the page."""
        added = self._extension_view
        return (added.configuration_shown if added else None) or self.configuration

    def _open_shared(self, configuration: Configuration) -> None:
        """Show a configuration in the view in front where that takes it, else in the form."""
        added, title = self._extension_view, self.extensions.taker(configuration)
        if added is not None and title and self.frame.in_front is self.pages[title]:
            added.take_method(configuration)
        else:
            self.load(configuration)

    def _reopen(self, configuration: Configuration, place: str) -> None:
        self.load(configuration)
        self.turn_to_place(place)

    @property
    def _undoes(self) -> Undoes | None:
        """The drawing in Build, the form in Solve, else the view in front where it can undo; Undo of the header acts on
        it."""
        if self.frame.in_front is self.pages[BUILD]:
            return self.drawing
        view = self.frame.in_front.view
        if view is self.explorer:
            return self.explorer.form
        return view if isinstance(view, Undoes) else None

    def _undone(self, view: Undoes) -> None:
        if view is self.explorer.form:
            self._turned()
        self._name_problem()

    def _race_link(self) -> tuple[str, str] | None:
        """The link of the race as it ended, and a sentence on it; None while it is not in front or has no result."""
        race = self.pages[RACE].view
        shown = isinstance(race, RaceView) and self.frame.in_front is self.pages[RACE] and race.has_results
        return race.link() if shown else None

    def _recall_race(self, race: RaceRecord) -> None:
        view: RaceView = self.view(RACE)
        view.open(race)
        self._rebase(view)

    def _run_for_tour(self) -> None:
        """Make the run that the tour points at, with timings, unless there is one."""
        if any(run.handle.traced for run in self.runs.runs):
            return
        self.drawing.take_over()
        trace = self.explorer.trace
        before, trace.value = trace.value, True
        self.explorer.run()
        trace.value = before

    def _look_for_tour(self) -> None:
        """Choose the latest run with timings, whose kernels the tour points at."""
        traced = [run.number for run in self.runs.runs if run.handle.traced]
        if traced:
            self.runs.choose(traced[-1:])

    def _rebase(self, view: OfConfiguration) -> None:
        view.rebase(self.configuration)

    def _race(self) -> RaceView:
        # The form of Solve may know A, which rules out more methods.
        first = lambda chosen: opening(chosen, self.explorer.form.operator_of)  # noqa: E731
        made = RaceView(self.configuration, folder=self.folder, runs=self.runs, opening=first)
        made.opened = self.load
        made.changed = lambda: self._race_changed(made)
        return made

    def _race_changed(self, race: RaceView) -> None:
        """Keep the race in the browser, and name what can be undone in it."""
        if self.keeper is not None:
            self.keeper.keep_race(lambda: race.present)
        self._name_problem()

    def _sweep(self) -> SweepView:
        return SweepView(self.configuration, folder=self.folder, runs=self.runs)

    def _suggest(self) -> Suggest:
        return Suggest(self.configuration, self._take_pair, self._race_pairs)

    def _runs(self) -> RunsPage:
        made = RunsPage(self.runs, self.folder)
        made.box.children = (*made.box.children, *self._kept)
        return made

    def _inside(self) -> InsidePage:
        made = InsidePage(self.runs, self.explorer.publisher, self.folder, lambda: self.turn_to(SOLVE))
        made.changed = self._name_problem
        return made

    def _take_pair(self, configuration: Configuration) -> None:
        """Put a suggested pair into the form, and show it in the view that takes it, by default Solve."""
        self.load(configuration)
        title = self.extensions.taker(configuration)
        if title and isinstance(taker := self.view(title), ExtensionView):
            taker.take_method(configuration)
        self.turn_to(title or SOLVE)

    def _race_pairs(self, configurations: Sequence[Configuration]) -> None:
        """Add the suggested pairs to the race, and start it; those that it has are not added again."""
        if self.configuration.problem != configurations[0].problem:
            # The pages work on the problem of the form, which has changed since the suggestions were asked for.
            self.load(configurations[0])
        race: RaceView = self.view(RACE)
        self._rebase(race)
        there = len(configurations) - len(race.join(configurations))
        if there:
            race.saved.say(
                f"{there} of the {len(configurations)} methods {'is' if there == 1 else 'are'} there already."
            )
        race.start()
        self.turn_to(RACE)

    def _look_inside(self, runs: Sequence[ListedRun]) -> None:
        page: InsidePage = self.view(INSIDE)
        page.look(*runs)
        self.turn_to(INSIDE)

    def _time_again(self, runs: Sequence[ListedRun]) -> None:
        page: InsidePage = self.view(INSIDE)
        for run in runs:
            page.run_again(run)
        self.turn_to(INSIDE)

    def _add_to_race(self, runs: Sequence[ListedRun]) -> None:
        """Add the methods of runs to the race, which is on the present problem."""
        configurations = [run.handle.configuration() for run in runs]
        race: RaceView = self.view(RACE)
        self._rebase(race)
        for configuration in configurations:
            race.add_method(configuration)
        self.turn_to(RACE)

    def _own(self) -> OwnMethod:
        named = self.configuration.solver.name
        made = OwnMethod(named if named in originals() else "cg", folder=self.folder, runs=self.runs)
        made.rebase(self.configuration)
        return made

    def _builder(self) -> Builder:
        chosen = self.explorer.form.configuration()
        form = self.explorer.form.configuration
        made = Builder(chosen.problem, chosen.deflation, form, self._solve_built, self.load)
        made.on_change(self._name_problem)
        made.box.children = (*self._kept, self.notice, *made.box.children)
        self.drawing.note(made, chosen.problem)
        return made

    def _solve_built(self) -> None:
        """Run the problem that is built, and show the run. Does nothing for a wrong problem; the builder shows its
        error."""
        with contextlib.suppress(InputError):
            self.drawing.take_over()
            self.turn_to(SOLVE)
            self.explorer.controller.attempt(self.explorer.run)()
