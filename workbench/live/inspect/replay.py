"""A saved run to look at, without the device and the machine that it was made on."""

from __future__ import annotations

import functools
import html
import json
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.data_files import path_of
from workbench.errors import InputError, error_message
from workbench.live.plots.convergence import ConvergenceView
from workbench.live.plots.roofline import RooflineView
from workbench.live.plots.spectrum import SpectrumView
from workbench.live.plots.timeline import TimelineView
from workbench.live.transport.closing import close_all
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button
from workbench.live.ui.run_handle import RunHandle
from workbench.live.ui.run_list import FILE, RunList
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.number_text import count
from workbench.recording import Record, load
from workbench.registry import unknown_name

NO_TRACE = "This run was saved without a trace. Run it again with “trace” ticked, and save that run."
HINT = "Type the path of a run file, or upload one. “Save” under Runs writes them."
PATH_STYLE = {"description_width": "initial"}


class Replay(View):
    """A run file in all views: convergence, timeline, spectrum, roofline, and how it was made.

    source: a path, a record, or nothing yet: a file is then opened or uploaded in the page. folder: where figures go,
    by default exports/ next to the notebook. `record` is what is shown. runs: the list that opened runs are added to.
    Raises InputError for a file that is no run.
    """

    def __init__(
        self, source: str | Path | Record | None = None, folder: str | Path | None = None, runs: RunList | None = None
    ) -> None:
        self._runs = runs
        self.record: Record | None = None
        self.path = widgets.Text(
            description="Open a saved run", placeholder="path of a .run.npz file", continuous_update=False,
            style=PATH_STYLE, layout={"flex": "1 1 320px", "max_width": "560px"},
        )  # fmt: skip
        self.path.observe(lambda change: change["new"] and self._open(), "value")
        self.upload = widgets.FileUpload(accept=".npz", description="Upload a file", icon="", layout={"width": "140px"})
        self.upload.tooltip = "a .run.npz file from this computer"
        self.upload.observe(self._uploaded, "value")
        self.status = StatusLine()
        self.tabs = widgets.Tab(layout={"display": "none"})
        self._folder = folder
        self._opener = LatestOnly("workbench-open")
        press = button("Open", "show the run in this file", self._open, style="primary")
        row = widgets.HBox([self.path, press, self.upload]).add_class("wb-buttons")
        self.box = widgets.VBox([row, self.status, self.tabs]).add_class("wb-explorer").add_class("wb-replay")
        self.tabs.observe(self._turned, "selected_index")
        self._makers: dict[str, Callable[[], list[widgets.Widget]]] = {}
        self._publisher = Publisher()
        self._parts: tuple[widgets.Widget, ...] = ()
        """What is made at once, but put into its tab when that is first turned to."""
        self._lock = threading.Lock()
        self.status.say(HINT)
        if isinstance(source, Record):
            self.show(source)
        elif source is not None:
            self.open(source)

    def open(self, path: str | Path) -> Record:
        """Show the run in a file.

        Raises InputError when it is missing, damaged, or no run; what was shown before then stays.
        """
        record = load(path_of(path))
        self.show(record)
        return record

    def show(self, record: Record) -> None:
        """Show a record. A view is made when its tab is first turned to, since some compute or measure."""
        publisher = Publisher()
        shown = (*self.tabs.children, *self._parts)
        try:
            said, makers = reported(record), self._views(record, publisher)
        except BaseException:
            publisher.close()
            raise
        if self._runs is not None:
            self._runs.add(record, FILE)
        # From here on nothing of the run before is needed.
        before, self._publisher = self._publisher, publisher
        self.record, self._makers = record, makers
        self.tabs.children = [widgets.VBox() for _ in self._makers]
        self.tabs.titles = tuple(self._makers)
        self.tabs.selected_index = 0
        self.tabs.layout.display = None
        self.view("Convergence")
        self.status.say(said, "good")
        before.close()
        for part in shown:
            close_all(part)

    def view(self, name: str) -> widgets.VBox:
        """What stands in the tab of that name, made now if it has not been. Raises InputError for an unknown name."""
        if name not in self._makers:
            raise InputError(unknown_name("view", name, self._makers))
        place = self.tabs.children[list(self._makers).index(name)]
        with self._lock:
            if not place.children:
                place.children = self._makers[name]()
        return place

    def close(self) -> None:
        """Take everything off the page."""
        self._opener.close()
        self._publisher.close()
        super().close()

    def _views(self, record: Record, publisher: Publisher) -> dict[str, Callable[[], list[widgets.Widget]]]:
        """What makes the content of each tab."""
        run = RunHandle(record)
        convergence, timeline = ConvergenceView(publisher=publisher), TimelineView(hint=NO_TRACE, publisher=publisher)
        convergence.add(record)
        timeline.show(record, run.title)
        self.save_bar = SaveBar(
            lambda: {"convergence": convergence.scene(), **timeline.scenes()},
            provenance=lambda: record.provenance,
            about=lambda: run.file_title,
            folder=self._folder,
        )
        self._parts = convergence, timeline, self.save_bar.box
        return {
            "Convergence": lambda: [convergence, self.save_bar.box],
            "Timeline": lambda: [timeline],
            "Spectrum": lambda: self._saving(SpectrumView, record, publisher),
            "Roofline": lambda: self._saving(functools.partial(RooflineView, hint=NO_TRACE), record, publisher),
            "How it was made": lambda: [widgets.HTML(origin(record))],
        }

    def _saving(self, kind: Callable[..., Any], record: Record, publisher: Publisher) -> list[widgets.Widget]:
        """A view that saves into the folder, or why there is none."""
        try:
            return [kind(record, publisher=publisher, folder=self._folder).box]
        except InputError as reason:
            return [widgets.HTML(html.escape(str(reason)))]

    def _turned(self, change: Any) -> None:
        if self._makers and change["new"] is not None:
            name = list(self._makers)[change["new"]]
            self._opener.ask(lambda: self.view(name) and None)

    def _open(self) -> None:
        path = self.path.value.strip()
        if path:
            self._try(lambda: self.open(path))
        else:
            self.status.say(HINT)

    def _uploaded(self, change: Any) -> None:
        for file in change["new"]:
            self._try(lambda name=str(file["name"]), content=bytes(file["content"]): self.show(_loaded(name, content)))

    def _try(self, act: Any) -> None:
        """In a thread of its own, because reading and drawing take longer than a callback should."""

        def attempt() -> None:
            try:
                act()
            # No one else would report it to the user.
            except Exception as error:
                self.status.say(error_message(error, "opening the run"), "bad")

        self.status.say("opening", "busy")
        self._opener.ask(attempt)


def open_run(path: str | Path, folder: str | Path | None = None) -> Replay:
    """A saved run in all views. Raises InputError when the file is missing, damaged, or no run."""
    return Replay(path, folder)


def reported(record: Record) -> str:
    """A run in a line: what it was, how it ended, on which machine and when."""
    summary, made = record.summary, record.provenance
    parts = [f"{RunHandle(record).title}: {summary['reason']}", f"{count(summary['iterations'])} iterations"]
    machine = made.get("machine", {}).get("cpu", "")
    parts += [f"made on {machine}, device {summary['device']}" if machine else f"device {summary['device']}"]
    return "; ".join([*parts, *([_when(made["started"])] if "started" in made else [])])


def _loaded(name: str, content: bytes) -> Record:
    """A run from the bytes of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload.npz"
        path.write_bytes(content)
        try:
            return load(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), name)) from None


def _when(started: str) -> str:
    """A time as it is read: 2026-01-31 12:34:56 UTC."""
    return started.replace("T", " ").replace("+00:00", " UTC")


def origin(record: Record) -> str:
    """The provenance as text."""
    return f'<pre class="wb-origin">{html.escape(json.dumps(record.provenance, indent=2))}</pre>'
