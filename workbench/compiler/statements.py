"""Statements and loops."""

from __future__ import annotations

import ast

from workbench.compiler.expressions import Expressions
from workbench.compiler.kinds import INT, Kind, Value, equal, in_tuple
from workbench.compiler.numbers import SIGNS
from workbench.compiler.reader import named
from workbench.compiler.tree import ONE, ZERO, Block, For, If, Jump, Node, Return, Shared, While, nodes


class Statements(Expressions):
    """Statements in the text of a function. result: the kind of what it returns so far."""

    result: Kind = ()
    returned = False

    def block(self, lines: list[ast.stmt]) -> Block:
        """Statements of the tree."""
        with self.aside() as out:
            for line in lines:
                self.statement(line)
                if out and isinstance(out[-1], Jump | Return):
                    break  # What follows is never reached.
        return tuple(out)

    def statement(self, line: ast.stmt) -> None:
        """Write a statement."""
        match line:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if not _starred(values):
                self._assign_together(targets, values, line)
            case ast.Assign(targets=targets, value=node):
                value = self.value(node)
                value = self.kept(value) if len(targets) > 1 else value
                for target in reversed(targets):
                    self._assign(target, value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=node):
                old = self.value(ast.copy_location(ast.Name(name), target))
                self._assign(target, self.operation(SIGNS[type(op)], old, self.value(node), line))
            case ast.AugAssign(target=ast.Subscript(value=of, slice=place) as target, op=op, value=node):
                found = self.subscript(self.value(of), place)
                self.store(found, self.operation(SIGNS[type(op)], self.load(found), self.value(node), line), target)
            case ast.If(test=test, body=body, orelse=otherwise):
                self._if(self.test(test), body, otherwise)
            case ast.For(target=target, iter=over, body=body, orelse=[]):
                self._for(target, over, body)
            case ast.While(test=test, body=body, orelse=[]):
                with self.aside() as before:
                    found = self.test(test)
                self.write(While(tuple(before), found, self.block(body)))
            case ast.Break() | ast.Continue():
                self.write(Jump(type(line).__name__.lower()))
            case ast.Return(value=node):
                self._return(node)
            case ast.Expr(value=ast.Call() as call):
                # Its results, if it has any, have been set in variables that nothing reads.
                self.value(call)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                self.refuse(line, "no such statement in kernels")

    # Assignments.

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.constants.pop(name, None)
                self.assign_name(name, value, target)
            case ast.Tuple(elts=targets):
                value = self.unaffected(self.kept(value), _names_in(targets))
                for each, entry in zip(targets, self.several(value, len(targets), target), strict=True):
                    self._assign(each, entry)
            case ast.Subscript(value=ast.Name(id=name), slice=place) if (kind := self.kind_of(name)) and isinstance(
                kind, tuple
            ):
                entries = self.entries(self.variable(name, kind))
                entries[self.constant(self.value(place), place)] = value
                self.assign_name(name, in_tuple(entries), target)
            case ast.Subscript(value=of, slice=place):
                self.store(self.subscript(self.value(of), place), value, target)
            case _:
                self.refuse(target, "no such target of an assignment in kernels")

    def _assign_together(self, targets: list[ast.expr], elements: list[ast.expr], line: ast.Assign) -> None:
        """Several targets: no value is read after a target that it depends on has been set."""
        if len(targets) != len(elements):
            self.refuse(line, f"{len(elements)} values for {len(targets)} names")
        values = [self.value(node) for node in elements]
        stores = any(not isinstance(target, ast.Name) for target in targets)
        if stores:
            values = [self._read(value) for value in values]
        values = [self.unaffected(value, _names_in(targets)) for value in values]
        for target, value in zip(targets, values, strict=True):
            self._assign(target, value)

    def _read(self, value: Value) -> Value:
        """The value from before a store."""
        loads = any(node.op == "load" for part in value.parts for node in nodes(part))
        return Value(value.kind, tuple(map(self.temporary, value.parts))) if loads else value

    def _return(self, node: ast.expr | None) -> None:
        value = in_tuple([]) if node is None else self.value(node)
        kind = self.united(self.result, value.kind) if self.returned else value.kind
        if self.returned and not equal(kind, self.result):
            self._changed = True
        self.result, self.returned = kind, True
        self.write(Return(self.converted(value, kind).parts))

    # Branches and loops.

    def _if(self, test: Node, body: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        if test.op != "const":
            self.write(If(test, self.block(body), self.block(otherwise)))
            return
        self.write(*self.block(body if test.of else otherwise))

    def _for(self, target: ast.expr, over: ast.expr, body: list[ast.stmt]) -> None:
        match over, target:
            case ast.Call(func=ast.Name(id="range"), args=nodes_), ast.Name(id=name):
                values = [self.integer(self.value(each), each) for each in nodes_]
                if not 1 <= len(values) <= 3:
                    self.refuse(over, "a range of other than one to three integers")
                first, end = values[:2] if len(values) > 1 else (ZERO, values[0])
                step = values[2] if len(values) > 2 else ONE
                if step == ZERO:
                    self.refuse(over, "a step of 0")
                self._counted(name, target)
                self.write(For(name, first, self.temporary(end), step, self.block(body)))
            case ast.Call(func=ast.Name(id="shared"), args=[taken, *ends]), ast.Name(id=name) if len(ends) == 2:
                counters = self.counters(self.value(taken), taken)
                thread, count = (self.integer(self.value(each), each) for each in ends)
                self._counted(name, target)
                self.write(Shared(name, counters, thread, count, self.block(body)))
            case _:
                self._unrolled(target, over, body)

    def _counted(self, name: str, target: ast.AST) -> None:
        """Let the counter of a loop be a variable."""
        self.constants.pop(name, None)
        if not equal(self.declare_name(name, INT, target), INT):
            self.refuse(target, f"the counter {name} has been something else than an integer")

    def _unrolled(self, target: ast.expr, over: ast.expr, body: list[ast.stmt]) -> None:
        """The body once for each entry of a tuple."""
        value = self.kept(self.value(over))
        if not isinstance(value.kind, tuple):
            self.refuse(over, f"a loop over {named(value.kind)}")
        if any(map(_jumps, body)):
            self.refuse(over, "a loop over a tuple with `break` or `continue`")
        for entry in self.entries(value):
            self._bind(target, entry)
            self.write(*self.block(body))

    def _bind(self, target: ast.expr, entry: Value) -> None:
        """A name for a constant, or a variable."""
        match target:
            case ast.Tuple(elts=targets):
                for each, part in zip(targets, self.several(entry, len(targets), target), strict=True):
                    self._bind(each, part)
            case ast.Name(id=name) if len(entry.parts) == 1 and entry.parts[0].op == "const":
                self.constants[name] = entry.parts[0].of
            case _:
                self._assign(target, entry)


def _names_in(targets: list[ast.expr]) -> set[str]:
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _starred(nodes_: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Starred) for each in nodes_)


def _jumps(line: ast.AST) -> bool:
    """True if a statement has a `break` or `continue` of the loop around it."""
    if isinstance(line, ast.For | ast.While):
        return False
    return isinstance(line, ast.Break | ast.Continue) or any(map(_jumps, ast.iter_child_nodes(line)))
