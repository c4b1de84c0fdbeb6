"""Statements, and the function of a kernel that they make."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from workbench.jit.front_end.expressions import NOTHING, Expressions
from workbench.jit.front_end.kinds import (
    INTEGER,
    UNSIGNED,
    WORD,
    Array,
    UnsupportedError,
    Value,
    parts_of,
    united,
)

_RETURNED = "returned"


class _AgainError(Exception):
    """A variable has another kind than was assumed so far."""


def worker(
    name: str,
    function: ast.FunctionDef,
    namespace: dict[str, Any],
    arguments: Any,
    read: Callable[[Any, Any, Any], list[Any]],
    options: dict[str, Any],
) -> ir.Module:
    """A module with a kernel in the form of `by_threads` as the function `name` of four pointers to words.

    arguments: the kind of the tuple of the kernel's arguments; read(builder, words, kind): its parts, from the words
    that the last pointer leads to. options: `fastmath` and `error_model` of numba. Raises UnsupportedError.
    """
    kinds: dict[str, Any] = {}
    while True:
        try:
            return _Statements(namespace, arguments, read, options, kinds).module(name, function)
        # The kinds found so far are kept, and only widen.
        except _AgainError:
            pass


class _Statements(Expressions):
    """kinds: of all variables, by name; variables of functions that are inlined have a number in front of it."""

    def __init__(self, namespace: Any, arguments: Any, read: Any, options: dict[str, Any], kinds: Any) -> None:
        self.namespace, self.arguments, self.read = namespace, arguments, read
        self._kinds: dict[str, Any] = kinds
        self._rooms: dict[str, list[Any]] = {}
        self._loops: list[tuple[Any, Any]] = []
        """Where `continue` and `break` lead."""
        self._inside, self._calls, self._end = "", 0, None
        self._outside: list[tuple[Any, ...]] = []
        """What holds outside a function that is inlined."""
        self._body: tuple[str, list[ast.stmt], Any] = "", [], None
        """Of a loop over a generator: the variable, the statements, and where `break` leads."""
        self._take(options)

    def _take(self, options: dict[str, Any]) -> None:
        self.flags = tuple(sorted(options.get("fastmath") or ()))
        self.raising = options.get("error_model", "python") == "python"

    def module(self, name: str, function: ast.FunctionDef) -> ir.Module:
        """See `worker`."""
        module, pointer = ir.Module(), WORD.as_pointer()
        self.made = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer] * 4), name)
        self.entry = ir.IRBuilder(self.made.append_basic_block("entry"))
        start = self.made.append_basic_block("start")
        self.builder = ir.IRBuilder(start)
        for argument, value in zip(function.args.args, self.made.args, strict=True):
            self._assign_name(argument.arg, Value(Array(INTEGER, 0), (value,)))
        self._block(function.body)
        if not self.builder.block.is_terminated:
            self.builder.ret_void()
        self.entry.branch(start)
        return module

    # Variables.

    def variable(self, name: str) -> Value | None:
        kind = self._kinds.get(self._inside + name)
        return None if kind is None else Value(kind, tuple(map(self.builder.load, self._places_of(name))))

    def _places_of(self, name: str) -> list[Any]:
        name = self._inside + name
        if name not in self._rooms:
            self._rooms[name] = [self.entry.alloca(part) for part in parts_of(self._kinds[name])]
        return self._rooms[name]

    def _assign_name(self, name: str, value: Value) -> None:
        known = self._kinds.setdefault(self._inside + name, value.kind)
        kind = united(known, value.kind)
        if kind != known:
            self._kinds[self._inside + name] = kind
            raise _AgainError
        for part, place in zip(self.converted(value, kind).parts, self._places_of(name), strict=True):
            self.builder.store(part, place)

    def inlined(self, function: Any, values: list[Value]) -> Value:
        self._enter(function, values)
        found = self.variable(_RETURNED) or NOTHING
        self._leave()
        return found

    def _enter(self, function: Any, values: list[Value]) -> None:
        """Write the statements of a function of numba here, and continue behind them."""
        node = _tree_of(function.py_func)
        self._calls += 1
        end = self._blocks("returned")[0]
        self._outside.append(self._scope())
        self._inside, self.namespace, self._end, self._loops = f"{self._calls}.", function.py_func.__globals__, end, []
        if function.targetoptions.get("inline", "never") == "never":
            self._take(function.targetoptions)
        for argument, value in zip(node.args.args, values, strict=True):
            self._assign_name(argument.arg, value)
        self._block(node.body)
        if not self.builder.block.is_terminated:
            self.builder.branch(end)
        self.builder.position_at_end(end)

    def _scope(self) -> tuple[Any, ...]:
        return self._inside, self.namespace, self.flags, self.raising, self._end, self._loops

    def _leave(self) -> None:
        self._inside, self.namespace, self.flags, self.raising, self._end, self._loops = self._outside.pop()

    # Statements.

    def _block(self, lines: list[ast.stmt]) -> None:
        for line in lines:
            # What follows `break`, `continue` or `return` is never reached.
            if not self.builder.block.is_terminated:
                self._statement(line)

    def _statement(self, line: ast.stmt) -> None:
        match line:
            case ast.Assign(targets=targets, value=node):
                value = self.value(node)
                for target in targets:
                    self._assign(target, value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=node):
                self._assign_name(name, self.operation(op, self.value(ast.Name(name)), self.value(node)))
            case ast.AugAssign(target=ast.Subscript(value=array, slice=place), op=op, value=node):
                found = self.subscript(self.value(array), place)
                self.store(found, self.operation(op, self.load(found), self.value(node)))
            case ast.If():
                self._if(line)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id=word), args=args), orelse=[]):
                self._for(name, word, [self.value(each) for each in args], line.body)
            case ast.While(test=test, body=body, orelse=[]):
                start, inside, end = self._blocks("while", "body", "end")
                self._go(start)
                self.branch(test, inside, end)
                self._loop(inside, body, start, end)
            case ast.Break():
                self.builder.branch(self._loops[-1][1])
            case ast.Continue():
                self.builder.branch(self._loops[-1][0])
            case ast.Return(value=node):
                self._return(node)
            case ast.Expr(value=ast.Yield(value=ast.expr() as node)):
                self._yield(self.value(node))
            case ast.Expr(value=ast.Call() as call):
                self.value(call)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise UnsupportedError(ast.unparse(line))

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self._assign_name(name, value)
            case ast.Subscript(value=array, slice=place):
                self.store(self.subscript(self.value(array), place), value)
            case ast.Tuple(elts=targets):
                entries = self.entries(value)
                if len(entries) != len(targets):
                    raise UnsupportedError("as many entries as names")
                for each, entry in zip(targets, entries, strict=True):
                    self._assign(each, entry)
            case _:
                raise UnsupportedError(ast.unparse(target))

    def _return(self, node: ast.expr | None) -> None:
        if self._end is None:
            if node is not None:
                raise UnsupportedError("what a kernel returns")
            self.builder.ret_void()
            return
        if node is not None:
            self._assign_name(_RETURNED, self.value(node))
        self.builder.branch(self._end)

    def _if(self, line: ast.If) -> None:
        yes, no, end = self._blocks("then", "otherwise", "end")
        self.branch(line.test, yes, no)
        for start, lines in ((yes, line.body), (no, line.orelse)):
            self.builder.position_at_end(start)
            self._block(lines)
            if not self.builder.block.is_terminated:
                self.builder.branch(end)
        self.builder.position_at_end(end)

    # Loops.

    def _for(self, name: str, word: str, values: list[Value], body: list[ast.stmt]) -> None:
        match word, values:
            case "range", [end]:
                self._range(name, self.constant(0), end, WORD(1), body)
            case "range", [first, end]:
                self._range(name, first, end, WORD(1), body)
            case "range", [first, end, step] if isinstance(step.parts[0], ir.Constant):
                self._range(name, first, end, self.integer(step), body)
            case _ if inspect.isgeneratorfunction(getattr(self.namespace.get(word), "py_func", None)):
                before, after = self._body, self._blocks("end")[0]
                self._body = name, body, after
                self._enter(self.namespace[word], values)
                self._leave()
                self._body = before
                self._go(after)
            case _:
                raise UnsupportedError(f"a loop over {word}")

    def _yield(self, value: Value) -> None:
        """The body of the loop over a generator, for one value of it."""
        (name, body, after), inside = self._body, self._outside[-1]
        self._outside.append(self._scope())
        self._inside, self.namespace, self.flags, self.raising, self._end, self._loops = inside
        self._assign_name(name, value)
        start, more = self._blocks("yielded", "more")
        self._go(start)
        self._loop(start, body, more, after)
        self._leave()
        self.builder.position_at_end(more)

    def _range(self, name: str, first: Value, end: Value, step: Any, body: list[ast.stmt]) -> None:
        kinds = {first.kind, end.kind}
        if UNSIGNED in kinds and kinds != {UNSIGNED}:
            raise UnsupportedError("a loop over integers with and without a sign")
        kind = UNSIGNED if UNSIGNED in kinds else INTEGER
        start, end = self.integer(self.converted(first, kind)), self.integer(self.converted(end, kind))
        counter = self.entry.alloca(WORD)
        self.builder.store(start, counter)
        test, inside, more, after = self._blocks("for", "body", "next", "end")
        self._go(test)
        now = self.builder.load(counter)
        compare = self.builder.icmp_unsigned if kind == UNSIGNED else self.builder.icmp_signed
        self.builder.cbranch(compare("<" if step.constant > 0 else ">", now, end), inside, after)
        self.builder.position_at_end(inside)
        self._assign_name(name, Value(kind, (now,)))
        self._loop(inside, body, more, after)
        self.builder.position_at_end(more)
        next_one = self.builder.add(self.builder.load(counter), step, flags=() if kind == UNSIGNED else ("nsw",))
        self.builder.store(next_one, counter)
        self.builder.branch(test)
        self.builder.position_at_end(after)

    def _loop(self, inside: Any, body: list[ast.stmt], again: Any, after: Any) -> None:
        """The body of a loop, which begins in a block; then what comes after the loop."""
        self.builder.position_at_end(inside)
        self._loops.append((again, after))
        self._block(body)
        if not self.builder.block.is_terminated:
            self.builder.branch(again)
        self._loops.pop()
        self.builder.position_at_end(after)

    def _go(self, block: Any) -> None:
        """End this block with a jump to another, and continue there."""
        self.builder.branch(block)
        self.builder.position_at_end(block)

    def _blocks(self, *names: str) -> list[Any]:
        return [self.made.append_basic_block(name) for name in names]


@functools.cache
def _tree_of(function: Any) -> ast.FunctionDef:
    """The tree of a function's source. Raises UnsupportedError where there is none, as of what is typed in."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        raise UnsupportedError(f"{function.__name__} without a text") from None
    (tree,) = ast.parse(textwrap.dedent(text)).body
    assert isinstance(tree, ast.FunctionDef)
    return tree
