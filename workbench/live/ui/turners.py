"""Sliders and menus in groups, next to the view that follows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets

STYLE = {"description_width": "190px"}


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
