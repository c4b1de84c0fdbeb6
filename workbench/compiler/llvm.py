"""The printer for the cores: LLVM's text of a kernel and its helpers, in which each thread calls one function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from workbench.compiler.kinds import real_of
from workbench.compiler.llvm_expressions import ATOMIC
from workbench.compiler.llvm_lines import results_of, typename
from workbench.compiler.llvm_statements import Statements
from workbench.compiler.reading import Kernel
from workbench.compiler.tree import ONE, For, Function, Node, Set


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
