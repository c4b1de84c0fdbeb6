"""The printer for accelerators: C of a kernel and its helpers, behind a prelude for OpenCL C or CUDA C.

The prelude, `workbench.devices.kernels.prelude`, defines KERNEL, DEVICE, GLOBAL, LOCAL, SHARED, RESTRICT, WHOLE,
PUT_WHOLE, NO_CONTRACTION, BARRIER, I64, U64, GROUP, GROUPS, GROUP_ID, LOCAL_ID, STRIPS and those of the loop over
`items`. In kernels of the cores a thread of the text is a work-item: chunks are divided among all of them.

Of these, what runs first, on each thread and last are kernels of their own, to be launched one after the other: the
first and the last one with one work-item. Arguments are those behind the counters, an array as its address and its
lengths, a complex number as two, a truth as an int.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from workbench.compiler.c_lines import Definitions, Language, function_in_c, in_c
from workbench.compiler.c_statements import Statements
from workbench.compiler.kinds import KernelError
from workbench.compiler.reading import DeviceKernel, Kernel
from workbench.compiler.tree import Block, Do, Function, Node, Pointer, Set, names_read, statements_in

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
