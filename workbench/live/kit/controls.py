"""A button, and the states in which a run has ended."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from workbench.run import State

Act = Callable[[], object]
ENDED = (State.IDLE, State.DONE, State.FAILED)


def button(text: str, tooltip: str, act: Act, *, style: str = "", width: str = "auto") -> widgets.Button:
    """A button with words on it, no icon that would have to be loaded from elsewhere."""
    made = widgets.Button(description=text, tooltip=tooltip, button_style=style, layout={"width": width, "margin": "0"})
    made.on_click(lambda _button: act())
    return made
