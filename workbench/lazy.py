"""Imports at first use: importing takes longer than a small solve, and most runs need only some of the modules."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy import linalg as linalg
    from scipy import sparse as sparse


def at_first_use(name: str) -> types.ModuleType:
    """The module of this name, imported at the first use of an attribute."""
    return _Module(name)


class _Module(types.ModuleType):
    """A module that is imported at the first use of an attribute."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if not TYPE_CHECKING:
    # SciPy's, which take 0.1 and 0.2 s to import: `from workbench.lazy import sparse`.
    linalg, sparse = map(_Module, ("scipy.linalg", "scipy.sparse"))


def exported(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: names that come from these modules of it, each imported when it is first used.

    For type checkers the package has the same imports under TYPE_CHECKING.
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
