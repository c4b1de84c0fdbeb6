"""The bar that hands a problem on: copied as Python, as a command or as a link, saved, and opened again."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.data_files import path_of
from workbench.errors import InputError, sentence_of
from workbench.live._assets import module, style_sheet
from workbench.live._worker import LatestOnly
from workbench.live.export import make_folder, slug
from workbench.run import Configuration
from workbench.run.sharing import from_link, load_configuration, save_configuration, to_command, to_link, to_python
from workbench.run.shorthand import ENDING, LINK, is_shared

COPIES: dict[str, tuple[str, str, Callable[[Configuration], str]]] = {
    "python": ("Copy as Python", "the Python lines that make this configuration", to_python),
    "command": ("Copy as command", "the workbench solve command that runs it", to_command),
    "link": ("Copy link text", "a short text that holds all of it, to paste here or anywhere else", to_link),
}
NAMES = {"python": "the Python text", "command": "the command", "link": "the link text"}
SAVE = ("save", "Save problem", f"write it as a {ENDING} file")


class ShareBar(anywidget.AnyWidget):
    """Buttons and a line over some form.

    get: returns the form's configuration, or raises InputError. load: shows one in the form; it is called in a thread
    of the bar's own. folder: where problems are saved and looked for, by default exports/ beside the notebook.
    """

    _esm = module("share.js")
    _css = style_sheet()

    actions = traitlets.List().tag(sync=True)
    text = traitlets.Unicode("").tag(sync=True)
    """What was copied last."""
    said = traitlets.Unicode("").tag(sync=True)
    tone = traitlets.Enum(("plain", "good", "bad"), "plain").tag(sync=True)
    number = traitlets.Int(0).tag(sync=True)
    """Of answers so far: the page copies the text when it rises."""

    def __init__(
        self,
        get: Callable[[], Configuration],
        load: Callable[[Configuration], None],
        folder: str | Path | None = None,
    ) -> None:
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self._get, self._load = get, load
        self._worker = LatestOnly("workbench-share")
        super().__init__(actions=[*([what, *words[:2]] for what, words in COPIES.items()), list(SAVE)])
        self.on_msg(self._receive)

    def written(self, what: str) -> str:
        """The text of "python", "command" or "link". Raises InputError as the form does."""
        return COPIES[what][2](self._get())

    def save_problem(self) -> Path:
        """Write the configuration under a name of its own; returns the path. Raises InputError."""
        chosen = self._get()
        make_folder(self.folder)
        stem = slug(f"{chosen.problem.label} {chosen.label}")
        endings = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
        paths = (self.folder / f"{stem}{ending}{ENDING}" for ending in endings)
        return save_configuration(chosen, next(path for path in paths if not path.exists()))

    def take(self, text: str) -> Configuration:
        """Load a link or a saved file, found as it stands or in the folder. Raises InputError for any other text."""
        text = text.strip()
        if not text:
            raise InputError(f"there is nothing to open; paste a link, or write the name of a {ENDING} file")
        if not is_shared(text):
            raise InputError(
                f"{text[:40]!r} is neither a link, which begins with cgw1., nor the name of a {ENDING} file"
            )
        if LINK.match(text):
            chosen = from_link(text)
        else:
            path = path_of(text)
            chosen = load_configuration(path if path.exists() or path.is_absolute() else self.folder / path)
        self._load(chosen)
        return chosen

    def _receive(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict):
            self._worker.ask(lambda: self._answer(str(content.get("kind")), str(content.get("text", ""))))

    def _answer(self, kind: str, given: str) -> None:
        text, tone = "", "good"
        try:
            if kind in COPIES:
                text = self.written(kind)
                said = f"Copied {NAMES[kind]}, {len(text.strip()):,} characters."
            elif kind == SAVE[0]:
                said = f"Written to {self.save_problem()}"
            else:
                chosen = self.take(given)
                said = f"Opened {chosen.problem.label} with {chosen.label or 'plain CG'}."
        # Nobody else would tell the user.
        except Exception as error:
            said, tone = sentence_of(error, "sharing"), "bad"
        with self.hold_sync():
            self.text, self.said, self.tone = text, said, tone
            self.number += 1
