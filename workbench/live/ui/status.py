"""The status line."""

from __future__ import annotations

import time
from typing import Any

import traitlets

from workbench.live.ui.assets import script
from workbench.live.ui.frontend import in_voila
from workbench.live.ui.view import LiveWidget
from workbench.live.ui.words import shown

PATIENCE = 30.0
"""Seconds that a sentence may go without an answer before the page counts as closed. The page answers every twelve,
because each answer costs JupyterLab more than showing the sentence."""


class StatusLine(LiveWidget):
    """One sentence. tone: plain, busy, good or bad, for the colour at it; state: the run's, in one word.

    The page answers what it shows. While it does not, progress is kept back, so that a kernel whose page was closed is
    silent and can be distinguished from one in use.
    """

    _script = script("ui/status.js")
    text = traitlets.Unicode("").tag(sync=True)
    tone = traitlets.Enum(("plain", "busy", "good", "bad"), "plain").tag(sync=True)
    state = traitlets.Unicode("idle").tag(sync=True)
    quote = traitlets.Unicode("").tag(sync=True)
    """The text that the button after the sentence copies; no button without a text."""
    advice = traitlets.Unicode().tag(sync=True)
    """Advice once the kernel is lost, which only the page can show then."""

    @traitlets.default("advice")
    def _advice(self) -> str:
        return "Reload the page to start again." if in_voila() else "Run the cell again."

    def __init__(self, **traits: Any) -> None:
        self._unread_since: float | None = None
        self._kept_back = ""
        super().__init__(**traits)
        self.on_msg(self._read)

    def say(self, text: str, tone: str = "plain", state: str = "idle", quote: str = "") -> None:
        """Set all four, the text as `words.shown` prints it; only what differs is sent."""
        text, now = shown(text), time.monotonic()
        unread = self._unread_since
        if tone == self.tone == "busy" and state == self.state and unread is not None and now - unread >= PATIENCE:
            self._kept_back = text
            return
        self._kept_back = ""
        if unread is None and (text, tone, state) != (self.text, self.tone, self.state):
            self._unread_since = now
        with self.hold_sync():
            self.text, self.tone, self.state, self.quote = text, tone, state, quote and shown(quote)

    def offer(self, text: str, quote: str) -> None:
        """Say a sentence with a button that copies another text, as it stands; one that begins with ? follows the
        address of the page."""
        self.say(text, "good")
        self.quote = quote

    def _read(self, _widget: object, _content: object, _buffers: object) -> None:
        self._unread_since = None
        if kept := self._kept_back:
            self.say(kept, self.tone, self.state)
