"""Taking widgets off the page for good. ipywidgets keeps every widget in a registry until that very widget is closed,
so a box that is closed alone would leave its buttons, layouts and styles, and all that they refer to."""

from __future__ import annotations

import ipywidgets as widgets


def close_all(widget: widgets.Widget) -> None:
    """Close a widget with all that it holds."""
    for child in getattr(widget, "children", ()):
        close_all(child)
    for part in ("layout", "style"):
        held = getattr(widget, part, None)
        if isinstance(held, widgets.Widget):
            held.close()
    widget.close()
