"""An item of a paper that can be turned: printed points, curves that follow sliders, and the deviation between them."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError, quoted
from workbench.extensions.papers import item_of, papers
from workbench.extensions.papers.agreement import Agreement, agreement
from workbench.extensions.papers.items import Curve, Item, Point, Turned
from workbench.extensions.papers.page.computing import Computed, Computing
from workbench.extensions.papers.page.paper_scene import (
    Styles,
    columns,
    counted,
    facts,
    marks,
    picture,
    rows,
    sentence,
    turned_away,
    why,
)
from workbench.extensions.papers.recorded import recorded
from workbench.live.plots.chart import ChartView
from workbench.live.transport.publisher import PollAgain, Publisher
from workbench.live.ui.controls import button, group, menu, row, slider
from workbench.live.ui.run_list import PAPERS, RunList
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.sort_table import SortTable
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.live.ui.words import shown
from workbench.records import Record
from workbench.registry import unknown_name
from workbench.words.numbers import count

KNOWN: dict[tuple[str, str], tuple[Agreement, Sequence[Curve]]] = {}
"""Results of this kernel at the paper's values, by paper and item: the agreement with the paper, and the curves."""
COMPUTE, CONTINUE, STOP = "Compute here", "Continue", "Stop"


class PaperView(View):
    """A table or figure of a paper: `PaperView("two-level", "table2")`. Display it, or `box`.

    Rings are printed, diamonds read off a figure, solid curves are counted or measured here, dashed ones modelled; pale
    ones are those at the values before. At first it shows the results that come with the package, if there are some.
    `turn` moves the sliders, `reset` goes back to the paper's values, `points` are printed points with ours. values: of
    parameters at first, by default the paper's: `PaperView("two-level", "table2", stripes=4)`. runs: the list that its
    runs are added to, by default one of its own. show_runs: shows that list. Raises InputError, which lists what there
    is, for an unknown paper, item, parameter or value.

    Examples:
        >>> from workbench.live import PaperView
        >>> view = PaperView("two-level", "table2")
        >>> view.stop()
        >>> view.close()
    """

    def __init__(
        self,
        paper: str,
        item: str,
        *,
        runs: RunList | None = None,
        show_runs: Callable[[Sequence[int]], object] | None = None,
        folder: str | Path | None = None,
        **values: object,
    ) -> None:
        self.item = item_of(paper, item)
        check_values(self.item, values)
        self.printed = self.item.printed()
        self.runs = runs if runs is not None else RunList()
        self.publisher = Publisher()
        self._styles, self._quiet, self._shown = Styles(self.printed), False, Computed(self.item.paper_values)
        self._here = self._given = False
        self._listed: list[int] = []
        self.sliders = {each.name: self._control(each) for each in self.item.turned}
        self.chart = ChartView(self.publisher)
        self.message, self.progress, self.reason = StatusLine(), widgets.HTML(), widgets.HTML()
        self.table = SortTable()
        self.back = button("Back to the paper's values", "set all parameters to those of the paper", self.reset)
        self.halt = button(STOP, "compute on this machine, stop, or continue; points stay", self.toggle)
        self.list = button("Show its runs", "choose them in the list of runs, and turn to it", self._show_runs)
        self.list.layout.display = "none"
        self._to_runs = show_runs
        self.save_bar = SaveBar(
            lambda: {self.item.name: self.chart.scene},
            provenance=self._provenance,
            about=lambda: paper,
            folder=folder,
        )
        self.computing = Computing(self.item, self.publisher.wake, self._take)
        self.box = self._layout()
        for control in self.sliders.values():
            control.observe(lambda _change: self._turned(), "value")
        self.publisher.add(self.publish)
        self.turn(**values)

    @property
    def values(self) -> dict[str, Any]:
        """The present values of the parameters, by name."""
        return {name: control.value for name, control in self.sliders.items()}

    @property
    def points(self) -> list[Point]:
        """The printed points, each with ours where it is known by now."""
        return self.item.points(self.computing.latest.rows)

    def turn(self, **values: object) -> None:
        """Turn parameters to values that they have, all at once. Raises InputError for others."""
        check_values(self.item, values)
        self._quiet = True
        for name, value in values.items():
            self.sliders[name].value = value
        self._quiet = False
        self._turned()

    def reset(self) -> None:
        """Go back to the paper's values."""
        self.turn(**self.item.paper_values)

    def stop(self) -> None:
        """End the computation; its points stay."""
        self.computing.stop()

    def go_on(self) -> None:
        """Compute the works that were left when it was stopped."""
        if self.computing.latest.stopped:
            self.computing.turn(self.values)

    def toggle(self) -> None:
        """Stop, continue what was stopped, or compute here what comes with the package."""
        if self._given:
            self._here = True
            self._turned()
        else:
            (self.stop if self.computing.latest.busy else self.go_on)()

    def wait(self, timeout: float = 600) -> bool:
        """Wait until all is computed; False when that takes longer than `timeout` seconds."""
        return self.computing.wait(timeout)

    def close(self) -> None:
        """End the computation, and take everything off the page."""
        self.computing.close()
        self.publisher.close()
        super().close()

    def publish(self) -> PollAgain:
        """Show what was computed since; returns when to do it again, see `PollAgain`."""
        computed = self.computing.latest
        if computed is self._shown:
            return False
        self._shown = computed
        points = self.item.points(computed.rows)
        self.chart.show(picture(self.item, self.printed, computed, self._styles), live=computed.busy)
        found = agreement(points)
        tone = "busy" if computed.busy else "bad" if found.badge[1] == "off" else "plain"
        self.message.say(sentence(self.item, computed), tone)
        self.progress.value = _note(_progress(computed))
        said = () if computed.busy else (counted(self.item, computed), why(self.item, computed))
        self.reason.value = "".join(map(_note, (*said, *computed.failed)))
        self.table.show(
            columns(self.item), rows(self.item, points), marks(points), facts(self.item, points, self._styles)
        )
        self.halt.description = COMPUTE if computed.made else CONTINUE if computed.stopped else STOP
        self.halt.disabled = not (computed.busy or computed.stopped or computed.made)
        if computed.whole and not computed.made and not turned_away(self.item, computed.values):
            KNOWN[self.item.paper, self.item.name] = found, computed.curves
        return False

    def _turned(self) -> None:
        if self._quiet:
            return
        self.back.disabled = self.values == self.item.paper_values
        known = None if self._here or self._is_known else recorded(self.item)
        self._given = known is not None and self.values == self.item.paper_values
        if known is None or not self._given:
            self.computing.turn(self.values)
            return
        made = f"{known.day} on {known.machine}"
        parts = {"rows": known.rows, "curves": known.curves, "left": known.left, "works": known.works, "made": made}
        self.computing.show(Computed(self.values, whole=True, **parts))

    @property
    def _is_known(self) -> bool:
        """True if this kernel has the results at the paper's values."""
        return (self.item.paper, self.item.name) in KNOWN

    def _take(self, records: list[Record]) -> None:
        """Put runs of settled values into the list: on no plot, as those of a sweep."""
        self._listed += [self.runs.add(record, PAPERS, hidden=True).number for record in records]
        if self._listed and self._to_runs is not None:
            self.list.layout.display = None

    def _show_runs(self) -> None:
        self.runs.choose(self._listed)
        if self._to_runs is not None:
            self._to_runs(self._listed)

    def _provenance(self) -> dict[str, Any]:
        points = [(point.curve, point.x, point.value.printed, point.value.compared[0]) for point in self.points]
        return {"paper": self.item.paper, "item": self.item.name, "values": self.values, "points": points}

    def _control(self, each: Turned) -> widgets.SelectionSlider | widgets.Dropdown:
        whose = f" ({each.whose}: {each.printed or each.words(each.paper)})" if each.whose and not each.menu else ""
        title = f"{each.title}{whose}"
        options = [(each.words(value), value) for value in each.choices]
        return (menu if each.menu else slider)(title, options, value=each.paper)

    def _layout(self) -> widgets.Box:
        paper = papers()[self.item.paper]
        about = html.escape(f"{paper.title}. {paper.who}")
        head = widgets.HTML(f"<h2>{html.escape(self.item.title)}</h2><p class='wb-note'>{about}</p>")
        acts = row("wb-buttons", self.back, self.halt, self.list)
        turners = widgets.VBox([group("Parameters", *self.sliders.values()), acts]).add_class("wb-turners")
        results = widgets.VBox([self.message, self.chart, self.progress, self.reason]).add_class("wb-turned")
        self.table.layout.display = None if any(each.curve for each in self.item.compared) else "none"
        notes = widgets.HTML("".join(map(_note, self.item.notes)))
        parts = [head, row("wb-turning", turners, results), self.table, notes, self.save_bar.box]
        box = widgets.VBox(parts).add_class("wb").add_class("wb-explorer").add_class("wb-paper")
        return box


def check_values(item: Item, values: Mapping[str, Any]) -> None:
    """Raise InputError for a parameter that an item does not have, and for a value that it does not take."""
    known = {each.name: each for each in item.turned}
    for name, value in values.items():
        if name not in known:
            raise InputError(unknown_name("parameter", name, known))
        if value not in known[name].choices:
            listed = ", ".join(map(str, known[name].choices))
            raise InputError(f"{name} is one of {listed}, got {quoted(value)}")


def _note(words: str) -> str:
    return f"<p class='wb-note'>{html.escape(shown(words))}</p>" if words else ""


def _progress(computed: Computed) -> str:
    """The present work in words, and how much is left."""
    if computed.made:
        left = f" {count(computed.left)} of {count(computed.works)} computations are left." if computed.left else ""
        return f"Computed on {computed.made}.{left}"
    if computed.stopped:
        return f"Stopped; {count(computed.left)} of {count(computed.works)} points are not computed."
    if not computed.busy:
        return ""
    if not computed.left:
        return f"Computing {computed.words}."
    return f"Computing {computed.words}: {count(computed.works - computed.left)} of {count(computed.works)} done."
