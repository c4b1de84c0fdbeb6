"""The lines of a method, to be moved."""

from __future__ import annotations

import traitlets

from workbench.live.ui.assets import script
from workbench.live.ui.view import LiveWidget


class LineOrder(LiveWidget):
    """Lines that are moved by dragging or by two buttons each. value: the lines as they are; title: above them.

    notes: the text behind each line. marks: of each line "", "new", "moved", "gone" or "differs". Both are gone once a
    line is moved. fixed: nothing can be moved.
    """

    _script = script("lessons/lineorder.js")
    value = traitlets.Unicode("").tag(sync=True)
    title = traitlets.Unicode("").tag(sync=True)
    notes = traitlets.List(traitlets.Unicode()).tag(sync=True)
    marks = traitlets.List(traitlets.Unicode()).tag(sync=True)
    fixed = traitlets.Bool(False).tag(sync=True)
