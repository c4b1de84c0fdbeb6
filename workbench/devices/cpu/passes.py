"""One pass of paper lines as a numba kernel: all vector lines and dot products of the pass in one parallel sweep.

Every array is cut into chunks whose number depends on N alone, and partial sums are added in order, so a result does
not depend on the number of threads. Inner loops run over slices from 0: numba proves such an index non-negative and
LLVM vectorizes the loop, which `for i in range(low, high)` prevents.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np

from workbench.devices.cpu import generated
from workbench.devices.cpu.threads import chunks_of, launch, prepare
from workbench.devices.lines.language import Dot, Formula
from workbench.devices.lines.plan import Pass
from workbench.devices.lines.reference import accumulator


class PassKernel(NamedTuple):
    """A kernel, and which scalars of the workspace it calls by which number."""

    kernel: Callable[..., None]
    slots: np.ndarray


def compile_pass(step: Pass, vectors: Collection[str], slots: Mapping[str, int], dtype: np.dtype) -> PassKernel:
    """The kernel of one pass; its arguments are the loads and stores, the scalars with the numbers of those that it
    uses, and room for partial sums."""
    text, used = numbered(source(step, vectors, slots, dtype))
    return PassKernel(generated.kernel(text), np.array(used, np.int64))


def bind_pass(compiled: PassKernel, step: Pass, arrays: list[np.ndarray], scalars: np.ndarray) -> Callable[[], None]:
    """The kernel with its arrays fixed."""
    size = arrays[0].size if arrays else 0
    partial = np.zeros((chunks_of(size), max(1, len(step.dots))), scalars.dtype)
    kernel, slots = compiled
    prepare(kernel, *arrays, scalars, slots, partial)
    return lambda: launch(size, kernel, *arrays, scalars, slots, partial)


def numbered(text: str) -> tuple[str, list[int]]:
    """The text with its names and slots numbered as they come, and the slots in that order.

    Programs that differ in names alone, or in where their scalars lie, then share a kernel: the methods of a family
    have most of their passes in common.
    """
    names: dict[str, int] = {}
    used: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        if match["slot"]:
            return f"scalars[slots[{used.setdefault(match['slot'], len(used))}]]"
        return f"{match['kind']}_{names.setdefault(match['name'], len(names))}"

    text = re.sub(r"\bscalars\[(?P<slot>\d+)\]|\b(?P<kind>[axvsc])_(?P<name>\w+)", number, text)
    return text, [int(slot) for slot in used]


def source(step: Pass, vectors: Collection[str], slots: Mapping[str, int], dtype: np.dtype) -> str:
    """The Python text of the kernel, with the names of the lines: a_ an array, x_ its chunk, v_ an element, s_ a scalar
    and c_ the same in the precision of the vectors."""
    dtype, wide = np.dtype(dtype), accumulator(dtype)
    arrays = list(dict.fromkeys([*step.loads, *step.stores]))
    text = [f"def kernel({', '.join(['turns', *('a_' + name for name in arrays), 'scalars', 'slots', 'partial'])}):"]
    text += [f"    {line}" for line in _scalar_lines(step, vectors, slots, dtype, wide)]
    if step.body:
        text += [f"    {line}" for line in _sweep(step, arrays, vectors, dtype, wide)]
        for place, dot in enumerate(step.dots):
            text += [
                f"    total = {_zero(wide)}",
                "    for chunk in range(chunks):",
                f"        total += partial[chunk, {place}]",
                f"    scalars[{slots[dot.target]}] = total",
            ]
    return "\n".join(text) + "\n"


def _scalar_lines(
    step: Pass, vectors: Collection[str], slots: Mapping[str, int], dtype: np.dtype, wide: np.dtype
) -> list[str]:
    used = [name for line in (*step.scalars, *step.body) if isinstance(line, Formula) for name in line.names]
    names = [name for name in dict.fromkeys(used) if name not in vectors]
    text = [f"s_{name} = scalars[{slots[name]}]" for name in names]
    for line in step.scalars:
        text.append(f"s_{line.target} = np.{wide.name}({_expression(line.expression, vectors, wide, 's_')})")
        text.append(f"scalars[{slots[line.target]}] = s_{line.target}")
    in_body = [name for line in step.body if isinstance(line, Formula) for name in line.names if name not in vectors]
    return text + [f"c_{name} = np.{dtype.name}(s_{name})" for name in dict.fromkeys(in_body)]


def _sweep(step: Pass, arrays: list[str], vectors: Collection[str], dtype: np.dtype, wide: np.dtype) -> list[str]:
    loop: list[str] = [f"v_{name} = x_{name}[i]" for name in step.loads]
    place = 0
    for line in step.body:
        if isinstance(line, Dot):
            left, right = (f"np.{wide.name}(v_{name})" for name in (line.left, line.right))
            left = f"np.conj({left})" if wide.kind == "c" else left
            loop.append(f"sum_{place} += {left}*{right}")
            place += 1
        else:
            loop.append(f"v_{line.target} = np.{dtype.name}({_expression(line.expression, vectors, dtype, 'c_')})")
    loop += [f"x_{name}[i] = v_{name}" for name in step.stores]
    body = ["low = n*chunk//chunks", "high = n*(chunk + 1)//chunks"]
    body += [f"x_{name} = a_{name}[low:high]" for name in arrays]
    body += [f"sum_{k} = {_zero(wide)}" for k in range(place)]
    body += ["for i in range(high - low):", *(f"    {line}" for line in loop)]
    body += [f"partial[chunk, {k}] = sum_{k}" for k in range(place)]
    return [f"n = a_{arrays[0]}.size", "chunks = partial.shape[0]", *generated.over("chunks", body)]


def _zero(dtype: np.dtype) -> str:
    return "0j" if dtype.kind == "c" else "0.0"


def _expression(node: ast.expr, vectors: Collection[str], dtype: np.dtype, scalar: str) -> str:
    """The expression in Python text: vectors as v_name, scalars with the prefix `scalar`, constants in `dtype`."""

    def text(part: ast.expr) -> str:
        match part:
            case ast.Name(id=name):
                return f"v_{name}" if name in vectors else f"{scalar}{name}"
            case ast.Constant(value=value):
                return f"np.{np.finfo(dtype).dtype.name}({float(value)!r})"  # pyright: ignore[reportArgumentType]
            case ast.BinOp():
                if isinstance(part.op, ast.Div) and dtype.kind == "c":
                    # numba's complex / raises on a zero divisor, whatever the error model; NumPy's division does not.
                    return f"np.true_divide({text(part.left)}, {text(part.right)})"
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(part.op)]
                return f"({text(part.left)} {sign} {text(part.right)})"
            case ast.UnaryOp():
                return f"(-{text(part.operand)})" if isinstance(part.op, ast.USub) else text(part.operand)
            case ast.Call(func=ast.Name(id=name)):
                return f"np.{name}({text(part.args[0])})"
            case ast.IfExp(test=ast.Compare(left=left, ops=[comparison], comparators=[right])):
                sign = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}[type(comparison)]
                truth = f"np.real({text(left)}) {sign} np.real({text(right)})"
                kind = f"np.{dtype.name}"
                return f"({kind}({text(part.body)}) if {truth} else {kind}({text(part.orelse)}))"
        raise AssertionError(f"the parser let {ast.unparse(part)} through")

    return text(node)
