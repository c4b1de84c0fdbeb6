"""The line that says what goes on."""

from __future__ import annotations

import anywidget
import traitlets

from workbench.live._assets import module, style_sheet


class StatusLine(anywidget.AnyWidget):
    """One sentence. tone: plain, busy, good or bad, for the colour beside it; state: the run's, in one word."""

    _esm = module("status.js")
    _css = style_sheet()

    text = traitlets.Unicode("").tag(sync=True)
    tone = traitlets.Enum(("plain", "busy", "good", "bad"), "plain").tag(sync=True)
    state = traitlets.Unicode("idle").tag(sync=True)

    def say(self, text: str, tone: str = "plain", state: str = "idle") -> None:
        """Set all three; only what differs is sent."""
        with self.hold_sync():
            self.text, self.tone, self.state = text, tone, state
