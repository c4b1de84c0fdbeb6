"""The result of reproducing a table or figure: rows with printed and computed values, notes, and a figure."""

from __future__ import annotations

import dataclasses
import functools
import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from workbench.devices.default_accelerator import default_accelerator
from workbench.errors import InputError
from workbench.extensions.papers.comparison import THEIRS, Compared, PrintedValue, compare, row_name, unexplained
from workbench.extensions.papers.item_scene import item_layers
from workbench.extensions.papers.items import SHOWN, Item
from workbench.extensions.papers.printed import PrintedNumber
from workbench.extensions.papers.results import RESULTS
from workbench.machines.describe import describe_machine
from workbench.plots.figures import draw
from workbench.plots.figures.style import NotebookFigure
from workbench.plots.html_table import html_table
from workbench.plots.scenes.scene import Scene
from workbench.plots.scenes.timeline import LanesOf
from workbench.records import Trace
from workbench.run import Configuration, Result, Run, run_through

Progress = Callable[[str], None]
"""Called with one sentence per step."""
SMALLEST, QUICK = 16, 64


@dataclasses.dataclass(frozen=True)
class Target:
    """A table or figure that can be reproduced.

    make: called with the largest number of grid points per side, at least `smallest`. draws: whether it has a figure.
    named: the columns that name a row. compared: its printed columns and ours; none where the paper prints no numbers.
    quick: the largest size that takes a minute at most. on_device: `make` takes a device in place of the paper's GPU.
    item: that it is made of, if it can be turned on the page too.

    Examples:
        >>> from workbench.extensions.papers import target_of
        >>> target_of("two-level", "table2").smallest
        128
    """

    make: Callable[..., Reproduction]
    draws: bool = False
    smallest: int = SMALLEST
    named: tuple[str, ...] = ()
    compared: tuple[Compared, ...] = ()
    quick: int = QUICK
    on_device: bool = False
    item: Item | None = None

    def check(self, max_n: int, words: str) -> None:
        """Raise InputError for a size below the smallest. words: the paper and the target."""
        if max_n < self.smallest:
            raise InputError(f"max_n must be at least {self.smallest} for {words}, got {max_n}")

    def made(self, max_n: int, progress: Progress, device: str = "") -> Reproduction:
        """The result, with its printed numbers compared, and a note on deviations that are not explained.

        device: measured in place of the paper's GPU, "" for the default of the target.
        """
        found = self.make(max_n, progress, device) if device and self.on_device else self.make(max_n, progress)
        compared = compare(found.rows, self.named, self.compared)
        if self.item is not None and self.compared:
            first = {each.row: each.percent for each in compared if each.column == self.compared[0].printed}
            for row in found.rows if any(each is not None for each in first.values()) else ():
                row["deviation_percent"] = first.get(row_name(row, self.named))
        return dataclasses.replace(found, compared=compared, notes=[*found.notes, *unexplained(compared)])


@dataclasses.dataclass(frozen=True, eq=False)
class Reproduction:
    """A reproduced table or figure of a paper.

    rows: plain data, one dictionary per row, all with the same keys. notes: sentences on what the paper does not
    specify, and on differences and their reasons. compared: its printed numbers, each next to ours. shows: what its
    page draws, alive; by default the scenes of the figure.

    Examples:
        >>> from workbench.extensions.papers import reproduce
        >>> made = reproduce("block-cg", "fig1")
        >>> made.title, made.figure is not None
        ('Figure 1: work grid', True)
    """

    name: str
    title: str
    rows: list[dict[str, Any]]
    notes: list[str]
    figure: Figure | None = None
    compared: list[PrintedValue] = dataclasses.field(default_factory=list)
    shows: Sequence[Scene | Trace] = ()

    @property
    def alive(self) -> Sequence[Scene | Trace]:
        """The pictures that a page without a kernel draws; empty where the figure has to do."""
        if self.shows or not isinstance(self.figure, NotebookFigure):
            return self.shows
        scenes = self.figure.scenes
        # Lanes are drawn from a trace.
        return () if any(isinstance(layer, LanesOf) for scene in scenes for layer in scene.layers) else scenes

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, including a description of the machine."""
        return {
            "name": self.name,
            "title": self.title,
            "rows": self.rows,
            "notes": self.notes,
            "compared": [value.to_dict() for value in self.compared],
            "machine": describe_machine(),
        }

    def text(self) -> str:
        """An aligned table followed by the notes."""
        names, rows, _ = cells_of(self.rows)
        cells = [names, *rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join([self.title, "", *lines, "", *self.notes])

    def _repr_html_(self) -> str:
        names, rows, numbers = cells_of(self.rows)
        table = html_table(names, rows, numbers=numbers, classes="", caption=self.title)
        return table + "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)


def cells_of(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]], list[int]]:
    """The headings, the cells of each row, and the places of the columns with numbers."""
    names, counted = list(rows[0]), (int, float, list, tuple)
    numbers = [k for k, name in enumerate(names) if any(isinstance(row[name], counted) for row in rows)]
    cells = [[cell_text(row[name]) for name in names] for row in rows]
    return [name.replace("_", " ") for name in names], cells, numbers


def cell_text(value: object) -> str:
    """A value of a row as it is shown."""
    if value is None:
        return "-"
    if isinstance(value, PrintedNumber):
        return value.text
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    if isinstance(value, (list, tuple)):
        return "..".join(cell_text(part) for part in value)
    return str(value)


def target_of_item(item: Item) -> Target:
    """An item as a table or figure that can be reproduced."""
    return Target(
        functools.partial(_made, item),
        draws=item.draws,
        item=item,
        smallest=item.smallest,
        named=item.named,
        compared=item.compared,
        quick=item.quick,
        on_device=item.on_device,
    )


def _solved(configuration: Configuration) -> Result:
    return run_through(Run(configuration))


def _made(item: Item, max_n: int, progress: Progress, device: str = "cpu") -> Reproduction:
    """The item at the paper's values, with sizes of at most `max_n`."""
    accelerator, why = default_accelerator() if item.accelerated else ("", "")
    chosen = {"report": True, "max_n": max_n, "device": device, "accelerator_here": accelerator, "why": why}
    values = {**item.paper_values, **chosen}
    cases = [case.with_model() for case in item.cases(values)]
    known, curves = {}, []
    for at, case in enumerate(cases):
        for place, work in enumerate(case.works):
            progress(f"{item.name}: {work.words}")
            known[at, place] = found = RESULTS.found(work, _solved)
            curves += work.curves(found)
    rows = item.rows(cases, known)
    layers = item_layers(item, item.curves(rows, *THEIRS), [*item.curves(rows), *curves])
    x = item.x
    if x.names is not None:
        # Points that the page alone shows come last.
        x = dataclasses.replace(x, names=x.names[: 1 + int(max(map(item.place, rows)))])
    scene = Scene(item.name, x, item.y, layers, spoken=item.title, logs="y")
    picture = draw(scene, title=item.title) if item.draws else None
    for row in rows:
        row.pop(SHOWN, None)
    notes = [*item.notes, *item.found(rows, values)]
    return Reproduction(item.name, item.title, rows, notes, picture, shows=[scene])
