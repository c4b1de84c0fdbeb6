"""Widgets of extensions, which `workbench.live` offers next to its own; each is imported at its first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.registry.extensions import Extension, extensions, ours

Group = Callable[[], dict[str, Extension]]
"""A function that returns extensions by name: `ours`, or `extensions` for those of other distributions too."""


def names(group: Group = extensions) -> list[str]:
    """The names of the widgets of a group of extensions, sorted."""
    return sorted({name for extension in group().values() for name in extension.widgets})


def widget(name: str) -> Any:
    """The class or function of a widget by name; of two with one name that of our extensions.

    Raises AttributeError for a name that no extension has, InputError for a widget whose import fails.
    """
    # Python asks modules for many names with an underscore, which are no widgets. Ours come first, so that names of
    # theirs are found without the metadata of other distributions.
    groups: tuple[Group, ...] = () if name.startswith("_") else (ours, extensions)
    for group in groups:
        for extension in group().values():
            if name in extension.widgets:
                return extension.resolved(f"{extension.widgets[name]}:{name}")
    raise AttributeError(f"module 'workbench.live' has no attribute {name!r}")
