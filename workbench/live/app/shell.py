"""The frame of the page: rail, header, help, tour and keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from workbench.errors import InputError
from workbench.live.app import glossary
from workbench.live.ui.assets import script
from workbench.live.ui.view import LiveWidget

Act = Callable[[], object]


class Shell(LiveWidget):
    """views: entries of the rail, each {"key", "title", "parts": [{"key", "title"}]}. shown: the part in front, as
    "compare.race"; set by both sides. acts: what "undo" does, "tour" at the step that shows a run, "tour-look" at that
    which looks inside. link: returns the text of the share link, and a sentence on it; a text that begins with ?
    follows the address of the page."""

    _script = script("app/shell.js")
    views = traitlets.List().tag(sync=True)
    shown = traitlets.Unicode().tag(sync=True)
    problem = traitlets.Dict().tag(sync=True)
    """The present problem in words: {"name", "facts"}."""
    can_undo = traitlets.Bool(False).tag(sync=True)
    terms = traitlets.Dict().tag(sync=True)
    pages = traitlets.List().tag(sync=True)
    """Pages of documentation: [name, title]."""

    def __init__(self, acts: Mapping[str, Act], link: Callable[[], tuple[str, str]]) -> None:
        super().__init__(terms=glossary.terms(), pages=[list(page) for page in glossary.pages().items()])
        self._acts, self._link = dict(acts), link
        self.on_msg(self._receive)

    def _receive(self, _widget: object, content: Any, _buffers: object) -> None:
        kind = content.get("kind") if isinstance(content, dict) else None
        try:
            if kind in self._acts:
                self._acts[kind]()
            elif kind == "link":
                text, said = self._link()
                self.send({"kind": "link", "text": text, "said": said})
            elif kind == "docs":
                name = str(content.get("page"))
                self.send({"kind": "docs", "title": glossary.pages().get(name, name), "html": glossary.page(name)})
        except InputError as error:
            self.send({"kind": "said", "text": str(error)})
