"""One pass of paper lines as a numba kernel: all vector updates and dot products of the pass in one parallel loop.

Every array is cut into chunks whose number depends on N alone, and partial sums are added in order, so a result does
not depend on the number of threads. Inner loops run over slices from 0: numba proves such an index non-negative and
LLVM vectorizes the loop, which `for i in range(low, high)` prevents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from workbench.devices.programs.one_pass import OnePass
from workbench.jit import generated
from workbench.jit.compiled import Kernel
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.lines.entries import Element, Sum, elements, of_line, of_lines, offset_of
from workbench.lines.printer import Numba, printed, variable
from workbench.lines.schedule import Pass
from workbench.lines.solution import numba_text, work_of
from workbench.lines.types import VECTOR, Formula, Name, Shapes, Solve, accumulator, tall_names


class PassKernel(NamedTuple):
    """A kernel, and the places among the scalars that it uses. sums: number of dot products."""

    kernel: Kernel
    slots: np.ndarray
    sums: int


def compile_pass(step: Pass, shapes: Shapes, slots: Mapping[str, int], dtype: np.dtype) -> PassKernel:
    """Compile one pass. Arguments of the kernel: loads and stores, all scalars, the places of those that it uses, and
    memory for partial sums."""
    numbers = _numbers(step)
    step, shapes = step.renamed(numbers), {numbers[name]: shapes[name] for name in numbers if name in shapes}
    used = {numbers[name]: slots[name] for name in numbers if name in slots}
    text = source(step, shapes, {name: f"slots[{k}]" for k, name in enumerate(used)}, dtype)
    sums = len(of_lines(step.dots, shapes))
    return PassKernel(generated.kernel(text), np.array(list(used.values()), np.int64), sums)


def bind_pass(compiled: PassKernel, step: Pass, arrays: list[np.ndarray], scalars: np.ndarray) -> Callable[[], None]:
    """A launch of the kernel on fixed arrays."""
    size = len(arrays[0]) if arrays else 0
    kernel, slots, sums = compiled
    partial = np.zeros((chunks_of(size), max(1, sums)), scalars.dtype)
    prepare(kernel, *arrays, scalars, slots, partial)
    return lambda: launch(size, kernel, *arrays, scalars, slots, partial)


class OnePassOnCores(OnePass):
    """See `OnePass`; the next application overwrites the dot products.

    numbers: the values of the scalars, in order; they may be changed between applications.
    """

    numbers: np.ndarray
    _kernel: PassKernel
    _size = 0
    _more: tuple[np.ndarray, ...]
    """The scalars, the places of those that the kernel uses, and memory for partial sums."""
    _dots: np.ndarray | None

    def prepare(self, dtype: np.dtype) -> None:
        """Compile for vectors of this dtype, ahead of the first application."""
        slots, count = self._slots(0), len(self._numbers)
        self._kernel = compile_pass(self._step, self._shapes, slots, dtype)
        scalars = np.zeros(len(slots), accumulator(dtype))
        self.numbers, self._dots = scalars[:count], scalars[count:] if self._kernel.sums else None
        self.numbers[:] = list(self._numbers.values())
        self._more = scalars, self._kernel.slots, np.zeros((1, max(1, self._kernel.sums)), scalars.dtype)
        vector = np.empty(0, dtype)
        prepare(self._kernel.kernel, *[vector] * len(self._places), *self._more)

    def apply(self, *vectors: np.ndarray) -> np.ndarray | None:
        """Run on vectors of one size, in the order of the names."""
        if vectors[0].size != self._size:
            self._resize(vectors[0].size)
        launch(self._size, self._kernel.kernel, *self._arrays(vectors), *self._more)
        return self._dots

    def _resize(self, size: int) -> None:
        scalars, slots, partial = self._more
        self._size, self._more = size, (scalars, slots, np.zeros((chunks_of(size), partial.shape[1]), partial.dtype))


def _numbers(step: Pass) -> dict[str, str]:
    """A number for each name of a pass, in order of occurrence.

    Programs that differ only in names then share a kernel: the methods of a family have most of their passes in common.
    """
    lines = (*step.scalars, *step.body)
    names = [*step.arrays, *(name for line in lines for name in (*line.reads, line.target))]
    numbers = {name: str(k) for k, name in enumerate(dict.fromkeys(names))}
    solved = [line for line in step.scalars if isinstance(line, Solve)]
    return numbers | {work_of(line): work_of(line.renamed(numbers)) for line in solved}


def source(step: Pass, shapes: Shapes, slots: Mapping[str, str], dtype: np.dtype) -> str:
    """The Python text of the kernel. Prefixes of names: a_ an array, x_ its chunk, v_ an element, s_ a scalar, c_ a
    scalar in the precision of the vectors. slots: where each scalar and small matrix lies, as text."""
    dtype, wide = np.dtype(dtype), accumulator(dtype)
    arrays = [f"a_{name}" for name in step.arrays]
    text = [f"def kernel({', '.join(['taken', *arrays, 'scalars', 'slots', 'partial'])}):"]
    text += [f"    {line}" for line in _scalar_lines(step, shapes, slots, dtype, wide)]
    if step.body:
        text += [f"    {line}" for line in _loop(step, shapes, dtype, wide)]
        sums = [element for element in of_lines(step.dots, shapes) if isinstance(element, Sum)]
        for place, element in enumerate(sums):
            text += [
                f"    total = {_zero(wide)}",
                "    for chunk in range(chunks):",
                f"        total += partial[chunk, {place}]",
                f"    {_place(element.target, slots, shapes)} = total",
            ]
    return "\n".join(text) + "\n"


def _scalar_lines(step: Pass, shapes: Shapes, slots: Mapping[str, str], dtype: np.dtype, wide: np.dtype) -> list[str]:
    def loaded(name: str) -> list[str]:
        return [f"{variable('s', element)} = {_place(element, slots, shapes)}" for element in elements(name, shapes)]

    dialect = Numba(wide, tall_names(shapes), "s")
    used = [name for line in step.scalars if isinstance(line, Formula) for name in line.reads]
    text = [row for name in dict.fromkeys(used) if not shapes[name].has_rows for row in loaded(name)]
    for line in step.scalars:
        if isinstance(line, Solve):
            text += [*numba_text(line, shapes, slots), *(loaded(line.target) if line.target in used else [])]
            continue
        made = elements(line.target, shapes)
        text += _assigned(line, shapes, dialect, wide)
        text += [f"{_place(element, slots, shapes)} = {variable('s', element)}" for element in made]
    in_body = [
        name for line in step.body if isinstance(line, Formula) for name in line.reads if not shapes[name].has_rows
    ]
    numbers = [element for name in dict.fromkeys(in_body) for element in elements(name, shapes)]
    # From where they are kept: the statements above run once, and this one on every thread.
    return text + [
        f"{variable('c', element)} = np.{dtype.name}({_place(element, slots, shapes)})" for element in numbers
    ]


def _assigned(line: Formula, shapes: Shapes, dialect: Numba, dtype: np.dtype) -> list[str]:
    """The statements of one formula, entry by entry, in a dtype."""
    return [
        f"{dialect.element(made.target)} = np.{dtype.name}({printed(made.expression, dialect)})"
        for made in of_line(line, shapes)
        if not isinstance(made, Sum)
    ]


def _loop(step: Pass, shapes: Shapes, dtype: np.dtype, wide: np.dtype) -> list[str]:
    dialect = Numba(dtype, tall_names(shapes), "c")
    loop = [
        # Vectors may be stored in less precision than that of the arithmetic.
        f"{variable('v', element)} = np.{dtype.name}({_element(element)})"
        for name in step.loads
        for element in elements(name, shapes)
    ]
    place = 0
    for line in step.body:
        if isinstance(line, Formula):
            loop += _assigned(line, shapes, dialect, dtype)
            continue
        for element in of_line(line, shapes):
            assert isinstance(element, Sum)
            left, right = (f"np.{wide.name}({variable('v', side)})" for side in (element.left, element.right))
            left = f"np.conj({left})" if wide.kind == "c" else left
            loop.append(f"sum_{place} += {left}*{right}")
            place += 1
    stores = [element for name in step.stores for element in elements(name, shapes)]
    loop += [f"{_element(element)} = {variable('v', element)}" for element in stores]
    body = ["low = n*chunk//chunks", "high = n*(chunk + 1)//chunks"]
    body += [f"x_{name} = a_{name}[low:high]" for name in step.arrays]
    body += [f"sum_{k} = {_zero(wide)}" for k in range(place)]
    body += ["for i in range(high - low):", *(f"    {line}" for line in loop)]
    body += [f"partial[chunk, {k}] = sum_{k}" for k in range(place)]
    first = step.arrays[0]
    extent = "size" if shapes[first] == VECTOR else "shape[0]"
    return [f"n = a_{first}.{extent}", "chunks = partial.shape[0]", *generated.over("chunks", body)]


def _place(element: Element, slots: Mapping[str, str], shapes: Shapes) -> str:
    """A scalar, or an entry of a small matrix, among the scalars."""
    offset = offset_of(element, shapes)
    return f"scalars[{slots[element.name]}{f' + {offset}' if offset else ''}]"


def _element(element: Element) -> str:
    """Row i of a vector's chunk, or of one column of a block vector's."""
    return f"x_{element.name}[i]" if isinstance(element, Name) else f"x_{element.name}[i, {element.column}]"


def _zero(dtype: np.dtype) -> str:
    return "0j" if dtype.kind == "c" else "0.0"
