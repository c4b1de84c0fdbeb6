"""Pages of the reference: a module each, with what its `__all__` names."""

from __future__ import annotations

import importlib

from scripts.reference import MODULES
from scripts.site.places import put


def pages() -> list[str]:
    """Write them; returns their places."""
    found = []
    for name in MODULES:
        module = importlib.import_module(f"workbench.{name}")
        members = "\n".join(f"        - {each}" for each in module.__all__)
        options = f"    options:\n      show_docstring_description: true\n      members:\n{members}"
        place = f"reference/{name}.md"
        put(place, f"# workbench.{name}\n\n::: workbench.{name}\n{options}\n")
        found.append(place)
    return found
