"""A button."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

Act = Callable[[], object]


def button(text: str, tooltip: str, act: Act, *, style: str = "", width: str = "auto") -> widgets.Button:
    """A button with words on it and no icon, which would have to be loaded from elsewhere."""
    made = widgets.Button(description=text, tooltip=tooltip, button_style=style, layout={"width": width, "margin": "0"})
    made.on_click(lambda _button: act())
    return made
