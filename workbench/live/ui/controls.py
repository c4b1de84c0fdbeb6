"""Buttons, sliders and menus, and how they stand: in rows, and in groups below a heading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import ipywidgets as widgets

Act = Callable[[], object]
Box = TypeVar("Box", bound=widgets.Box)
STYLE = {"description_width": "190px"}


def button(text: str, tooltip: str, act: Act, *, style: str = "", width: str = "auto") -> widgets.Button:
    """A button with words on it and no icon, which would have to be loaded from elsewhere."""
    made = widgets.Button(description=text, tooltip=tooltip, button_style=style, layout={"width": width, "margin": "0"})
    made.on_click(lambda _button: act())
    return made


def row(names: str, *children: widgets.Widget) -> widgets.HBox:
    """A row that the style sheet knows by these names, with spaces between; without one by none."""
    return _named(widgets.HBox(children), names)


def column(names: str, *children: widgets.Widget) -> widgets.VBox:
    """Widgets one below the other, in a box with names as that of a row."""
    return _named(widgets.VBox(children), names)


def folds(*folded: tuple[str, widgets.Widget], shown: int | None = None) -> widgets.Accordion:
    """Widgets that unfold below their titles, one at a time. shown: the place of the one that is unfolded at first."""
    titles, children = zip(*folded, strict=True)
    return widgets.Accordion(children, titles=titles, selected_index=shown)


def markup(text: str = "") -> widgets.HTML:
    """Words with marks of HTML; the caller has escaped what others wrote."""
    return widgets.HTML(text)


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
    return column("wb-turngroup", markup(f"<h3>{title}</h3>"), *controls)


def _named(box: Box, names: str) -> Box:
    for name in names.split():
        box.add_class(name)
    return box
