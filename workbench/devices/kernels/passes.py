"""The kernels of paper lines: the loop of a pass, and one group that adds partial sums and evaluates scalar lines."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

import numpy as np

from workbench.compiler.kinds import INT, Array, Kind
from workbench.devices.kernels import frames
from workbench.devices.kernels.device_kernels import printed
from workbench.devices.kernels.kernel_text import KernelText
from workbench.kernel_language.lines_text import LinesText, function_of_rows, row_of
from workbench.lines.block_passes import BlockPass
from workbench.lines.entries import of_lines
from workbench.lines.schedule import Pass
from workbench.lines.types import Formula, Shape, Shapes, Solve


@dataclasses.dataclass(frozen=True)
class PassTexts:
    """The kernels of the passes of one program.

    shapes: of every name; slots: where each scalar and the first entry of each small matrix lies among all. vector,
    wide: the dtypes of vectors and of sums. stored: those of vectors that are kept in another one. split: see
    `LinesText`.
    """

    shapes: tuple[tuple[str, Shape], ...]
    slots: tuple[tuple[str, int], ...]
    vector: np.dtype
    wide: np.dtype
    stored: tuple[tuple[str, np.dtype], ...] = ()
    split: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        shapes: Shapes,
        slots: Mapping[str, int],
        vector: np.dtype,
        wide: np.dtype,
        stored: Mapping[str, np.dtype] | None = None,
        split: tuple[str, ...] = (),
    ) -> PassTexts:
        """The texts for names in mappings."""
        kept = tuple((stored or {}).items())
        return cls(tuple(shapes.items()), tuple(slots.items()), np.dtype(vector), np.dtype(wide), kept, split)

    @property
    def lines(self) -> LinesText:
        """The functions of lines."""
        others = frozenset(name for name, dtype in self.stored if dtype != self.vector)
        places = {name: str(slot) for name, slot in self.slots}
        return LinesText(dict(self.shapes), places, others, self.split)

    def body(self, step: Pass) -> KernelText:
        """The loop `body`; its arguments are the arrays, the scalars, partial sums of any dot products, and n.

        partial[k*groups + group] is the partial sum of dot product k over a group. A stopped run changes no vector.
        """
        return _body(self, step)

    def finish(self, sums: tuple[tuple[int, int], ...], lines: tuple[Formula | Solve, ...]) -> KernelText:
        """Kernel of one group: adds partial sums, each (row of `partial`, slot), then evaluates scalar lines in
        order."""
        return _finish(self, sums, lines)


@functools.lru_cache(512)
def _body(of: PassTexts, step: Pass) -> KernelText:
    lines, stored = of.lines, dict(of.stored)
    sums = len(of_lines(step.dots, dict(of.shapes)))
    arrays = [Array(stored.get(name, of.vector), 1) for name in step.arrays]
    arrays += [Array(dtype, 1) for dtype in (of.wide, np.dtype(np.int32)) for _ in of.split]
    scalars = Array(of.wide, 1)
    kinds: tuple[Kind, ...] = tuple(arrays), scalars, scalars if sums else (), INT
    numbers, row = (row_of(text, of.vector, of.wide) for text in (lines.numbers(step), lines.row(step)))
    given = {"numbers": numbers, "row": row, "dtype": of.wide, "sums": sums}
    return printed(frames.body, "body", kinds, (of.vector, of.wide), given).text


@functools.lru_cache(512)
def _finish(of: PassTexts, sums: tuple[tuple[int, int], ...], lines: tuple[Formula | Solve, ...]) -> KernelText:
    evaluated = row_of(of.lines.before(lines), of.vector, of.wide)
    kinds = Array(of.wide, 1), Array(of.wide, 1), INT
    rows, slots = (tuple(pair[k] for pair in sums) for k in range(2))
    given = {"lines": evaluated, "rows": rows, "slots": slots, "dtype": of.wide}
    text = printed(frames.finish, "finish", kinds, (of.vector, of.wide), given, "FINISH").text
    return dataclasses.replace(text, on_scalars=True, partial_count=2)


@functools.lru_cache(512)
def block_pass(work: BlockPass, columns: int, vector: np.dtype, wide: np.dtype) -> KernelText:
    """A pass of block vectors. Arguments: the block vectors, the vectors, the matrices of one row in the precision of
    sums, `stopped`, a number: nothing is computed where it is not 0, partial sums, if there are any, and the rows."""
    sums = len(work.products)
    arrays = tuple(Array(vector, 2) for _ in work.arrays)
    factors = tuple(Array(vector, 1) for _ in work.factors)
    matrices = tuple(Array(wide, 1) for _ in work.rows)
    stopped = Array(np.finfo(wide).dtype, 1)
    kinds: tuple[Kind, ...] = arrays, factors, matrices, stopped, Array(wide, 1) if sums else (), INT
    given = {"row": function_of_rows(work, vector, wide), "width": columns, "dtype": wide, "sums": sums}
    return printed(frames.block_pass, "block_pass", kinds, (vector, wide), given).text
