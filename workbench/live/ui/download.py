"""A file that the kernel has made, saved by the requesting browser."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Callable
from typing import Any

import traitlets

from workbench.live.ui.assets import module
from workbench.live.ui.files import File
from workbench.live.ui.view import LiveWidget

IMPORTED = secrets.token_hex(8)
"""The name of this process, and of kernels that are forked from it."""
MOST_KEPT = 16
"""Files of which the page may still say that it has them."""


class Download(LiveWidget):
    """Put it anywhere on the page; it shows nothing. The bytes go over the widget's own connection, as a message.

    Of several pages on one kernel the one that was used last saves the file. Nothing is written where the kernel runs.
    """

    _esm = module("ui/download.js")

    kernel = traitlets.Unicode().tag(sync=True)
    """The name of this kernel alone: pages on one kernel agree by it which of them saves a file."""

    @traitlets.default("kernel")
    def _this_kernel(self) -> str:
        return f"{IMPORTED}-{os.getpid()}"

    def __init__(self, **traits: Any) -> None:
        self._numbers = itertools.count(1)
        self._taken: dict[int, Callable[[], object]] = {}
        super().__init__(layout={"display": "none"}, **traits)
        self.on_msg(self._receive)

    def offer(self, file: File, taken: Callable[[], object] = lambda: None) -> None:
        """Let the browser save a file. taken: called on a thread of the kernel's when the page has handed it on."""
        number = next(self._numbers)
        self._taken[number] = taken
        for old in list(self._taken)[:-MOST_KEPT]:
            del self._taken[old]
        self.send({"kind": "file", "number": number, "name": file.name}, [file.content])

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        if isinstance(content, dict) and content.get("kind") == "saved":
            taken = self._taken.pop(content.get("number", 0), None)
            if taken is not None:
                taken()
