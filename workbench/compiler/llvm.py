"""The printer for the cores: LLVM's text of a kernel and its helpers, in which each thread calls one function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from workbench.compiler.kinds import real_of
from workbench.compiler.llvm_expressions import ATOMIC, Expressions, aligned, in_memory, results_of, typename
from workbench.compiler.reading import Kernel
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


class Argument(NamedTuple):
    """An array or a number among the arguments of a kernel. word: its index in the words that the threads share; there
    are the address of NumPy's struct, or the number. ndim: None of a number."""

    dtype: np.dtype
    ndim: int | None
    word: int


class Layout(NamedTuple):
    """Bytes before the address of the data, and before that of the lengths, in NumPy's struct of an array."""

    data: int
    lengths: int


def llvm_text(kernel: Kernel, name: str, arguments: Sequence[Argument], layout: Layout) -> str:
    """The text of a module. Its function `name(number, words)` runs one thread; with number = -1, what a kernel does
    before its threads. The first word counts the threads that have not ended."""
    declared: set[str] = set()
    text = [_helper(each, declared) for each in kernel.helpers]
    text.append(_kernel(kernel, name, arguments, layout, declared))
    return "\n".join([*text, *sorted(declared)]) + "\n"


def _helper(of: Function, declared: set[str]) -> str:
    lines = Statements(of, declared)
    for name, t in of.parameters.items():
        lines.line(f"store {typename(t)} %{name}.in, ptr %{name}")
    lines.block(of.body)
    # What comes here has not returned.
    lines.line("unreachable" if of.results else "ret void")
    given = ", ".join(f"{typename(t)} %{name}.in" for name, t in of.parameters.items())
    # Inlined before other passes, the helpers of a kernel give the bits of one text.
    return _text(f"define internal {results_of(of)} @{of.name}({given}) alwaysinline nounwind", lines)


def _kernel(kernel: Kernel, name: str, arguments: Sequence[Argument], layout: Layout, declared: set[str]) -> str:
    of, phases = kernel.entry, kernel.phases
    lines = Statements(of, declared)
    values = (value for argument in arguments for value in _read(lines, argument, layout))
    for parameter, (t, value) in zip(of.parameters, values, strict=True):
        lines.line(f"store {t} {value}, ptr %{parameter}")
    if phases.first:
        first, others = lines.labels("first", "others")
        lines.jump_if(lines.new("icmp slt i64 %.number, 0"), first, others)
        lines.begin(first)
        lines.block(phases.first)
        lines.line("ret void")
        lines.begin(others)
    lines.block(phases.each)
    if phases.thread:
        of.variables[".thread"] = "i"
        # A loop, since `continue` and `break` in it end the thread.
        number, end = (Node("given", "i", (), name) for name in ("%.number", lines.new("add nsw i64 %.number, 1")))
        body = (Set(phases.thread, Node("var", "i", (), ".thread")), *phases.loop)
        lines.statement(For(".thread", number, end, ONE, body))
    last, done = lines.labels("last", "done")
    left = lines.new(ATOMIC["leave"].format("%.words", 1))
    lines.jump_if(lines.new(f"icmp eq i64 {left}, 1"), last, done)
    lines.begin(last)
    lines.block(phases.after)
    lines.jump(done)
    lines.begin(done)
    lines.line("ret void")
    return _text(f"define void @{name}(i64 %.number, ptr %.words)", lines)


def _read(lines: Statements, argument: Argument, layout: Layout) -> Iterator[tuple[str, str]]:
    """Types and values of the scalars of an argument."""
    at = lines.new(f"getelementptr i64, ptr %.words, i64 {argument.word}")
    if argument.ndim is not None:
        array = lines.new(f"load ptr, ptr {at}")
        data, lengths = (
            lines.new(f"load ptr, ptr {lines.new(f'getelementptr i8, ptr {array}, i64 {offset}')}") for offset in layout
        )
        yield "ptr", data
        for k in range(argument.ndim):
            yield "i64", lines.new(f"load i64, ptr {lines.new(f'getelementptr i64, ptr {lengths}, i64 {k}')}")
        return
    dtype = argument.dtype
    match dtype.kind:
        case "b":
            yield "i1", lines.new(f"trunc i8 {lines.new(f'load i8, ptr {at}')} to i1")
        case "i" | "u":
            t = f"i{8 * dtype.itemsize}"
            value = lines.new(f"load {t}, ptr {at}")
            yield (
                "i64",
                value if t == "i64" else lines.new(f"{'sext' if dtype.kind == 'i' else 'zext'} {t} {value} to i64"),
            )
        case _:
            t = "float" if real_of(dtype).itemsize == 4 else "double"
            yield t, lines.new(f"load {t}, ptr {at}")
            if dtype.kind == "c":
                yield t, lines.new(f"load {t}, ptr {lines.new(f'getelementptr {t}, ptr {at}, i64 1')}")


def _text(head: str, lines: Statements) -> str:
    return "\n".join([head + " {", *lines.variables(), *lines.lines, "}"]) + "\n"
