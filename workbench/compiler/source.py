"""The texts of functions: of kernels, and of the helpers that they call."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from workbench.compiler.constants import Named
from workbench.compiler.kinds import KernelError

Made = TypeVar("Made", bound=Callable[..., object])
LICENCES = "workbench_licences"
"""The attribute of a helper that has its own licences."""


class Source(NamedTuple):
    """A function as it is read. names: what it reads from its module. licences: None of a helper with those of its
    caller. constants: values of its keyword-only parameters."""

    text: str
    tree: ast.FunctionDef
    names: Mapping[str, object]
    licences: tuple[str, ...] | None
    file: str
    constants: Named = ()


def helper(*licences: str) -> Callable[[Made], Made]:
    """Decorator of functions that kernels call: the licences of LLVM for their arithmetic, whoever calls them.

    A function without this decorator has those of its caller.
    """

    def decorate(function: Made) -> Made:
        setattr(function, LICENCES, tuple(sorted(licences)))
        return function

    return decorate


@functools.cache
def source_of(function: Callable[..., object]) -> Source:
    """The source of a Python function. Raises KernelError where it has none."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise KernelError(
            f"function {function.__name__} has no text, which kernels are read from; define it in a file"
        ) from None
    text = "".join(lines)
    file = inspect.getsourcefile(function) or function.__module__
    return Source(text, _function(text, first), function.__globals__, getattr(function, LICENCES, None), file)


def source_of_text(text: str, name: str, names: Mapping[str, object], licences: tuple[str, ...]) -> Source:
    """The source of a kernel that has been printed as Python text. name: what it is called in messages."""
    return Source(text, _function(text, 1), names, licences, name)


def _function(text: str, line: int) -> ast.FunctionDef:
    tree = next(node for node in ast.parse(textwrap.dedent(text)).body if isinstance(node, ast.FunctionDef))
    return ast.increment_lineno(tree, line - 1)
