"""The verdict on the methods of a flow, with a button that copies it, and the reason."""

from __future__ import annotations

import html

import ipywidgets as widgets

from workbench.extensions.flow.pace import verdict
from workbench.live.ui.status import StatusLine
from workbench.live.ui.words import shown
from workbench.sequences.sequence import Sequence


class VerdictLine:
    """A sentence and its reason. Display `box`, which is hidden while there is no verdict."""

    def __init__(self) -> None:
        self.status, self.why = StatusLine(), widgets.HTML()
        self.box = widgets.VBox([self.status, self.why]).add_class("wb-flowverdict")
        self.box.layout.display = "none"

    def show(self, sequence: Sequence) -> None:
        """Say which method of a sequence is the fastest per step so far."""
        found = verdict(sequence)
        self.box.layout.display = None if found.sentence else "none"
        self.status.say(found.sentence, found.tone, quote=found.quote)
        self.why.value = f'<p class="wb-note">{html.escape(shown(found.why))}</p>' if found.why else ""
