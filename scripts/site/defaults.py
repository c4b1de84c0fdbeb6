"""What the reference says of a signature: the values of its defaults, in place of the names that hold them."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import griffe

PLAIN = (int, float, str, bool, type(None))


class Defaults(griffe.Extension):
    """Writes defaults as values where they are looked up, as in `STOPPING["rtol"].default`."""

    def on_function(self, *, func: griffe.Function, **_more: Any) -> None:
        """Of functions, and of classes, whose fields are parameters of `__init__`."""
        named = [each for each in func.parameters if isinstance(each.default, griffe.Expr)]
        if named and (values := _defaults(func)):
            for each in named:
                if isinstance(value := values.get(each.name, inspect.Parameter.empty), PLAIN):
                    each.default = repr(value)


def _defaults(func: griffe.Function) -> dict[str, Any]:
    try:
        owner = importlib.import_module(func.module.path)
        for name in func.path.removeprefix(f"{func.module.path}.").split("."):
            owner = getattr(owner, name)
        return {name: each.default for name, each in inspect.signature(owner).parameters.items()}
    except (AttributeError, ImportError, TypeError, ValueError):
        return {}
