"""Symbols in the text of a lesson that a picture marks while the pointer or the focus is on one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import traitlets

from workbench.live.ui.assets import script
from workbench.live.ui.view import LiveWidget


class Pointing(LiveWidget):
    """Part of the box of a picture; it shows nothing itself.

    Text on the page of the classes `wb-symbol` and `wb-symbol-KEY` is marked by the nearest picture that has this key
    (sources of lessons write [[KEY|text]]). symbols: the keys of the picture. mark: called with a key, or with "" once
    no symbol is pointed at.
    """

    _script = script("lessons/pointing.js")
    symbols = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, symbols: Iterable[str], mark: Callable[[str], object]) -> None:
        super().__init__(symbols=[*symbols])
        self._mark = mark
        self.on_msg(self._receive)

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        match content:
            case {"kind": "points", "key": str(key)} if not key or key in self.symbols:
                self._mark(key)
