"""Statements as LLVM's text."""

from __future__ import annotations

from workbench.compiler.llvm_expressions import Expressions, aligned
from workbench.compiler.llvm_lines import in_memory, results_of, typename
from workbench.compiler.tree import (
    ONE,
    ZERO,
    Block,
    Do,
    For,
    Function,
    If,
    Jump,
    Node,
    Return,
    Set,
    Shared,
    Statement,
    Store,
    While,
)


class Statements(Expressions):
    """The statements of one function."""

    def __init__(self, function: Function, declared: set[str]) -> None:
        super().__init__(function, declared)
        self._loops: list[tuple[str, str]] = []
        """Targets of `continue` and of `break`, for each loop around."""

    def block(self, lines: Block) -> None:
        """Write statements."""
        for line in lines:
            self.statement(line)

    def statement(self, line: Statement) -> None:
        """Write a statement."""
        match line:
            case Set(name, value):
                self.line(f"store {typename(value.type)} {self.value(value)}, ptr %{name}")
            case Store():
                self._store(line)
            case Do(Node("atomic", _, (pointer, index, value))):
                self.line(f"store atomic i64 {self.value(value)}, ptr {self.place(pointer, index)} release, align 8")
            case Do(Node("call", _, args, Function() as function), names):
                found = self.called(function, args)
                for k, (name, t) in enumerate(zip(names, function.results, strict=True)):
                    part = self.new(f"extractvalue {results_of(function)} {found}, {k}")
                    self.line(f"store {typename(t)} {part}, ptr %{name}")
            case If():
                self._if(line)
            case While(before, test, body):
                start, inside, end = self.labels("while", "body", "end")
                self.jump(start)
                self.begin(start)
                self.block(before)
                self.branch(test, inside, end)
                self.begin(inside)
                self._body(body, start, end)
                self.begin(end)
            case For():
                self._for(line)
            case Shared():
                self._shared(line)
            case Jump(word):
                self.jump(self._loops[-1][word == "break"])
            case Return(values):
                self._return(values)
            case _:
                raise AssertionError(line)

    def _store(self, line: Store) -> None:
        value, at = self.value(line.value), self.place(line.pointer, line.index)
        t, memory = line.value.type, in_memory(line.pointer.type)
        kind = typename(t)
        if t == "b":
            kind, value = memory, self.new(f"zext i1 {value} to {memory}")
        elif t == "i" and memory != "i64":
            kind, value = memory, self.new(f"trunc i64 {value} to {memory}")
        self.line(f"store {kind} {value}, ptr {at}{aligned(t)}")

    def _if(self, line: If) -> None:
        yes, no, end = self.labels("then", "else", "end")
        self.branch(line.test, yes, no if line.otherwise else end)
        for label, body in ((yes, line.body), (no, line.otherwise)):
            if label == yes or body:
                self.begin(label)
                self.block(body)
                self.jump(end)
        self.begin(end)

    def _body(self, body: Block, more: str, after: str) -> None:
        """The body of a loop. more, after: targets of `continue` and of `break`."""
        self._loops.append((more, after))
        self.block(body)
        self.jump(more)
        self._loops.pop()

    def _for(self, line: For) -> None:
        start, last, step = self.value(line.first), self.value(line.end), self.value(line.step)
        test, inside, more, after, counter = self.labels("for", "body", "next", "end", "%counter")
        before = self.label
        self.jump(test)
        self.begin(test)
        self.line(f"{counter} = phi i64 [ {start}, %{before} ], [ {counter}.next, %{more} ]")
        up = not isinstance(line.step.of, int) or line.step.of > 0
        self.jump_if(self.new(f"icmp {'slt' if up else 'sgt'} i64 {counter}, {last}"), inside, after)
        self.begin(inside)
        self.line(f"store i64 {counter}, ptr %{line.name}")
        self._body(line.body, more, after)
        self.begin(more)
        self.line(f"{counter}.next = add nsw i64 {counter}, {step}")
        self.jump(test)
        self.begin(after)

    def _return(self, values: tuple[Node, ...]) -> None:
        if not values:
            self.line("ret void")
            return
        whole, found = results_of(self.function), [self.value(value) for value in values]
        if len(found) == 1:
            self.line(f"ret {whole} {found[0]}")
            return
        made = "undef"
        for k, (part, value) in enumerate(zip(found, values, strict=True)):
            made = self.new(f"insertvalue {whole} {made}, {typename(value.type)} {part}, {k}")
        self.line(f"ret {whole} {made}")

    def _shared(self, line: Shared) -> None:
        """Chunks of the thread's own share, then those that other threads have not begun."""
        away, owner, first, end, count = (self._variable(f"{word}.{line.name}") for word in _OF_SHARED)
        pointer, threads, length = line.counters
        taken = _of("*", owner, length)
        begun = Node("load", "i", (pointer, taken))
        chunk = Node("var", "i", (), line.name)
        share = (
            _set(owner, _of("%", _of("+", line.thread, away), threads)),
            _set(first, _of("//", _of("*", count, owner), threads)),
            _set(end, _of("//", _of("*", count, _of("+", owner, ONE)), threads)),
            # Read before the atomic add, which is slow on a counter that all threads write; mostly nothing is left.
            While(
                (),
                Node("<", "b", (_of("+", first, begun), end)),
                (
                    _set(chunk, _of("+", first, Node("atomic", "i", (pointer, taken, ONE), "add"))),
                    If(Node("<", "b", (chunk, end)), line.body),
                ),
            ),
        )
        self.block((_set(count, line.count), For(f"away.{line.name}", ZERO, threads, ONE, share)))

    def _variable(self, name: str) -> Node:
        self.function.variables[name] = "i"
        return Node("var", "i", (), name)


_OF_SHARED = ("away", "owner", "first", "end", "count")


def _set(variable: Node, value: Node) -> Set:
    assert isinstance(variable.of, str)
    return Set(variable.of, value)


def _of(sign: str, a: Node, b: Node) -> Node:
    return Node(sign, "i", (a, b))
