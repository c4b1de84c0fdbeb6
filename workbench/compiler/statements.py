"""Statements and loops."""

from __future__ import annotations

import ast

from workbench.compiler.expressions import Expressions
from workbench.compiler.kinds import INT, Array, Kind, Value, equal, in_tuple
from workbench.compiler.numbers import SIGNS
from workbench.compiler.reader import named
from workbench.compiler.tree import ONE, ZERO, Block, For, If, Jump, Node, Return, Shared, While, loads
from workbench.compiler.words import items, shared, unrolled


class Statements(Expressions):
    """Statements in the text of a function. result: the kind of what it returns so far."""

    result: Kind = ()
    returned = False

    def block(self, lines: list[ast.stmt]) -> Block:
        """Statements of the tree that may not run at all, or run again."""
        with self.conditional_part():
            return self._inline(lines)

    def _inline(self, lines: list[ast.stmt]) -> Block:
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
                for target in targets:
                    self._assign(target, value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=node) if type(op) in SIGNS:
                old = self.value(ast.copy_location(ast.Name(name), target))
                self._assign(target, self.combined(SIGNS[type(op)], old, node, line))
            case ast.AugAssign(target=ast.Subscript(value=of, slice=place) as target, op=op, value=node) if (
                type(op) in SIGNS
            ):
                if self._is_tuple(of):
                    old = self.value(ast.copy_location(ast.Subscript(of, place), target))
                    self._assign(target, self.combined(SIGNS[type(op)], old, node, line))
                    return
                found, begun = self.subscript(self.value(of), place), self.place
                new = self.combined(SIGNS[type(op)], self.load(found), node, line)
                if loads(found.parts) and self.stored_since(begun):
                    self.refuse(line, "an index is loaded before a call that stores into arrays; name it before")
                self.store(found, new, target)
            case ast.If(test=test, body=body, orelse=otherwise):
                self._if(self.test(test), body, otherwise)
            case ast.For(target=target, iter=over, body=body, orelse=[]):
                self._for(target, over, body)
            case ast.While(test=test, body=body, orelse=[]):
                with self.aside() as before:
                    found = self.test(test)
                endless = found.op == "const" and bool(found.of)
                with self.paths.loop(skipped=not endless, endless=endless):
                    inside = self.block(body)
                self.write(While(tuple(before), found, inside))
            case ast.Break() | ast.Continue():
                self.write(Jump(type(line).__name__.lower()))
                self.paths.jump(type(line).__name__.lower())
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
                self.assign_name(name, value, target)
            case ast.Tuple(elts=targets):
                value = self.unaffected(self.kept(value), _names_in(targets))
                entries = self.unpacked(value, len(targets), target)
                if any(not isinstance(each, ast.Name) for each in targets):
                    entries = list(map(self.read, entries))
                for each, entry in zip(targets, entries, strict=True):
                    self._assign(each, entry)
            case ast.Subscript(value=ast.Name(id=name) as of, slice=place) if self._is_tuple(of):
                self.assign_entry(name, self.constant(self.value(place), place), value, target)
            case ast.Subscript(value=of, slice=place):
                self.store(self.subscript(self.value(of), place), value, target)
            case _:
                self.refuse(target, "no such target of an assignment in kernels")

    def _assign_together(self, targets: list[ast.expr], elements: list[ast.expr], line: ast.Assign) -> None:
        """Several targets: no value is read after a target that it depends on has been set."""
        if len(targets) != len(elements):
            self.refuse(line, f"{len(elements)} values for {len(targets)} names")
        values = self.values(elements)
        stores = any(not isinstance(target, ast.Name) for target in targets)
        if stores:
            values = list(map(self.read, values))
        values = [self.unaffected(value, _names_in(targets)) for value in values]
        for target, value in zip(targets, values, strict=True):
            self._assign(target, value)

    def _return(self, node: ast.expr | None) -> None:
        value = in_tuple([]) if node is None else self.value(node)
        if _is_own(value.kind):
            self.refuse(
                node or self.source.tree, "memory of a thread or a group ends with its function, which returns it"
            )
        kind = self.united(self.result, value.kind, node or self.source.tree) if self.returned else value.kind
        if self.returned and not equal(kind, self.result):
            self._changed = True
        self.result, self.returned = kind, True
        self.write(Return(self.converted(value, kind).parts))
        self.paths.jump("return")

    # Branches and loops.

    def _if(self, test: Node, body: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        if test.op != "const":
            before = self.paths.names
            one = self.block(body)
            self.paths.names, after = before, self.paths.names
            self.write(If(test, one, self.block(otherwise)))
            self.paths.join(after)
            return
        self.write(*self._inline(body if test.of else otherwise))

    def _for(self, target: ast.expr, over: ast.expr, body: list[ast.stmt]) -> None:
        match self._loop(over), over, target:
            case "range", ast.Call(args=nodes_), ast.Name(id=name):
                if not 1 <= len(nodes_) <= 3:
                    self.refuse(over, "a range of other than one to three integers")
                values = [self.integer(*each) for each in zip(self.values(nodes_), nodes_, strict=True)]
                first, end = values[:2] if len(values) > 1 else (ZERO, values[0])
                step = values[2] if len(values) > 2 else ONE
                self._check_step(step, nodes_[-1])
                end = self.temporary(end)
                inside = self._counted(name, body, target, skipped=not _runs(first, end, step))
                self.write(For(name, first, end, step, inside))
            case "unrolled", ast.Call(args=[count]), ast.Name(id=name):
                value = self.value(count)
                if value.parts[0].op == "const":
                    every = range(self.constant(value, count))
                    self._unrolled(target, over, self.literal(every, over), body)
                else:
                    end = self.temporary(self.integer(value, count))
                    self.write(For(name, ZERO, end, ONE, self._counted(name, body, target)))
            case "shared", ast.Call(args=[taken, *ends]), ast.Name(id=name) if len(ends) == 2:
                counters = self.counters(self.value(taken), taken)
                thread, count = (self.integer(self.value(each), each) for each in ends)
                self.write(Shared(name, counters, thread, count, self._counted(name, body, target)))
            case "items", ast.Call(args=[_, _, _] as ends), ast.Name(id=name):
                places = [self.integer(self.value(each), each) for each in ends]
                self.write(self.items(name, places, lambda: self._counted(name, body, target), over))
            case _:
                self._unrolled(target, over, self.value(over), body)

    def _loop(self, over: ast.expr) -> str:
        """The name of what a loop goes over, where it is one of the loops of kernels and means that."""
        if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name) or over.func.id in self.own_names:
            return ""
        known = self.known(over.func)
        # Printed texts have them without an import.
        return over.func.id if known is None or any(known is word for word in (range, unrolled, shared, items)) else ""

    def _counted(self, name: str, body: list[ast.stmt], target: ast.AST, *, skipped: bool = True) -> Block:
        """The body of a loop whose counter is a variable."""
        with self.paths.loop(skipped=skipped):
            if not equal(self.declare_name(name, INT, target), INT):
                self.refuse(target, f"the counter {name} has been something else than an integer")
            return self.block(body)

    def _check_step(self, step: Node, node: ast.expr) -> None:
        """Refuse a step whose sign is not known, and 0."""
        if step == ZERO:
            self.refuse(node, "a step of 0")
        if step.op in ("const", "device"):
            return
        of_max = node.args if isinstance(node, ast.Call) and self.known(node.func) is max else []
        if not any(isinstance(each, ast.Constant) and each.value in range(1, 1 << 62) for each in of_max):
            self.refuse(node, "a step that may be 0 or negative; say max(1, step)")

    def _unrolled(self, target: ast.expr, over: ast.expr, value: Value, body: list[ast.stmt]) -> None:
        """The body once for each entry of a tuple. A name that it does not assign is a constant in it."""
        value = self.kept(value)
        if not isinstance(value.kind, tuple):
            self.refuse(over, f"a loop over {named(value.kind)}")
        if any(map(_jumps, body)):
            self.refuse(over, "a loop over a tuple with `break` or `continue`")
        assigned = _assigned(body)
        bound: dict[str, tuple[ast.expr, Value]] = {}
        for entry in self.entries(value):
            self._bind(target, entry, assigned, bound)
            self.write(*self._inline(body))
            for name in bound:
                del self.constants[name]
        # As in Python they have their last values from here on.
        for name, (each, last) in bound.items():
            self.assign_name(name, last, each)

    def _bind(
        self, target: ast.expr, entry: Value, assigned: set[str], bound: dict[str, tuple[ast.expr, Value]]
    ) -> None:
        """A name for a constant, or a variable."""
        match target:
            case ast.Tuple(elts=targets):
                for each, part in zip(targets, self.unpacked(entry, len(targets), target), strict=True):
                    self._bind(each, part, assigned, bound)
            case ast.Name(id=name) if name not in assigned and all(part.op == "const" for part in entry.parts):
                if name in self.constants and name not in bound:
                    self.refuse(target, f"the constant {name} would become a variable")
                bound[name] = target, entry
                self.constants[name] = entry
            case _:
                # Known in one turn and not in the next, it is a variable in this one.
                bound.pop(target.id if isinstance(target, ast.Name) else "", None)
                self._assign(target, entry)

    def _is_tuple(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and isinstance(self.kind_of(node.id), tuple)


def _runs(first: Node, end: Node, step: Node) -> bool:
    """True if a loop is known to run at least once."""
    return first.op == end.op == step.op == "const" and bool(range(first.of, end.of, step.of))  # pyright: ignore


def _names_in(targets: list[ast.expr]) -> set[str]:
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _assigned(body: list[ast.stmt]) -> set[str]:
    parts = (node for line in body for node in ast.walk(line))
    return {node.id for node in parts if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _is_own(kind: Kind) -> bool:
    return any(map(_is_own, kind)) if isinstance(kind, tuple) else isinstance(kind, Array) and (kind.own or kind.group)


def _starred(nodes_: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Starred) for each in nodes_)


def _jumps(line: ast.AST) -> bool:
    """True if a statement has a `break` or `continue` of the loop around it."""
    if isinstance(line, ast.For | ast.While):
        return False
    return isinstance(line, ast.Break | ast.Continue) or any(map(_jumps, ast.iter_child_nodes(line)))
