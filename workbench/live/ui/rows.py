"""Widgets side by side."""

from __future__ import annotations

import ipywidgets as widgets


def row(name: str, *children: widgets.Widget) -> widgets.HBox:
    """A row that the style sheet knows by this name."""
    return widgets.HBox(children).add_class(name)
