"""Taking widgets off the page for good. ipywidgets keeps every widget in a registry until that very widget is closed,
so a box that is closed alone would leave its buttons, layouts and styles, and all that they refer to."""

from __future__ import annotations

from collections.abc import Mapping

import ipywidgets as widgets


def close_all(target: object) -> None:
    """Close a widget with all that it contains, or all widgets of a collection; closed ones are left alone."""
    if isinstance(target, widgets.Widget):
        if target.comm is not None:
            close_all([getattr(target, part, None) for part in ("children", "layout", "style")])
            target.close()
    elif isinstance(target, Mapping):
        close_all(list(target.values()))
    elif isinstance(target, (list, tuple, set)):
        for part in target:
            close_all(part)
