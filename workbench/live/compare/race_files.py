"""Files of a race: pictures, a film, tables, run files, and the race as it ended as a link and as one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.files import write
from workbench.live.compare.race_entries import KINDS, RaceEntries, ended, export_race, race_name
from workbench.live.plots.convergence import ConvergenceView
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, row
from workbench.live.ui.export import PICTURES, provenance
from workbench.live.ui.file_names import make_folder, slug
from workbench.live.ui.frontend import in_voila
from workbench.live.ui.page_link import query_of_race
from workbench.live.ui.run_list import ListedRun
from workbench.live.ui.run_pictures import PAINTING
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.status import StatusLine
from workbench.plots.figures.film import growing
from workbench.plots.scenes.scene import Scene
from workbench.run.jobs.race_codec import ENDING, MOST_BYTES, read_race, save_race, to_link
from workbench.run.jobs.race_curves import POINTS
from workbench.run.jobs.race_record import RaceRecord
from workbench.words.numbers import count

RACE, FILM = "race", "gif"
TIPS = {
    RACE: f"the race as it ended, in one {ENDING} file that opens without running anything",
    FILM: "the curves as they grow, as a film",
}
TITLES = {**KINDS, RACE: "Save race", FILM: "Film (GIF)"}


class RaceFiles:
    """The buttons that write and open. Display `box`, and `status` below it.

    measure: returns the axis, for names. record: returns the race as it is; raises InputError before an entry has
    ended. take: shows a race that is opened, in a thread of its own. folder: of the files.
    """

    def __init__(
        self,
        entries: RaceEntries,
        convergence: ConvergenceView,
        measure: Callable[[], str],
        record: Callable[[], RaceRecord],
        take: Callable[[RaceRecord], object],
        folder: Path,
    ) -> None:
        self._entries, self._convergence, self._measure = entries, convergence, measure
        self._record, self._take, self.folder = record, take, folder
        self.status = StatusLine()
        self.buttons = {
            kind: button(text, TIPS.get(kind, "save it, a file for each entry"), self._exporting(kind), width="104px")
            for kind, text in TITLES.items()
        }
        self.share = button("Link", "a link that opens this race as it ended", self._press_link, width="64px")
        self.upload = widgets.FileUpload(accept=".json", description="Open race", icon="", layout={"width": "112px"})
        self.upload.tooltip = f"a {ENDING} file; nothing is run"
        self.upload.observe(self._uploaded, "value")
        self._opener = LatestOnly("workbench-open-race")
        self.save_bar = SaveBar(
            lambda: {"race": self.scene()},
            provenance=lambda: provenance(ended(self._listed)),
            about=lambda: race_name(self._listed, self._measure()),
            folder=folder,
            status=self.status,
        )
        self.box = row("wb-buttons", self.share, self.upload, *self.buttons.values(), self.save_bar.box)

    def scene(self) -> Scene:
        """The plot of the entries that have ended. Raises InputError while there is none."""
        ended(self._listed)
        return self._convergence.scene()

    def offer(self, offered: bool) -> None:
        """Enable what needs an entry that has ended."""
        for control in (*self.buttons.values(), self.share, self.save_bar.press):
            control.disabled = not offered

    def export(self, kind: str, folder: Path | None = None) -> list[Path]:
        """Write files of a kind; returns the paths. Raises InputError."""
        folder = folder or self.folder
        if kind in PICTURES:
            return self.save_bar.save(kind)
        if kind not in (RACE, FILM):
            return export_race(kind, self._listed, folder)
        make_folder(folder)
        name = slug(f"race {race_name(self._listed, self._measure())}")
        if kind == RACE:
            return [save_race(self._record(), folder / f"{name}{ENDING}")]
        with PAINTING:
            return [write(folder / f"{name}.gif", growing(self.scene()))]

    def link(self) -> tuple[str, str]:
        """The link of the race and a sentence on it. A text that begins with ? follows the address of the page. Raises
        InputError."""
        text = to_link(self._record())
        said = f"A link to this race as it ended: {count(len(text))} characters, at most {POINTS} points a curve."
        query = query_of_race(text) if in_voila() else None
        return query or text, said

    def open(self, name: str, content: bytes) -> None:
        """Show the race of a file. Raises InputError for any other file."""
        if not name.endswith(ENDING):
            raise InputError(f"{name[:60]!r} is no saved race; choose a {ENDING} file")
        if len(content) > MOST_BYTES:
            raise InputError(f"{name[:60]!r} has {len(content) >> 20} MB, a saved race at most {MOST_BYTES >> 20} MB")
        self._take(read_race(content, name[:60]))

    def close(self) -> None:
        """Open nothing more."""
        self._opener.close()

    @property
    def _listed(self) -> list[ListedRun]:
        """The runs of the entries that have begun."""
        return list(self._entries.listed.values())

    def _exporting(self, kind: str) -> Callable[[], None]:
        def name() -> str:
            return f"race {race_name(self._listed, kind)}"

        def press() -> None:
            if kind == FILM:
                self.status.say("drawing the film", "busy")
            self.save_bar.saver.save(lambda folder: self.export(kind, folder), name, "the export")

        return press

    def _press_link(self) -> None:
        try:
            text, said = self.link()
            self.status.offer(said, text)
        except InputError as error:
            self.status.say(str(error), "bad")

    def _uploaded(self, change: Mapping[str, Any]) -> None:
        for file in change["new"]:
            name, content = str(file["name"]), bytes(file["content"])
            self._opener.ask(lambda name=name, content=content: self._open(name, content))

    def _open(self, name: str, content: bytes) -> None:
        try:
            self.open(name, content)
            self.status.say(f"Opened {name[:60]}.", "good")
        # Nothing else would report it to the user.
        except Exception as error:
            self.status.say(error_message(error, "opening the race"), "bad")
