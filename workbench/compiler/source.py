"""The texts of functions: of kernels, and of the helpers that they call."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import linecache
import textwrap
import types
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from workbench.compiler.constants import Named
from workbench.compiler.kinds import KernelError, Row

Made = TypeVar("Made", bound=Callable[..., object])
ROWS = ".rows"
"""The parameter of functions of rows for the number of rows; no name in a text begins with a point."""
OF_LLVM = frozenset(("afn", "arcp", "contract", "ninf", "nnan", "nsz", "reassoc"))
"""Licences for arithmetic that LLVM knows."""
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

    given = checked_licences(licences)

    def decorate(function: Made) -> Made:
        setattr(function, LICENCES, given)
        return function

    return decorate


def checked_licences(licences: tuple[str, ...]) -> tuple[str, ...]:
    """Licences of LLVM, sorted. Raises KernelError for another word."""
    for each in licences:
        if each not in OF_LLVM:
            raise KernelError(f"a kernel has the licence {each!r}, and LLVM knows {', '.join(sorted(OF_LLVM))}")
    return tuple(sorted(licences))


@functools.cache
def source_of(function: Callable[..., object]) -> Source:
    """The source of a Python function. Raises KernelError where it has none."""
    if hasattr(function, "__wrapped__"):
        raise KernelError(f"function {function.__name__} is wrapped by a decorator, which kernels cannot call")
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise KernelError(
            f"function {function.__name__} has no text, which kernels are read from; define it in a file"
        ) from None
    text = "".join(lines)
    tree = _function(text, first)
    if tree is None or tree.name != function.__name__:
        raise KernelError(
            f"function {function.__name__} is no longer where it was in its file, or is no `def`; load its module again"
        )
    file = inspect.getsourcefile(function) or function.__module__
    return Source(text, tree, _names(function), getattr(function, LICENCES, None), file)


@functools.cache
def source_of_row(row: Row) -> Source:
    """The source of a function of rows, without the defaults of its constants, which the row has."""
    source = source_of(row.function)
    tree = source.tree
    more = [ast.arg(ROWS)] if row.edge else []
    arguments = ast.arguments([], [*tree.args.args, *more], None, tree.args.kwonlyargs, [], None, [])
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    body = tree.body
    if row.expression:
        value = ast.parse(row.expression, mode="eval").body
        ast.increment_lineno(value, tree.lineno - value.lineno)
        body = list[ast.stmt]([ast.copy_location(ast.Return(value), tree)])
    elif not row.returns and isinstance(body[-1], ast.Return):
        body = body[:-1]
    return source._replace(tree=ast.copy_location(ast.FunctionDef(tree.name, arguments, body, []), tree))


def function_of_text(text: str, names: Mapping[str, object]) -> types.FunctionType:
    """The only function that a text of Python defines, which is made while the program runs. names: what it may name.

    Nothing of the text is executed. Its lines are kept where Python looks for those of files. Equal texts are to be one
    function: kernels are found by the functions among their constants.
    """
    file = f"<{hashlib.sha256(text.encode()).hexdigest()[:24]}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    code = next(part for part in compile(text, file, "exec").co_consts if isinstance(part, types.CodeType))
    return types.FunctionType(code, {"__name__": file} | dict(names))


def source_of_text(text: str, name: str, names: Mapping[str, object], licences: tuple[str, ...]) -> Source:
    """The source of a kernel that has been printed as Python text. name: what it is called in messages."""
    tree = _function(text, 1)
    assert tree is not None
    return Source(text, tree, names, licences, name)


def _names(function: Callable[..., object]) -> Mapping[str, object]:
    """The names that a function reads: variables of functions around it, and the globals of its module."""
    assert isinstance(function, types.FunctionType)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = {name: cell.cell_contents for name, cell in cells}
    return ChainMap(found, function.__globals__) if found else function.__globals__


def _function(text: str, line: int) -> ast.FunctionDef | None:
    """The function that a text defines; None if it defines none."""
    try:
        body = ast.parse(textwrap.dedent(text)).body
    except SyntaxError:
        return None
    tree = next((node for node in body if isinstance(node, ast.FunctionDef)), None)
    return None if tree is None else ast.increment_lineno(tree, line - 1)
