"""The kernels of paper lines: the loop of a pass, and one group that adds partial sums and evaluates scalar lines."""

from __future__ import annotations

import dataclasses
import functools
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.prelude import STOP
from workbench.devices.kernels.source import fill
from workbench.kernel_language.c_text import c_text, statements
from workbench.kernel_language.of_lines import WHOLE, LineTrees, real_part
from workbench.kernel_language.tree import Comparison, Constant, Element, Type, real_of
from workbench.lines.schedule import Pass
from workbench.lines.types import Formula, Shapes, Solve


def trees(
    shapes: Shapes,
    slots: Mapping[str, int],
    dtype: np.dtype,
    wide: np.dtype,
    stored: Mapping[str, np.dtype] | None = None,
    split: tuple[str, ...] = (),
) -> LineTrees:
    """What makes the trees of lines whose scalars are in slots; stored: dtypes of vectors not kept in dtype."""
    places = {name: Constant(slot, WHOLE) for name, slot in slots.items()}
    return LineTrees(shapes, places, dtype, wide, stored, split)


@functools.lru_cache(512)
def body(lines_of: LineTrees, step: Pass) -> KernelText:
    """The loop `body`; its arguments are the arrays, the scalars, partial sums where there are dot products, and n.

    partial[k*groups + group] is the partial sum of dot product k over a group. A stopped run changes no vector.
    """
    of = lines_of.rows(step)
    stop = Element("scalars", Constant(STOP, WHOLE), Type(of.wide))
    running = Comparison("==", real_part(stop), Constant(0, Type(real_of(of.wide))))
    return KernelText.of(c_text(dataclasses.replace(of, wanted=running), spread=True), "body")


@functools.lru_cache(512)
def finish(lines_of: LineTrees, sums: tuple[tuple[int, int], ...], lines: tuple[Formula | Solve, ...]) -> KernelText:
    """Kernel of one group: adds partial sums, each (row of `partial`, slot), then evaluates scalar lines in order."""
    of = lines_of.once(lines)
    text = _added_up([row for row, _ in sums]) if sums else []
    text += ["    if (LOCAL_ID == 0 && W_REAL(scalars[STOP]) == 0) {"]
    text += [f"        scalars[{slot}] = room[{k}*FINISH];" for k, (_, slot) in enumerate(sums)]
    text += [*statements(of, of.before, 2), "    }", "}"]
    declaration = "GLOBAL W* scalars, GLOBAL const W* partial, const I64 count"
    return KernelText("finish", declaration, "\n".join(["", *text, ""]), on_scalars=True, partial_count=2)


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
