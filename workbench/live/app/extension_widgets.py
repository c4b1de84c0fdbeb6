"""Widgets of extensions, which `workbench.live` offers next to its own; each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.registry.extensions import Extension, extensions, ours

Group = Callable[[], dict[str, Extension]]


def names(group: Group = extensions) -> list[str]:
    """The names of the widgets of all extensions, or of a group of them."""
    return sorted({name for extension in group().values() for name in extension.widgets})


def widget(name: str) -> Any:
    """A widget by name, of ours first. Raises AttributeError where no extension has it, InputError where importing it
    fails."""
    # Python asks modules for many names with underscores, which are no widgets.
    groups: tuple[Group, ...] = () if name.startswith("_") else (ours, extensions)
    for group in groups:
        for extension in group().values():
            if name in extension.widgets:
                return extension.resolved(f"{extension.widgets[name]}:{name}")
    raise AttributeError(f"module 'workbench.live' has no attribute {name!r}")
