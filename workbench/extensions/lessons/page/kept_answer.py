"""The browser's copy of an answer: each load of a served lesson starts a kernel that knows nothing."""

from __future__ import annotations

from collections.abc import Callable

import traitlets

from workbench.extensions.lessons.progress import MOST_TRIES
from workbench.live.ui.assets import script
from workbench.live.ui.view import LiveWidget

LONGEST = 10_000
"""Characters of an answer that is kept."""
DAYS = 14


class KeptAnswer(LiveWidget):
    """An answer in the storage of the browser, for `DAYS` days; the server keeps nothing.

    name: of the exercise there. restore: called with the answer that was kept, true if it had been checked, the number
    of tries, and true if one was right.
    """

    _script = script("lessons/keptanswer.js")
    name = traitlets.Unicode().tag(sync=True)
    days = traitlets.Int(DAYS).tag(sync=True)
    answer = traitlets.Unicode().tag(sync=True)
    checked = traitlets.Bool(False).tag(sync=True)
    tries = traitlets.Int(0).tag(sync=True)
    solved = traitlets.Bool(False).tag(sync=True)

    def __init__(self, name: str, restore: Callable[[str, bool, int, bool], object]) -> None:
        super().__init__(name=name)
        self._restore = restore
        self.on_msg(self._receive)

    def keep(self, answer: object, *, checked: bool, tries: int = 0, solved: bool = False) -> None:
        """Keep an answer. checked: it has a verdict, which is computed again when it comes back."""
        if isinstance(answer, str) and len(answer) <= LONGEST:
            with self.hold_sync():
                self.answer, self.checked, self.tries, self.solved = answer, checked, tries, solved

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        if isinstance(content, dict) and content.get("kind") == "kept" and not self.answer:
            answer = content.get("answer")
            if isinstance(answer, str) and len(answer) <= LONGEST:
                checked, tries = content.get("checked") is True, content.get("tries")
                # An answer that was kept before tries were counted has none.
                counted = tries if type(tries) is int and 0 <= tries <= MOST_TRIES else int(checked)
                self._restore(answer, checked, counted, content.get("solved") is True and counted > 0)
