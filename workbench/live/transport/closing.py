"""Taking widgets off the page for good. ipywidgets keeps every widget in a registry until that very widget is closed,
so a box that is closed alone would leave its buttons, layouts and styles, and all that they refer to."""

from __future__ import annotations

from collections.abc import Mapping

import ipywidgets as widgets


def close_all(held: object) -> None:
    """Close a widget with all that it holds, or all widgets of a collection; closed ones are left alone."""
    if isinstance(held, widgets.Widget):
        if held.comm is not None:
            close_all([getattr(held, part, None) for part in ("children", "layout", "style")])
            held.close()
    elif isinstance(held, Mapping):
        close_all(list(held.values()))
    elif isinstance(held, (list, tuple, set)):
        for part in held:
            close_all(part)
