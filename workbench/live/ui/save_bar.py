"""A bar that saves the figures of any view, with their numbers as CSV: format, width, and where to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.live.ui.controls import button, column, row
from workbench.live.ui.declared_form import Control, DeclaredForm
from workbench.live.ui.figure_dialog import PROVENANCE, FigureDialog
from workbench.live.ui.file_names import make_folder, slug
from workbench.live.ui.run_pictures import PAINTING
from workbench.live.ui.saver import Saver
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.plots import figures
from workbench.plots.figures.edited import relabelled
from workbench.plots.figures.saving import Table
from workbench.plots.scenes.scene import Scene
from workbench.registry import parameter

Picture = Figure | Scene | Sequence[Scene]
"""Pictures that can be saved: a figure, or scenes one above the other."""
FORMATS = ("svg", "pdf", "png")
WIDTHS = {"1": "one column, 85 mm", "2": "two columns, 175 mm"}


@dataclasses.dataclass(frozen=True)
class FigureFile:
    """The form in which figures are saved. width: columns of a page, 1 or 2."""

    kind: str = parameter("svg", "format of the files", choices=FORMATS)
    width: int = parameter(2, "width of the figures", low=1, high=2)


CONTROLS = (
    Control("kind", "as", looks={"choices": [[kind, kind.upper()] for kind in FORMATS]}),
    Control("width", "width", looks={"kind": "choice", "choices": list(WIDTHS.items())}),
)


class SaveBar(View):
    """A button that saves the pictures of a view. Display it, or `box`, below the view. The functions are called when
    the button is pressed, and `pictures` also when the dialog is opened.

    pictures: by name, which begins the name of the file; scenes are drawn as they are saved. The numbers that each
    shows are written as CSV next to it. provenance: of the pictures, as plain data. about: the rest of the file names.
    notes: texts that may be printed beneath a picture of that name, by one of the names in `noted`, such as the plane
    of a slice; the provenance may always be. folder: of `save` and of the menu, by default exports/ next to the
    notebook. status: the line that says what was saved, by default one of its own. `saver` serves other buttons of the
    view too.

    Examples:
        >>> from workbench.plots import scenes
        >>> from workbench.live import SaveBar
        >>> scene = scenes.residual_gap_scene({"CG": ([1.0, 1e-8], [1.0, 1e-8])})
        >>> bar = SaveBar(lambda: {"gap": scene}, provenance=dict, folder=".")
        >>> [path.suffix for path in bar.save("svg")]
        ['.svg']
    """

    def __init__(
        self,
        pictures: Callable[[], Mapping[str, Picture]],
        *,
        provenance: Callable[[], Mapping[str, Any]],
        about: Callable[[], str] = str,
        notes: Callable[[str], Mapping[str, str]] = lambda _name: {},
        noted: Sequence[str] = (),
        folder: str | Path | None = None,
        status: StatusLine | None = None,
    ) -> None:
        self._pictures, self._provenance, self._about = pictures, provenance, about
        self.status = status or StatusLine()
        self.saver = Saver(self.status, folder)
        self.form = DeclaredForm(FigureFile(), CONTROLS, about="Files of figures")
        self.form.box.add_class("wb-formrow")
        self.press = button("Save figures", "save what is shown, with its numbers as CSV", self._pressed, width="104px")
        self._notes = notes
        self.dialog = FigureDialog(self._figures, {**dict.fromkeys(noted, True), PROVENANCE: False})
        self.row = row("wb-buttons", self.press, self.form.box, self.dialog.toggle, self.saver.box)
        self.box = column("wb-save", self.row, self.dialog.box, *([] if status else [self.status]))

    def save(self, kind: str | None = None, columns: int | None = None) -> list[Path]:
        """Write all figures into the folder as "svg", "pdf" or "png", 1 or 2 columns wide; by default as chosen.

        Returns the paths. Raises InputError when there is nothing to save yet, and when the folder cannot be written.
        """
        return self._write(self.folder, kind, columns)

    @property
    def folder(self) -> Path:
        """The folder that `save` writes to, on the kernel's disk."""
        return self.saver.folder

    def _write(self, folder: Path, kind: str | None = None, columns: int | None = None) -> list[Path]:
        kind = kind or self.form.present.kind
        if kind not in FORMATS:
            raise InputError(f"a figure is saved as {', '.join(FORMATS)}, got {kind!r}")
        shown = self._figures()
        if not shown:
            raise InputError("there is no figure to save yet; let the run make an iteration")
        make_folder(folder)
        about = self._provenance()
        chosen, wide = self.dialog.choices, columns or self.form.present.width
        paths = []
        with PAINTING:
            for name, figure in shown.items():
                beneath = {**self._notes(name), PROVENANCE: provenance_line(about)}
                printed = chosen.apply(figure, wide, beneath)
                path = folder / f"{slug(f'{name} {self._about()}')}.{kind}"
                numbers = _drawn(relabelled(figure, chosen.labels))
                paths.append(figures.save(printed, path, about, numbers))
        return paths

    def _figures(self) -> dict[str, Figure]:
        with PAINTING:
            return {name: as_figure(picture) for name, picture in self._pictures().items()}

    def _pressed(self) -> None:
        self.press.disabled = True
        self.saver.save(self._write, lambda: f"figures {self._about()}", "saving", self._freed)

    def _freed(self) -> None:
        self.press.disabled = False


def as_figure(picture: Picture) -> Figure:
    """Scenes as a figure; a figure as it is."""
    if isinstance(picture, Figure):
        return picture
    return figures.draw(picture) if isinstance(picture, Scene) else figures.draw(*picture)


def _drawn(figure: Figure) -> Table | None:
    """The data of a figure as a table; None for data that fit none."""
    found = figures.plotted_data(figure)
    return found if found["x"] else None


def provenance_line(provenance: Mapping[str, Any]) -> str:
    """Problem, machine and time of the runs, in a line; of several the first, and their number."""
    runs = provenance.get("runs")
    first: Mapping[str, Any] = (runs[0] if runs else {}) if runs is not None else provenance
    machine = first.get("machine")
    cpu = machine.get("cpu", "") if isinstance(machine, Mapping) else ""
    made = str(first.get("started", "")).replace("T", " ").replace("+00:00", " UTC")
    version = f"workbench {first['workbench']}" if "workbench" in first else ""
    several = f"{len(runs)} runs, the first" if runs and len(runs) > 1 else ""
    configuration = first.get("configuration")
    problem = configuration.get("problem", {}).get("name", "") if isinstance(configuration, Mapping) else ""
    return ", ".join(part for part in (several, problem, cpu, made, version) if part)
