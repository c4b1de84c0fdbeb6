"""The kernels of paper lines: the loop of a pass, and one group that adds partial sums and evaluates scalar lines."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.source import fill
from workbench.lines.entries import Element, Sum, elements, of_line, of_lines, slot_of
from workbench.lines.printer import C, printed, variable
from workbench.lines.schedule import Pass
from workbench.lines.solution import c_text
from workbench.lines.types import Formula, Name, Shapes, Solve, tall_names


def sums_of(step: Pass, shapes: Shapes) -> list[Sum]:
    """The dot products of a pass, element by element, in the order of its partial sums."""
    return [element for element in of_lines(step.dots, shapes) if isinstance(element, Sum)]


def body(
    step: Pass, shapes: Shapes, slots: Mapping[str, int], dtype: np.dtype, single: Collection[str] = ()
) -> KernelText:
    """The loop `body`; its arguments are the arrays, the scalars, partial sums where there are dot products, and n.

    single: vectors of real numbers that are stored in single precision, whatever dtype is.
    partial[k*groups + group] is the partial sum of dot product k over a group. A stopped run changes no vector.
    """
    arguments = [
        f"GLOBAL {'' if name in step.stores else 'const '}{'float' if name in single else 'T'}* RESTRICT a_{name}"
        for name in step.arrays
    ]
    arguments += ["GLOBAL const W* scalars", *(["GLOBAL W* partial"] if step.dots else []), "const I64 n"]
    used = {name for line in step.body if isinstance(line, Formula) for name in line.reads if not shapes[name].has_rows}
    numbers = [element for name in sorted(used) for element in elements(name, shapes)]
    count = len(sums_of(step, shapes))
    text = [f"    SHARED(W, room, {count}*(GROUP + STRIPS));"] if count else []
    text += [
        f"    const T {variable('c', element)} = T_OF_W(scalars[{slot_of(element, slots, shapes)}]);"
        for element in numbers
    ]
    text += [f"    W sum_{k} = W_OF(0);" for k in range(count)]
    text += ["    const I64 end = W_REAL(scalars[STOP]) == 0 ? n : 0;", "    FOR_EACH(i, end) {"]
    text += [f"        {line}" for line in of_a_row(step, shapes, dtype)] + ["    }"]
    text += [f"    room[{k}*GROUP + LOCAL_ID] = sum_{k};" for k in range(count)]
    text += [f"    STORE_GROUP_SUMS(room, partial, {count});"] if count else []
    return KernelText("body", ", ".join(arguments), _closed(text))


def of_a_row(step: Pass, shapes: Shapes, dtype: np.dtype) -> list[str]:
    """The statements of the loop for row i."""

    def place(element: Element) -> str:
        if isinstance(element, Name):
            return f"a_{element.name}[i]"
        return f"a_{element.name}[{shapes[element.name].columns}*i + {element.column}]"

    loads = [element for name in step.loads for element in elements(name, shapes)]
    rows = [f"T {variable('v', element)} = {place(element)};" for element in loads]
    dialect, known, number = C(np.dtype(dtype), "T", tall_names(shapes), "c"), set(loads), 0
    for made in (made for line in step.body for made in of_line(line, shapes)):
        if isinstance(made, Sum):
            pair = f"{variable('v', made.left)}, {variable('v', made.right)}"
            rows.append(f"sum_{number} = W_ADD(sum_{number}, W_DOT({pair}));")
            number += 1
        else:
            declare = "" if made.target in known else "T "
            known.add(made.target)
            rows.append(f"{declare}{variable('v', made.target)} = {printed(made.expression, dialect)};")
    stores = [element for name in step.stores for element in elements(name, shapes)]
    return rows + [f"{place(element)} = {variable('v', element)};" for element in stores]


def finish(
    sums: Sequence[tuple[int, int]],
    lines: Sequence[Formula | Solve],
    shapes: Shapes,
    slots: Mapping[str, int],
    wide: np.dtype,
) -> KernelText:
    """Kernel of one group: adds partial sums, each (row of `partial`, slot), then evaluates scalar lines in order."""
    text = _added_up([row for row, _ in sums]) if sums else []
    text += ["    if (LOCAL_ID == 0 && W_REAL(scalars[STOP]) == 0) {"]
    formulas = [line for line in lines if isinstance(line, Formula)]
    names = [name for name in slots if any(name in line.reads for line in formulas)]
    names += [line.target for line in formulas if line.target not in names]
    places = {element: slot_of(element, slots, shapes) for name in names for element in elements(name, shapes)}
    made = {slot for _, slot in sums}
    text += [f"        W {variable('s', one)} = scalars[{slot}];" for one, slot in places.items() if slot not in made]
    for k, (_, slot) in enumerate(sums):
        text += [f"        scalars[{slot}] = room[{k}*FINISH];"]
        text += [f"        W {variable('s', one)} = room[{k}*FINISH];" for one in places if places[one] == slot]
    for line in lines:
        text += [f"        {row}" for row in _scalar_line(line, shapes, slots, wide, line.target in names)]
    declaration = "GLOBAL W* scalars, GLOBAL const W* partial, const I64 count"
    return KernelText("finish", declaration, _closed([*text, "    }"]), on_scalars=True, partial_count=2)


def _closed(rows: Sequence[str]) -> str:
    """Statements as the text of a kernel after its opening brace."""
    return "\n".join(["", *rows, "}"]) + "\n"


def _scalar_line(
    line: Formula | Solve, shapes: Shapes, slots: Mapping[str, int], wide: np.dtype, used: bool
) -> list[str]:
    """The statements of a scalar line: its result goes to its slots and, if it is used later, to variables."""
    targets = {element: f"scalars[{slot_of(element, slots, shapes)}]" for element in elements(line.target, shapes)}
    if isinstance(line, Solve):
        loaded = [f"{variable('s', element)} = {place};" for element, place in targets.items()]
        return c_text(line, shapes, slots) + (loaded if used else [])
    dialect, rows = C(wide, "W", (), "s"), []
    for made in of_line(line, shapes):
        assert not isinstance(made, Sum)
        declare = "" if made.target in targets else "const W "
        rows.append(f"{declare}{variable('s', made.target)} = {printed(made.expression, dialect)};")
        if made.target in targets:
            rows.append(f"{targets[made.target]} = {variable('s', made.target)};")
    return rows


def _added_up(rows: Sequence[int]) -> list[str]:
    """Lines that store the sum of row `rows[k]` of the partial sums in room[k*FINISH]."""
    places = [f"room[{k}*FINISH + LOCAL_ID]" for k in range(len(rows))]
    text = fill(
        "finish_tree",
        sums=len(rows),
        partial="".join(fill("finish_partial", k=k, row=row) for k, row in enumerate(rows)),
        add="\n".join(f"{place} = W_ADD({place}, {place[:-1]} + reach]);" for place in places),
    )
    return textwrap.indent(text, "    ").splitlines()
