"""A user-defined method: paper lines to edit, checked while they are typed, counted, and raced against the original."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import traitlets

from workbench.costs.solver_costs import Cost, solver_cost
from workbench.errors import InputError
from workbench.live.compare.race import RaceView
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.assets import script
from workbench.live.ui.controls import button, row
from workbench.live.ui.run_list import OWN, RunList
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import LiveWidget, View
from workbench.plots.html_table import Html, html_table
from workbench.problems import Problem
from workbench.registry import blocks as registry
from workbench.run import Configuration, configure, user_solver
from workbench.run.loop.traffic import planning_workspace
from workbench.run.setup.prepare import prepare
from workbench.solvers import Solver
from workbench.solvers.user_defined import UserLinesError, UserSolver, tidied
from workbench.words.names import name_of, sentence_case
from workbench.words.numbers import amount

LANGUAGE = """\
<b>What a line may be</b>
<div class="wb-grammar">
<code>s = A(p)</code><span>the matrix; must be alone on its line</span>
<code>u = M(r)</code><span>the preconditioner; must be alone on its line</span>
<code>gamma = (r, u)</code><span>a dot product; must be alone on its line</span>
<code>beta = gamma/previous</code><span>numbers; also <code>a if b &gt; c else d</code></span>
<code>x = x + alpha*p</code><span>vectors, element by element</span>
</div>
There are + - * / sqrt abs conj. b and x are defined; the run reads
<code>rr</code>, <code>gamma</code>, <code>uu</code> and <code>delta</code>."""


ROWS = (
    *("products with A", "products with M", "vector updates", "sequential reductions", "vectors stored"),
    *("passes over memory", "bytes", "bytes per unknown", "flops per unknown"),
)


class LinesEditor(LiveWidget):
    """The lines before the loop and those of an iteration. wrong: part, line and column of the word that is marked."""

    _script = script("stepping/editor.js")
    start = traitlets.Unicode("").tag(sync=True)
    iterate = traitlets.Unicode("").tag(sync=True)
    wrong = traitlets.Dict({"part": "", "number": 0, "column": 0}).tag(sync=True)

    def write(self, start: str, iterate: str) -> None:
        """Replace both texts."""
        with self.hold_sync():
            self.start, self.iterate = start, iterate

    def mark(self, error: Exception | None) -> None:
        """Mark the line that an error is about and the word in it, or none."""
        found = error if isinstance(error, UserLinesError) else None
        wrong: dict[str, Any] = {"part": "", "number": 0, "column": 0}
        if found is not None:
            # Column 1 is that of errors about a whole line too.
            column = found.column if found.column and found.column > 1 else 0
            wrong = {"part": found.part, "number": found.number or 0, "column": column}
        if wrong != self.wrong:
            self.wrong = wrong


def cost_table(original: Cost, own: Cost | None, unknowns: int) -> str:
    """Both costs side by side, as HTML; what differs is bold, and lines that cannot run have none."""
    counted = [_counted(original, unknowns), _counted(own, unknowns) if own else ["–"] * len(ROWS)]
    names = ("an iteration", name_of("solver", original.solver), own.solver if own else "yours")
    rows = [
        (what, first, Html(f"<b>{second}</b>") if own and first != second else second)
        for what, first, second in zip(ROWS, *counted, strict=True)
    ]
    return html_table(names, rows, numbers=(1, 2), classes="wb-table wb-costs")


def _counted(cost: Cost, unknowns: int) -> list[str]:
    whole = (cost.with_a, cost.with_m, cost.updates, cost.reductions, cost.vectors, cost.passes)
    each = (cost.bytes_per_unknown, cost.flops_per_unknown)
    return [*map(str, whole), amount(each[0] * unknowns), *(f"{number:.0f}" for number in each)]


class OwnMethod(View):
    """Edit the lines of a method and race them against it. Display it; the buttons' methods work from code too.

    original: a method that is written as paper lines. problem and choices as in `configure`: everything but the solver
    is the same in both entries. folder: where exports of the race go. runs: the list that they are added to. The text
    is parsed, never executed. Raises InputError for unknown names.

    Examples:
        >>> from workbench.live import OwnMethod
        >>> view = OwnMethod("cg", "two-layer", n=16)
        >>> view.check()
        True
        >>> view.close()
    """

    def __init__(
        self,
        original: str = "cg",
        problem: str | Problem = "two-layer",
        *,
        folder: str | Path | None = None,
        runs: RunList | None = None,
        **choices: Any,
    ) -> None:
        self.runs = runs or RunList()
        if original not in originals():
            raise InputError(f"{registry.unknown_name('method written as paper lines', original, originals())}")
        self.base = configure(problem, **choices)
        self.folder = folder
        self.view: RaceView | None = None
        self._reported: RaceView | None = None
        self._setting = prepare(self.base)
        self._kept: tuple[str, str] | None = None
        shape: dict[str, Any] = {"layout": {"width": "190px"}, "style": {"description_width": "54px"}}
        self.original = widgets.Dropdown(options=method_options(), value=original, description="original", **shape)
        self.name = widgets.Text(value=f"my-{original}", description="name", continuous_update=False, **shape)
        self.editor = LinesEditor()
        self.editor.write(*self._texts())
        self.status = StatusLine()
        self.table = widgets.HTML()
        self.undo_button = button(
            "Undo reset", "bring back the lines that Reset to original took away", self.undo, width="98px"
        )
        self._worker = LatestOnly("workbench-own-lines")
        self._race = widgets.VBox()
        self._press = button(
            "Race", "run these lines and the original side by side", self.race, style="primary", width="64px"
        )
        self.box = self._layout()
        self.editor.observe(lambda _change: self._ask(), ["start", "iterate"])
        self.name.observe(lambda _change: self._ask(), "value")
        self.original.observe(self._chosen, "value")
        self.check()

    def solver(self) -> UserSolver:
        """The method in the editor. Raises InputError with the sentence for its first error."""
        return user_solver(self.name.value.strip(), self.editor.start, self.editor.iterate)

    def costs(self) -> tuple[Cost, Cost]:
        """The cost of an iteration of the original, and that of these lines. Raises InputError as `solver`."""
        return self._cost_of_original(), solver_cost(self.solver(), self._setting)

    def check(self) -> bool:
        """Check if the lines can run, mark the wrong one, and count the cost of an iteration."""
        try:
            counted = self.costs()
        except InputError as error:
            self.editor.mark(error)
            self.table.value = cost_table(self._cost_of_original(), None, self._setting.b.size)
            self.status.say(str(error), "bad", "wrong")
            return False
        self.editor.mark(None)
        self.table.value = cost_table(*counted, self._setting.b.size)
        same = (tidied(self.editor.start), tidied(self.editor.iterate)) == self._texts()
        self.status.say(
            f"These are the lines of {self._compared}; change some." if same else self._fine(),
            "good",
            "good",
        )
        return True

    def race(self) -> RaceView | None:
        """Race the lines against the original, in a view of their own; None where they are wrong."""
        if not self.check():
            return None
        entries = [dataclasses.replace(self.base, solver=solver) for solver in (self._original(), self.solver())]
        before, self.view = self.view, RaceView(*entries, folder=self.folder, runs=self.runs, origin=OWN)
        self._race.children = (self.view.box,)
        # The race has a filled button of its own, and a view has one.
        self._press.button_style = ""
        if before is not None:
            before.close()
        view = self.view
        view.publisher.add(lambda: self._follow(view))
        view.start()
        return view

    def rebase(self, configuration: Configuration) -> None:
        """Race on this configuration's problem and blocks from now on; the lines in the editor stay."""
        if configuration != self.base:
            setting = prepare(configuration)
            self.base, self._setting = configuration, setting
            self._ask()

    def reset(self) -> None:
        """Put the original's lines in place of those in the editor; `undo` brings these back."""
        self._swap(self._texts())

    def undo(self) -> None:
        """Bring back the lines that the last reset took away."""
        if self._kept is not None:
            self._swap(self._kept)

    def close(self) -> None:
        """End the race and take everything off the page."""
        if self.view is not None:
            self.view.close()
        self._worker.close()
        super().close()

    def _layout(self) -> widgets.Box:
        check = button("Check", "say whether the lines can run, and what they cost", self._ask, width="64px")
        reset = button(
            "Reset to original",
            "take the original's lines again; Undo reset brings these back",
            self.reset,
            width="140px",
        )
        self.undo_button.disabled = True
        bar = row("wb-buttons", self.original, self.name, check, self._press, reset, self.undo_button)
        language = widgets.HTML(LANGUAGE).add_class("wb-language")
        aside = widgets.VBox([self.table, language]).add_class("wb-aside")
        body = row("wb-own-body", self.editor, aside)
        box = widgets.VBox([bar, self.status, body, self._race])
        box.add_class("wb-explorer").add_class("wb-own")
        return box

    def _original(self) -> Solver:
        made = registry.find("solver", str(self.original.value))
        assert isinstance(made, Solver)
        return made

    def _texts(self) -> tuple[str, str]:
        """The original's lines as they run on this problem: some methods need fewer vectors with some M."""
        start, iterate = self._original().texts(planning_workspace(self._setting))
        return tidied(start), tidied(iterate)

    def _cost_of_original(self) -> Cost:
        """Counted from the lines that the editor would show, so that equal lines have equal costs."""
        shown = solver_cost(UserSolver("original", *self._texts()), self._setting)
        return dataclasses.replace(shown, solver=str(self.original.value))

    def _fine(self) -> str:
        return f"These lines can run. Press Race to compare them with {self._compared}."

    @property
    def _compared(self) -> str:
        """The name of the original."""
        return name_of("solver", str(self.original.value))

    def _follow(self, view: RaceView) -> bool:
        """Say the result of these lines once their entry has ended; True before. Runs in the race's publisher."""
        entries = view.race.entries
        if len(entries) < 2 or view is not self.view:
            return False
        mine = entries[1]
        if not mine.ended:
            return True
        if view is not self._reported:
            self._reported = view
            said = mine.error or (mine.result.summary["reason"] if mine.result else "")
            won = mine.result is not None and mine.result.converged
            self.status.say(f"{mine.configuration.solver.name}: {said}", "good" if won else "bad", "raced")
        return False

    def _look(self) -> None:
        self.check()

    def _ask(self) -> None:
        self._worker.ask(self._look)

    def _chosen(self, change: Mapping[str, Any]) -> None:
        """Take the new original's lines only where nothing of the user's would be lost."""
        new, old = change["new"], registry.find("solver", change["old"])
        assert isinstance(old, Solver)
        unchanged = tuple(map(tidied, old.texts(planning_workspace(self._setting))))
        if self.name.value == f"my-{change['old']}":
            self.name.value = f"my-{new}"
        if (tidied(self.editor.start), tidied(self.editor.iterate)) == unchanged:
            self.editor.write(*self._texts())
        self._ask()

    def _swap(self, texts: tuple[str, str]) -> None:
        self._kept = self.editor.start, self.editor.iterate
        self.editor.write(*texts)
        self.undo_button.disabled = False


def method_options(names: Sequence[str] | None = None) -> list[tuple[str, str]]:
    """Methods, by default the originals, for a menu: by name, and as code has them."""
    return [(sentence_case(name_of("solver", name)), name) for name in (originals() if names is None else names)]


def originals() -> tuple[str, ...]:
    """The methods that are written as paper lines, the same in every iteration."""
    known = registry.registered("solver")
    return tuple(name for name in stepped_methods() if known[name].uniform_iterations)  # pyright: ignore[reportAttributeAccessIssue]


def stepped_methods() -> tuple[str, ...]:
    """The methods that can be stepped through."""
    known = registry.registered("solver").items()
    return tuple(name for name, cls in known if issubclass(cls, Solver) and not cls.not_stepped)
