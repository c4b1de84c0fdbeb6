"""A form on the page: one widget that draws all fields from a schema, over one connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from workbench.live.ui.assets import script
from workbench.live.ui.view import LiveWidget

Receive = Callable[[dict[str, Any]], object]


class FormView(LiveWidget):
    """schema: the choices on offer, sent once; see `form_schema`. state: the present values, and their errors.

    state["values"] by name of the field; "options", "off", "hidden", "wrong", "notes" and "about" likewise where there
    are any; "reasons" by kind and name of the blocks that cannot be chosen. receive: called with each message of the
    page, such as {"kind": "set", "field": "problem.n", "value": "64"}; a file comes with its bytes as "content".
    """

    _script = script("ui/form.js")
    schema = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, schema: dict[str, Any], receive: Receive) -> None:
        super().__init__(schema=schema)
        self._take = receive
        self.on_msg(self._receive)

    def _receive(self, _widget: object, content: object, buffers: list[memoryview]) -> None:
        if isinstance(content, dict):
            self._take({**content, "content": bytes(buffers[0])} if buffers else content)
