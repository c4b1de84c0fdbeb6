"""Choices for a figure that is saved: runs, their names, the font, and the notes that are printed beneath it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.live.transport.closing import close_all
from workbench.live.ui.controls import button
from workbench.plots.figures.edited import FONTS, labels_of, relabelled, resized, restyled

SIZES = (6, 7, 8, 9, 10, 12)
PROVENANCE = "provenance"


@dataclasses.dataclass(frozen=True)
class FigureChoices:
    """labels: by label of a legend the one to print, None to leave out. font, size: as `restyled` takes them. beneath:
    the names of the notes that are printed."""

    labels: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    font: str = next(iter(FONTS))
    size: float = 8
    beneath: Sequence[str] = ()

    def apply(self, figure: Figure, columns: int, notes: Mapping[str, str]) -> Figure:
        """A copy of a figure in the form to be saved. notes: texts that may be printed beneath it, by name."""
        caption = "\n".join(notes[name] for name in self.beneath if notes.get(name))
        printed = resized(relabelled(figure, self.labels), columns)
        return restyled(printed, font=self.font, size=self.size, caption=caption)


class FigureDialog:
    """Display `toggle`, which opens `box`. figures: those that would be saved, looked at when it opens.

    notes: the names of texts that may be printed beneath, with True for those printed at first.
    """

    def __init__(self, figures: Callable[[], Mapping[str, Figure]], notes: Mapping[str, bool]) -> None:
        self._figures = figures
        self._rows: dict[str, widgets.HBox] = {}
        """A line for each label: a tick to print it, and its text."""
        self.toggle = button("Adjust …", "runs, labels, font, and what is printed beneath", self._turn, width="80px")
        self.font = widgets.Dropdown(options=list(FONTS), description="font", layout={"width": "190px"})
        self.size = widgets.Dropdown(options=SIZES, value=8, description="size (pt)", layout={"width": "150px"})
        for control in (self.font, self.size):
            control.style.description_width = "initial"
        self.notes = {name: _tick(name, on) for name, on in notes.items()}
        self.rows = widgets.VBox()
        beneath = [widgets.Label("printed beneath:"), *self.notes.values()]
        style = widgets.HBox([self.font, self.size, *beneath]).add_class("wb-buttons")
        self.box = widgets.VBox([self.rows, style]).add_class("wb-figure-dialog")
        self.box.layout.display = "none"

    @property
    def choices(self) -> FigureChoices:
        """The present choices; an empty label keeps the usual one."""
        labels: dict[str, str | None] = {}
        for name, line in self._rows.items():
            shown, text = line.children
            labels[name] = (str(text.value).strip() or name) if shown.value else None
        beneath = [name for name, tick in self.notes.items() if tick.value]
        return FigureChoices(labels, str(self.font.value), float(self.size.value or 8), beneath)

    def look(self) -> None:
        """Offer the labels of the figures as they are now; those that were there keep what was chosen."""
        names = list(dict.fromkeys(name for figure in self._figures().values() for name in labels_of(figure)))
        before, self._rows = self._rows, {}
        for name in names:
            self._rows[name] = before.pop(name, None) or _line(name)
        self._show([*self._rows.values()] or [widgets.HTML("These figures have no legend.")])

    def _turn(self) -> None:
        opens = self.box.layout.display == "none"
        if opens:
            try:
                self.look()
            # Nothing to save yet: the font can be chosen all the same.
            except ValueError as reason:
                self._show([widgets.Label(str(reason))])
        self.box.layout.display = None if opens else "none"

    def _show(self, lines: Sequence[widgets.Widget]) -> None:
        kept = {*lines, *self._rows.values()}
        replaced = [line for line in self.rows.children if line not in kept]
        self.rows.children = lines
        for line in replaced:
            close_all(line)


def _tick(name: str, on: bool) -> widgets.Checkbox:
    return widgets.Checkbox(value=on, description=name, indent=False, layout={"width": "auto"})


def _line(name: str) -> widgets.HBox:
    field = widgets.Text(name, layout={"flex": "1 1 200px", "max_width": "520px"})
    field.tooltip = "how this run is called in the figure; untick it to leave it out"
    return widgets.HBox([_tick("", True), field]).add_class("wb-figure-run")
