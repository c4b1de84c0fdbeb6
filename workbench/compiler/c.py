"""The printer for accelerators: C of a kernel and its helpers, behind a prelude for OpenCL C or CUDA C.

The prelude, `workbench.devices.kernels.prelude`, defines KERNEL, DEVICE, GLOBAL, LOCAL, SHARED, RESTRICT, WHOLE,
PUT_WHOLE, NO_CONTRACTION, BARRIER, I64, U64, GROUP, GROUPS, GROUP_ID, LOCAL_ID, STRIPS and those of the loop over
`items`. In kernels of the cores a thread of the text is a work-item: chunks are divided among all of them.

Of these, what runs first, on each thread and last are kernels of their own, to be launched one after the other: the
first and the last one with one work-item. Arguments are those behind the counters, an array as its address and its
lengths, a complex number as two, a truth as an int.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from workbench.compiler.c_expressions import MEMORY, Definitions, Expressions, Language, function_in_c, in_c
from workbench.compiler.kinds import KernelError
from workbench.compiler.reading import DeviceKernel, Kernel
from workbench.compiler.tree import (
    Block,
    Do,
    For,
    Function,
    If,
    Jump,
    Node,
    Pointer,
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
    statements_in,
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


THREAD, THREADS = "(GROUP_ID*GROUP + LOCAL_ID)", "(GROUPS*GROUP)"
NONE: Mapping[int, int] = MappingProxyType({})
OF_CORES = {"read": "published", "write": "publish", "exchange": "acquired"}


class CText(NamedTuple):
    """A text, and the names of its kernels, each empty where nothing is to do."""

    text: str
    first: str
    each: str
    last: str


def c_text(kernel: Kernel, name: str, language: Language) -> CText:
    """The text of a kernel, whose kernels' names begin with `name`. Raises KernelError where threads wait for one
    another."""
    phases, defined = kernel.phases, Definitions()
    thread = Set(phases.thread, Node("var", "i", (), ".thread")) if phases.thread else None
    bodies = {
        "first": phases.first,
        "each": (*phases.each, thread, *phases.loop) if thread else (),
        "last": (*phases.each, *phases.after) if phases.after else (),
    }
    for body in (*(each.body for each in kernel.helpers), *bodies.values()):
        _check(kernel, body)
    texts = [_helper(each, defined, language) for each in kernel.helpers]
    names = {phase: f"{name}_{phase}" if body else "" for phase, body in bodies.items()}
    texts += [_kernel(kernel.entry, body, names[phase], defined, language) for phase, body in bodies.items() if body]
    return CText("\n".join([*defined.texts.values(), *texts]), **names)


class DeviceText(NamedTuple):
    """The text of a kernel of accelerators: what stands before it, its parameters, its statements up to the brace.

    given: which of all scalars of the arguments are its parameters: all but lengths that are not read.
    """

    before: str
    declaration: str
    statements: str
    given: tuple[int, ...]


def device_text(kernel: DeviceKernel, known: Mapping[int, int] = NONE) -> DeviceText:
    """The text of a kernel of accelerators, whose arrays do not overlap. The text is that of both languages: products
    may be contracted with sums. known: values of integers among the scalars of the arguments, by their places."""
    entry, defined = kernel.entry, Definitions()
    texts = [_helper(each, defined, "opencl") for each in kernel.helpers]
    read = names_read(entry.body)
    fixed = {name: known[place] for place, name in enumerate(entry.parameters) if place in known}
    names = [name for name in entry.parameters if name not in fixed and (name in read or not _is_length(name, entry))]
    declared = [_parameter(name, entry, defined) for name in names]
    constants = [f"const {defined.declared(name, 'i')} = {value};" for name, value in fixed.items() if name in read]
    lines = Statements(entry, defined, "opencl").body(entry.body, constants)
    before = "\n".join([*defined.texts.values(), *texts, ""])
    places = {name: k for k, name in enumerate(entry.parameters)}
    return DeviceText(before, ", ".join(declared), "\n".join(["", *lines, "}", ""]), tuple(places[n] for n in names))


def _is_length(name: str, of: Function) -> bool:
    """True for a scalar that is a length of an array."""
    first, _, place = name.rpartition(".")
    before = f"{first}.{int(place) - 1}" if first and place.isdigit() and place != "0" else ""
    return bool(before) and (isinstance(of.parameters[before], Pointer) or _is_length(before, of))


def _parameter(name: str, of: Function, defined: Definitions) -> str:
    t = of.parameters[name]
    if isinstance(t, Pointer):
        return f"{defined.type(t)} RESTRICT {in_c(name)}"
    return f"const {defined.declared(name, t)}"


def _helper(of: Function, defined: Definitions, language: Language) -> str:
    read = zip(of.parameters.items(), of.parameters_read, strict=True)
    given = ", ".join(defined.declared(name, t) for (name, t), wanted in read if wanted)
    head = f"DEVICE {defined.results(of.results)} {function_in_c(of)}({given or 'void'})"
    return _braced(head, Statements(of, defined, language).body(of.body))


def _kernel(of: Function, body: Block, name: str, defined: Definitions, language: Language) -> str:
    (counters, threads, length), arguments = list(of.parameters)[:3], list(of.parameters.items())[3:]
    given = ", ".join(defined.declared(argument, t) for argument, t in arguments)
    # The counters of threads are those of the cores; here their number is read alone.
    declared = [f"GLOBAL I64* {in_c(counters)} = 0;", f"const I64 {in_c(threads)} = {THREADS}, {in_c(length)} = 1;"]
    declared += [f"const I64 {in_c('.thread')} = {THREAD};"]
    return _braced(f"KERNEL {name}({given})", Statements(of, defined, language).body(body, declared))


def _braced(head: str, lines: list[str]) -> str:
    return "\n".join([head, "{", *lines, "}", ""])


def _check(kernel: Kernel, body: Block) -> None:
    for line in (each for statement in body for each in statements_in(statement)):
        match line:
            case Set(value=Node("atomic", of=word)) | Do(call=Node("atomic", of=word)):
                place = f"{kernel.source.file}:{kernel.source.tree.lineno}"
                why = f"{OF_CORES[str(word)]} is a word of the cores, whose threads may wait for one another"
                raise KernelError(f"{place}: {why}: {kernel.entry.name}")
