"""The kernels of paper lines: a sweep for the body of a pass, and one group that adds up and evaluates scalar lines."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from workbench.devices.kernels.prelude import literal
from workbench.devices.lines.language import Dot, Formula
from workbench.devices.lines.plan import Pass


def arrays_of(step: Pass) -> list[str]:
    """The vectors that a pass touches, in the order of the kernel's arguments."""
    return list(dict.fromkeys([*step.loads, *step.stores]))


def body(step: Pass, vectors: Collection[str], slots: Mapping[str, int], dtype: np.dtype) -> str:
    """The sweep `body`; its arguments are the arrays, the scalars, partial sums where there are dot products, and n.

    partial[k*groups + group] is a group's part of dot product k. A stopped run changes no vector.
    """
    arguments = [f"GLOBAL {'T*' if name in step.stores else 'const T*'} RESTRICT a_{name}" for name in arrays_of(step)]
    arguments += ["GLOBAL const W* scalars", *(["GLOBAL W* partial"] if step.dots else []), "const I64 n"]
    used = {name for line in step.body if isinstance(line, Formula) for name in line.names if name not in vectors}
    text = [f"KERNEL body({', '.join(arguments)})", "{"]
    text += [f"    SHARED(W, room, {len(step.dots)}*(GROUP + STRIPS));"] if step.dots else []
    text += [f"    const T c_{name} = T_OF_W(scalars[{slots[name]}]);" for name in sorted(used)]
    text += [f"    W sum_{k} = W_OF(0);" for k in range(len(step.dots))]
    text += ["    const I64 end = W_REAL(scalars[STOP]) == 0 ? n : 0;", "    EACH(i, end) {"]
    loads = [f"T v_{name} = a_{name}[i];" for name in step.loads]
    known, place = set(step.loads), 0
    lines = []
    for line in step.body:
        if isinstance(line, Dot):
            lines.append(f"sum_{place} = W_ADD(sum_{place}, W_DOT(v_{line.left}, v_{line.right}));")
            place += 1
        else:
            declare = "" if line.target in known else "T "
            known.add(line.target)
            lines.append(f"{declare}v_{line.target} = {expression(line.expression, vectors, dtype, 'T', 'c_')};")
    stores = [f"a_{name}[i] = v_{name};" for name in step.stores]
    text += [f"        {line}" for line in (*loads, *lines, *stores)] + ["    }"]
    text += [f"    room[{k}*GROUP + LOCAL_ID] = sum_{k};" for k in range(place)]
    text += [f"    LEAVE_SUMS(room, partial, {place});"] if place else []
    return "\n".join([*text, "}"]) + "\n"


def finish(sums: Sequence[tuple[int, int]], lines: Sequence[Formula], slots: Mapping[str, int], wide: np.dtype) -> str:
    """One group: adds up partial sums, each (row of `partial`, slot), and then evaluates scalar lines, in order."""
    text = ["KERNEL finish(GLOBAL W* scalars, GLOBAL const W* partial, const I64 count)", "{"]
    if sums:
        text += [f"    SHARED(W, room, {len(sums)}*FINISH);"]
        for k, (row, _) in enumerate(sums):
            text += [
                f"    W sum_{k} = W_OF(0);",
                "    for (I64 i = LOCAL_ID; i < count; i += FINISH)",
                f"        sum_{k} = W_ADD(sum_{k}, partial[{row}*count + i]);",
                f"    room[{k}*FINISH + LOCAL_ID] = sum_{k};",
            ]
        text += [
            "    BARRIER;",
            "    for (int reach = FINISH/2; reach > 0; reach /= 2) {",
            "        if (LOCAL_ID < reach) {",
        ]
        for k in range(len(sums)):
            here = f"room[{k}*FINISH + LOCAL_ID]"
            text += [f"            {here} = W_ADD({here}, room[{k}*FINISH + LOCAL_ID + reach]);"]
        text += ["        }", "        BARRIER;", "    }"]
    text += ["    if (LOCAL_ID == 0 && W_REAL(scalars[STOP]) == 0) {"]
    names = {name: slot for name, slot in slots.items() if any(name in line.names for line in lines)}
    made = {slot for _, slot in sums}
    names |= {line.target: slots[line.target] for line in lines}
    text += [f"        W s_{name} = scalars[{slot}];" for name, slot in names.items() if slot not in made]
    for k, (_, slot) in enumerate(sums):
        text += [f"        scalars[{slot}] = room[{k}*FINISH];"]
        text += [f"        W s_{name} = room[{k}*FINISH];" for name in names if names[name] == slot]
    for line in lines:
        text += [f"        s_{line.target} = {expression(line.expression, (), wide, 'W', 's_')};"]
        text += [f"        scalars[{slots[line.target]}] = s_{line.target};"]
    return "\n".join([*text, "    }", "}"]) + "\n"


def expression(node: ast.expr, vectors: Collection[str], dtype: np.dtype, kind: str, scalar: str) -> str:
    """An expression as C text in the type `kind`, T or W: vectors are v_name, scalars have the prefix `scalar`."""
    operations = {ast.Add: "ADD", ast.Sub: "SUB", ast.Mult: "MUL", ast.Div: "DIV"}
    signs = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}

    def text(part: ast.expr) -> str:
        match part:
            case ast.Name(id=name):
                return f"v_{name}" if name in vectors else f"{scalar}{name}"
            case ast.Constant(value=int() | float() as value):
                return f"{kind}_OF({literal(value, dtype)})"
            case ast.BinOp():
                return f"{kind}_{operations[type(part.op)]}({text(part.left)}, {text(part.right)})"
            case ast.UnaryOp():
                return f"{kind}_NEG({text(part.operand)})" if isinstance(part.op, ast.USub) else text(part.operand)
            case ast.Call(func=ast.Name(id=name)):
                return f"{kind}_{name.upper()}({text(part.args[0])})"
            case ast.IfExp(test=ast.Compare(left=left, ops=[comparison], comparators=[right])):
                truth = f"{kind}_REAL({text(left)}) {signs[type(comparison)]} {kind}_REAL({text(right)})"
                return f"({truth} ? {text(part.body)} : {text(part.orelse)})"
        raise AssertionError(f"the parser let {ast.unparse(part)} through")

    return text(node)
