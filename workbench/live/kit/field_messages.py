"""Sentences below the fields of a form: what is wrong with a value, or why it was changed."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from threading import RLock
from typing import Any

import ipywidgets as widgets

WRONG = "wb-invalid"
"""The class of a control whose value cannot be used."""


class FieldMessages:
    """Puts a sentence below those children of a box that have one, and marks the wrong ones. Thread-safe."""

    def __init__(self, box: widgets.Box) -> None:
        self._box = box
        self._wrong: dict[Any, str] = {}
        self._notes: dict[Any, str] = {}
        self._lines: dict[Any, widgets.HTML] = {}
        self._changing = RLock()

    def wrong(self, found: Mapping[Any, str]) -> None:
        """What is wrong now, by control; fields that are not named here are right."""
        with self._changing:
            for control in [control for control in self._wrong if control not in found]:
                control.remove_class(WRONG)
            for control in [control for control in found if control not in self._wrong]:
                control.add_class(WRONG)
            self._wrong = dict(found)
            self._show()

    def note(self, control: Any, sentence: str) -> None:
        """A sentence on a value that is not wrong; empty for none."""
        with self._changing:
            self._notes = {other: text for other, text in self._notes.items() if other is not control}
            if sentence:
                self._notes[control] = sentence
            self._show()

    def _show(self) -> None:
        messages = {
            **{control: f'<span role="status">{escape(text)}</span>' for control, text in self._notes.items()},
            **{
                control: f'<span class="wb-wrong" role="alert">{escape(text)}</span>'
                for control, text in self._wrong.items()
            },
        }
        for control in [control for control in self._lines if control not in messages]:
            gone = self._lines.pop(control)
            self._box.children = tuple(child for child in self._box.children if child is not gone)
            gone.layout.close()
            gone.style.close()
            gone.close()
        for control, text in messages.items():
            if control in self._lines:
                self._lines[control].value = text
                continue
            line = self._lines[control] = widgets.HTML(text, layout={"margin": "0"})
            line.add_class("wb-hint").add_class("wb-fieldmessage")
            at = self._box.children.index(control) + 1
            self._box.children = (*self._box.children[:at], line, *self._box.children[at:])
