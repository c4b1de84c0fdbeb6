"""A saved run in the views, without the device and the machine that it was made on."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.files import TemporaryFolder
from workbench.files.data_files import path_of
from workbench.live.inspect.inside import InsideView
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, row
from workbench.live.ui.field_form import FieldForm
from workbench.live.ui.form_fields import UploadField
from workbench.live.ui.run_handle import RunHandle
from workbench.live.ui.run_list import FILE, RunList
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.records import Record, load
from workbench.registry import Parameter
from workbench.words.numbers import counted

NO_TRACE = "This run was saved without a trace. Run it again with “trace” ticked, and save that run."
HINT = "The button “Run files” in Solve and Race writes such files. They open on any machine; nothing is run."
UPLOAD = "upload"
MOST_UPLOAD = 10 << 20
"""Bytes of a file that the page sends."""
PATH_STYLE = {"description_width": "initial"}


class Replay(View):
    """A run file in all views of `InsideView`, and how it was made.

    source: a path, a record, or nothing yet: a file is then opened or uploaded in the page. folder: where figures go,
    by default exports/ next to the notebook. `record` is the run that is shown. runs: the list that opened runs are
    added to. Raises InputError for a file that is no run.

    Examples:
        >>> from workbench.live import Replay
        >>> from workbench.run import Run, configure, run_through
        >>> view = Replay(run_through(Run(configure("two-layer", n=16))).record())
        >>> view.record.label
        'CG, Jacobi'
        >>> view.close()
    """

    names_problem = False

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
        files = {"kind": "file", "label": "A file of this computer", "accept": ".npz", "most": MOST_UPLOAD}
        self.upload = UploadField(Parameter(UPLOAD, str, "", ""), **files)
        self.form = FieldForm({UPLOAD: self.upload}, title="", about="Run file", typed=lambda _name: self._uploaded())
        self.form.show()
        self.status = StatusLine()
        self._opener = LatestOnly("workbench-open")
        press = button("Open", "show the run in this file", self._open, style="primary")
        self.inside = InsideView(folder=folder, hint=NO_TRACE)
        self.save_bar = SaveBar(
            lambda: {"convergence": self.inside.convergence.scene(), **self.inside.timeline.scenes()},
            provenance=lambda: self.record.provenance if self.record else {},
            about=lambda: RunHandle(self.record).file_title if self.record else "",
            folder=folder,
        )
        self._origin = widgets.HTML()
        made = widgets.Accordion([self._origin], titles=["How it was made"], selected_index=None)
        self._shown = widgets.VBox([self.save_bar.box, self.inside.box, made], layout={"display": "none"})
        opening = row("wb-buttons", self.path, press)
        self.box = (
            widgets.VBox([opening, self.form.box, self.status, self._shown])
            .add_class("wb-explorer")
            .add_class("wb-replay")
        )
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
        """Show a record."""
        said = reported(record)
        self.inside.follow(record)
        if self._runs is not None:
            self._runs.add(record, FILE)
        self.record = record
        self._origin.value = origin(record)
        self._shown.layout.display = None
        self.status.say(said, "good")

    def close(self) -> None:
        """Take everything off the page."""
        self._opener.close()
        self.inside.close()
        super().close()

    def _open(self) -> None:
        path = self.path.value.strip()
        if path:
            self._try(lambda: self.open(path))
        else:
            self.status.say(HINT)

    def _uploaded(self) -> None:
        name, content, size = str(self.upload.value)[:60], self.upload.content, self.upload.size

        def show() -> None:
            if size > MOST_UPLOAD:
                raise InputError(
                    f"{name!r} has {size / 2**20:.1f} MiB, uploads may have {MOST_UPLOAD >> 20} MiB; put it where this "
                    "page is computed and give its path"
                )
            self.show(_loaded(name, content))

        self._try(show)
        self.form.show()

    def _try(self, act: Callable[[], object]) -> None:
        """Run `act` in a thread of its own, because reading and drawing take longer than a callback should."""

        def attempt() -> None:
            try:
                act()
            # No one else would report it to the user.
            except Exception as error:
                self.status.say(error_message(error, "opening the run"), "bad")

        self.status.say("opening", "busy")
        self._opener.ask(attempt)


def open_run(path: str | Path, folder: str | Path | None = None) -> Replay:
    """A saved run in all views. Raises InputError when the file is missing, damaged, or no run.

    Examples:
        >>> from workbench.live import open_run
        >>> from workbench.records import save
        >>> from workbench.run import Run, configure, run_through
        >>> view = open_run(save(run_through(Run(configure("two-layer", n=16))).record(), "layers.run.npz"))
        >>> view.close()
    """
    return Replay(path, folder)


def reported(record: Record) -> str:
    """A run in a line: what it was, how it ended, on which machine and when."""
    summary, made = record.summary, record.provenance
    parts = [f"{RunHandle(record).title}: {summary['reason']}", counted(summary["iterations"], "iteration")]
    machine = made.get("machine", {}).get("cpu", "")
    parts += [f"made on {machine}, device {summary['device']}" if machine else f"device {summary['device']}"]
    return "; ".join([*parts, *([_when(made["started"])] if "started" in made else [])])


def _loaded(name: str, content: bytes) -> Record:
    """A run from the bytes of a file."""
    with TemporaryFolder("files") as folder:
        path = folder / "upload.npz"
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
