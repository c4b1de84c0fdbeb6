"""The action of every button that saves: the browser downloads the files, or they go into a folder of the kernel's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import ipywidgets as widgets

from workbench.errors import error_message
from workbench.live.ui.download import Download
from workbench.live.ui.file_names import slug
from workbench.live.ui.files import Write, as_one, written
from workbench.live.ui.frontend import in_voila
from workbench.live.ui.status import StatusLine

DOWNLOAD, FOLDER = "download", "folder"


class Saver:
    """Display `box`: in a notebook a menu says whether files are downloaded or written into the folder.

    On a page without code files are downloaded, so that none is left on the server. folder: by default
    exports/ next to the notebook. status: the line that says what was saved.
    """

    def __init__(self, status: StatusLine, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.status = status
        self.download = Download()
        # A visitor may still choose, by a message of its own, an item that a page hides.
        into = {} if in_voila() else {f"into {self.folder.name}/": FOLDER}
        self.where = widgets.Dropdown(options={"download": DOWNLOAD, **into}, layout={"width": "132px"})
        self.where.tooltip = f"where files go: to your browser's downloads, or into {self.folder} of the kernel's disk"
        if in_voila():
            self.where.layout.display = "none"
        self.box = widgets.HBox([self.where, self.download]).add_class("wb-buttons")

    def save(
        self, write: Write, stem: Callable[[], str], doing: str, after: Callable[[], object] = lambda: None
    ) -> None:
        """Save what `write` writes into a folder, which it makes where there is none.

        Done in a thread of its own, since drawing takes longer than a callback should.

        stem: the name of the archive where there are several files. doing: what failed, in the sentence for an error
        that was not foreseen. after: called at the end, however it went.
        """

        def act() -> None:
            try:
                self._save(write, stem)
            # No one else would report it to the user.
            except Exception as error:
                self.status.say(error_message(error, doing), "bad")
            finally:
                after()

        threading.Thread(target=act, name="workbench-save", daemon=True).start()

    def _save(self, write: Write, stem: Callable[[], str]) -> None:
        if self.where.value == FOLDER:
            names = ", ".join(path.name for path in write(self.folder))
            self.status.say(f"written to {self.folder}: {names}", "good")
            return
        files = written(write)
        one = as_one(files, slug(stem()))
        inside = f" ({len(files)} files)" if len(files) > 1 else ""
        said = f"{one.name}{inside}"
        self.status.say(f"downloading {said}", "busy")
        self.download.offer(one, lambda: self.status.say(f"downloaded {said}", "good"))
