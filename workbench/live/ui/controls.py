"""Buttons, sliders and menus, and how they stand: in rows, and in groups below a heading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

Act = Callable[[], object]
STYLE = {"description_width": "190px"}


def button(text: str, tooltip: str, act: Act, *, style: str = "", width: str = "auto") -> widgets.Button:
    """A button with words on it and no icon, which would have to be loaded from elsewhere."""
    made = widgets.Button(description=text, tooltip=tooltip, button_style=style, layout={"width": width, "margin": "0"})
    made.on_click(lambda _button: act())
    return made


def row(name: str, *children: widgets.Widget) -> widgets.HBox:
    """A row that the style sheet knows by this name."""
    return widgets.HBox(children).add_class(name)


def slider(title: str, options: Sequence[tuple[str, Any]], **traits: Any) -> widgets.SelectionSlider:
    """A slider over words and values. It stands on one of a list, so that the page need not round, which it would
    report as a turn."""
    return widgets.SelectionSlider(
        options=list(options), description=title, style=STYLE, layout={"width": "100%"}, **traits
    )


def menu(title: str, options: Sequence[tuple[str, Any]], **traits: Any) -> widgets.Dropdown:
    """A menu of words and values."""
    return widgets.Dropdown(options=list(options), description=title, style=STYLE, **traits)


def group(title: str, *controls: widgets.Widget) -> widgets.VBox:
    """Controls below a heading."""
    return widgets.VBox([widgets.HTML(f"<h3>{title}</h3>"), *controls]).add_class("wb-turngroup")
