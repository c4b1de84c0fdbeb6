"""Statements in C, in the common subset of OpenCL C and CUDA C."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.compiler.c_expressions import Expressions
from workbench.compiler.c_lines import MEMORY, Definitions, Language, in_c
from workbench.compiler.tree import (
    Block,
    Do,
    For,
    Function,
    If,
    Jump,
    Node,
    Return,
    Room,
    Set,
    Shared,
    Statement,
    Store,
    Type,
    Vector,
    While,
    names_read,
)

PAIRS: dict[Type, str] = {"f": "float2", "d": "double2"}
"""Types of complex numbers in memory, by those of their parts."""


class Statements(Expressions):
    """The statements of one function."""

    def __init__(self, function: Function, defined: Definitions, language: Language) -> None:
        super().__init__(function, defined, language)
        self._contracts = language == "cuda" or "contract" in function.licences
        self._count = 0
        self._read: set[str] = set()
        """The variables that are read; the others are not declared."""

    def body(self, block: Block, declared: Sequence[str] = ()) -> list[str]:
        """The lines of a function between its braces. declared: more declarations."""
        head = [] if self._contracts else ["    NO_CONTRACTION"]
        self._read = names_read(block)
        kinds = self.function.variables.items()
        variables = (f"{self._declared(name, t)};" for name, t in kinds if name in self._read)
        return [*head, *(f"    {line}" for line in (*declared, *variables)), *self.block(block)]

    def _declared(self, name: str, t: Type) -> str:
        if isinstance(t, Room) and t.group:
            numbers = self.text(t.numbers) if isinstance(t.numbers, Node) else str(t.numbers)
            return f"SHARED({MEMORY[t.memory]}, {in_c(name)}, {numbers})"
        return self.defined.declared(name, t)

    def block(self, lines: Block) -> list[str]:
        """Indented lines."""
        return [f"    {text}" for line in lines for text in self.statement(line)]

    def statement(self, line: Statement) -> list[str]:
        """The lines of a statement."""
        match line:
            case Set(name, Node("call") as call) if name not in self._read:
                return [f"{self.called(call)};"]
            case Set(name) if name not in self._read:
                return []
            case Set(name, value):
                return [f"{in_c(name)} = {self.text(value)};"]
            case Store(pointer, index, Node(type=Vector() as t) as value):
                # One by one: a vector in memory is aligned as its numbers are.
                whole, place = self._new("h"), self._new("p")
                head = f"{self.defined.type(t)} {whole} = {self.text(value)};"
                head += f" {self.defined.type(pointer.type)} {place} = {self.text(pointer)} + {self.text(index)};"
                return [f"{{ {head} for (int k = 0; k < {t.width}; k++) {place}[k] = {whole}.v[k]; }}"]
            case Store(pointer, index, value):
                return [f"{self.text(pointer)}[{self.text(index)}] = {self.text(value)};"]
            case Do(Node("pair", t, (pointer, index)), names):
                whole = self._new("h")
                both = zip(names, "xy", strict=True)
                parts = " ".join(f"{in_c(name)} = {whole}.{part};" for name, part in both if name in self._read)
                return [f"{{ const {PAIRS[t]} {whole} = WHOLE({PAIRS[t]}, {self._place(pointer, index)}); {parts} }}"]
            case Do(Node("put pair", t, (pointer, index, *parts))):
                given = ", ".join(map(self.text, parts))
                return [f"PUT_WHOLE({PAIRS[t]}, {self._place(pointer, index)}, {given});"]
            case Do(call, ()):
                return [f"{self.text(call)};"]
            case Do(Node("call", _, _, Function(results=results)) as call, names):
                whole = self._new("r")
                parts = " ".join(f"{in_c(name)} = {whole}.f{k};" for k, name in enumerate(names) if name in self._read)
                return [f"{{ {self.defined.results(results)} {whole} = {self.called(call)}; {parts} }}"]
            case If(test, body, otherwise):
                more = ["} else {", *self.block(otherwise)] if otherwise else []
                return [f"if ({self.test(test)}) {{", *self.block(body), *more, "}"]
            case While((), test, body):
                return [f"while ({self.test(test)}) {{", *self.block(body), "}"]
            case While(before, test, body):
                leave = f"    if (!{self.text(test)}) break;"
                return ["while (1) {", *self.block(before), leave, *self.block(body), "}"]
            case For():
                return self._for(line)
            case Shared(name, (_, threads, _), thread, count, body):
                return self._loop(name, thread, count, threads, body)
            case Jump(word):
                return [f"{word};"]
            case Return(()):
                return ["return;"]
            case Return((value,)):
                return [f"return {self.text(value)};"]
            case Return(values):
                whole, kind = self._new("r"), self.defined.results(self.function.results)
                return [f"{{ {kind} {whole} = {{ {', '.join(map(self.text, values))} }}; return {whole}; }}"]
        raise AssertionError(line)

    def _place(self, pointer: Node, index: Node) -> str:
        return f"{self.text(pointer)} + {self.text(index)}"

    def _for(self, line: For) -> list[str]:
        return self._loop(line.name, line.first, line.end, line.step, line.body)

    def _loop(self, name: str, first: Node, end: Node, step: Node, body: Block) -> list[str]:
        """A loop whose bounds are evaluated once, and whose counter the body cannot change."""
        at, last, by = self._new("c"), self._new("e"), self._new("s")
        start, stop, more = map(self.text, (first, end, step))
        if step.op == "const":
            begin, by = f"{at} = {start}, {last} = {stop}", more
        else:
            begin = f"{at} = {start}, {last} = {stop}, {by} = {more}"
        sign = ">" if isinstance(step.of, int) and step.of < 0 else "<"
        head = f"for (I64 {begin}; {at} {sign} {last}; {at} += {by}) {{"
        counter = [f"    {in_c(name)} = {at};"] if name in self._read else []
        return [head, *counter, *self.block(body), "}"]

    def _new(self, letter: str) -> str:
        """A name that no variable of the text has."""
        self._count += 1
        return f"{letter}{self._count}"
