"""The form of a kernel that each thread calls: the body of its parallel loop for some threads, the rest once.

    def kernel(taken, x, scalars, partial):
        scalars[1] = 1/scalars[0]
        n = x.size
        for thread in threads(taken):
            ...
        total(partial)

becomes

    def kernel(first_, count_, step_, state_):
        begin_, end_ = first_[0], first_[0] + count_[0]
        taken, x, scalars, partial = arguments_(state_)
        if begin_ < 0:
            scalars[1] = 1/scalars[0]
            return
        n = x.size
        for thread in range(begin_, end_):
            ...
        if last_(state_, end_ - begin_):
            total(partial)

Statements before the loop up to the last one that writes into an array run first, in a call with begin_ = -1. Those
between them and the loop run on every thread, and those after it on the thread that ends last.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from workbench.errors import InputError

LOOP, WRITER = "threads", "set_at"
ARGUMENTS, LAST = "arguments_", "last_"
"""Functions that the changed text calls."""
OWN = {ARGUMENTS, LAST, "first_", "count_", "step_", "state_", "begin_", "end_"}
"""Names that no kernel may use."""


class ByThreads(NamedTuple):
    """A module with the changed function, its name, and whether it has statements that run first."""

    module: ast.Module
    name: str
    first: bool

    @property
    def function(self) -> ast.FunctionDef:
        (function,) = self.module.body
        assert isinstance(function, ast.FunctionDef)
        return function


def by_threads(text: str, name: str) -> ByThreads:
    """The function `name` of a text in this form, without decorators; a function without the loop runs once.

    Line numbers are those of the text. Raises InputError where it uses a name of this form, or where a name that is set
    by the statements that run first is read by others.
    """
    function = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name)
    used = OWN & {part.id for part in ast.walk(function) if isinstance(part, ast.Name)}
    if used:
        raise InputError(f"kernel {name} uses {', '.join(sorted(used))}, names of what is put around it; choose others")
    place = next((place for place, node in enumerate(function.body) if _is_loop(node)), None)
    before, loop, after = function.body[:place], [], []
    if place is None:
        before, after = [], before
    else:
        loop, after = [function.body[place]], function.body[place + 1 :]
        loop[0].iter = ast.parse("range(begin_, end_)", mode="eval").body  # pyright: ignore[reportAttributeAccessIssue]
    writing = max((place + 1 for place, node in enumerate(before) if _writes(node)), default=0)
    first, before = before[:writing], before[writing:]
    lost = _names(first, ast.Store) & _names([*before, *loop, *after], ast.Load)
    lost -= _names([*before, *loop, *after], ast.Store)
    if lost:
        raise InputError(
            f"kernel {name} sets {', '.join(sorted(lost))} before it writes into an array and reads it in or after its "
            "parallel loop, which other threads run; set it after the last such statement"
        )
    names = "".join(f"{argument.arg}, " for argument in function.args.args)
    made = ast.parse(
        f"def {name}(first_, count_, step_, state_):\n"
        "    begin_, end_ = first_[0], first_[0] + count_[0]\n"
        f"    {names}= {ARGUMENTS}(state_)\n"
        "    if begin_ < 0:\n        return\n"
        f"    if {LAST}(state_, end_ - begin_):\n        pass\n"
    )
    frame = made.body[0]
    assert isinstance(frame, ast.FunctionDef)
    *head, start, end = frame.body
    assert isinstance(start, ast.If) and isinstance(end, ast.If)
    start.body = [*first, *start.body]
    end.body = [*end.body, *after]
    for node in ast.walk(made):
        if not hasattr(node, "lineno") or node in (frame, *head, start, end):
            ast.copy_location(node, function)
    frame.body = [*head, *([start] if first else []), *before, *loop, end]
    return ByThreads(ast.fix_missing_locations(made), name, bool(first))


def _is_loop(node: ast.stmt) -> bool:
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
        return False
    return isinstance(node.iter.func, ast.Name) and node.iter.func.id == LOOP


def _writes(node: ast.stmt) -> bool:
    def here(part: ast.AST) -> bool:
        if isinstance(part, ast.Call):
            return isinstance(part.func, ast.Name) and part.func.id == WRITER
        return isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)

    return any(map(here, ast.walk(node)))


def _names(nodes: Iterable[ast.stmt], kind: type[ast.expr_context]) -> set[str]:
    """The names that statements read (ast.Load) or assign (ast.Store)."""
    parts = (part for node in nodes for part in ast.walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, kind)}
