"""Choices for a figure that is saved: runs, their names, the font, and the notes that are printed beneath it."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from workbench.live.ui.controls import button, column, markup
from workbench.live.ui.declared_form import Control, DeclaredForm
from workbench.plots.figures.edited import FONTS, labels_of, relabelled, resized, restyled
from workbench.registry import Parameter

SIZES = ("6", "7", "8", "9", "10", "12")
STYLE = (
    Control("font", "font", rule=Parameter("font", str, next(iter(FONTS)), "font of all texts", choices=tuple(FONTS))),
    Control(
        "size",
        "size (pt)",
        rule=Parameter("size", float, 8.0, "of all texts", low=4, high=24),
        looks={"kind": "choice", "choices": [[size, size] for size in SIZES], "about": ""},
    ),
)
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


class FigureForm(DeclaredForm[FigureChoices]):
    """The choices for figures with these labels. notes: the names of texts that may be printed beneath."""

    def __init__(self, choices: FigureChoices, labels: Sequence[str], notes: Iterable[str]) -> None:
        self._labels, self._notes = {f"-{place}": name for place, name in enumerate(labels)}, tuple(notes)
        lines = [line for place, name in self._labels.items() for line in _line(place, name)]
        ticks = [_tick(f"beneath-{note}", f"{note} beneath", "a line below the figure") for note in self._notes]
        super().__init__(choices, [*lines, *STYLE, *ticks], about="Figures to save")
        self.box.add_class("wb-formrow")

    def values_of(self, state: FigureChoices) -> Mapping[str, Any]:
        labels = {place: state.labels.get(name, name) for place, name in self._labels.items()}
        return {
            "font": state.font,
            "size": state.size,
            **{f"shown{place}": label is not None for place, label in labels.items()},
            **{f"label{place}": label or self._labels[place] for place, label in labels.items()},
            **{f"beneath-{note}": note in state.beneath for note in self._notes},
        }

    def state_of(self, read: Mapping[str, Any]) -> FigureChoices:
        labels = {
            name: (read[f"label{place}"].strip() or name) if read[f"shown{place}"] else None
            for place, name in self._labels.items()
        }
        beneath = tuple(note for note in self._notes if read[f"beneath-{note}"])
        return FigureChoices(labels, read["font"], read["size"], beneath)


class FigureDialog:
    """Display `toggle`, which opens `box`. figures: those that would be saved, looked at when it opens.

    notes: the names of texts that may be printed beneath, with True for those printed at first.
    """

    def __init__(self, figures: Callable[[], Mapping[str, Figure]], notes: Mapping[str, bool]) -> None:
        self._figures, self._notes = figures, tuple(notes)
        self.toggle = button("Adjust …", "runs, labels, font, and what is printed beneath", self._turn, width="80px")
        first = FigureChoices(beneath=tuple(name for name, on in notes.items() if on))
        self.form = FigureForm(first, (), self._notes)
        self.note = markup()
        self.box = column("wb-figure-dialog", self.note, self.form.box)
        self.box.layout.display = "none"

    @property
    def choices(self) -> FigureChoices:
        """The present choices; an empty label keeps the usual one."""
        return self.form.present

    def look(self) -> None:
        """Offer the labels of the figures as they are now; those that were there keep what was chosen."""
        names = list(dict.fromkeys(name for figure in self._figures().values() for name in labels_of(figure)))
        before, kept = self.form, self.choices.labels
        labels = {name: kept.get(name, name) for name in names}
        self.form = FigureForm(dataclasses.replace(self.choices, labels=labels), names, self._notes)
        self.box.children = (self.note, self.form.box)
        before.box.close()
        self.note.value = "" if names else "These figures have no legend."

    def _turn(self) -> None:
        opens = self.box.layout.display == "none"
        if opens:
            try:
                self.look()
            # Nothing to save yet: the font can be chosen all the same.
            except ValueError as reason:
                self.note.value = html.escape(str(reason))
        self.box.layout.display = None if opens else "none"


def _tick(field: str, label: str, help: str) -> Control:
    return Control(field, label, rule=Parameter(field, bool, True, help))


def _line(place: str, name: str) -> tuple[Control, Control]:
    """A tick that prints a label, and the text that is printed."""
    text = Parameter(f"label{place}", str, name, "how this run is called in the figure")
    return _tick(f"shown{place}", name, "untick it to leave it out"), Control(text.name, "as", rule=text)
