"""Programs on the cores, a call for each step: an operator application, or a pass of paper lines as a kernel, with all
vector updates and dot products of the pass in one loop.

Every array is cut into chunks whose number depends on N alone, and partial sums are added in order, so a result does
not depend on the number of threads.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.devices.on_cores import OnCores
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.programs.one_pass import OnePass
from workbench.devices.programs.program import Storage
from workbench.jit.compiled import Kernel
from workbench.jit.frames import one_pass
from workbench.jit.launches import Launch, Launches, copies
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.kernel_language.lines_text import LinesText, PassFunctions
from workbench.lines.entries import of_lines
from workbench.lines.schedule import Apply, Pass, Step
from workbench.lines.types import Shape, Shapes, Solve, accumulator, work_of

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector


class PassKernel(NamedTuple):
    """A kernel, and the places among the scalars that it uses. sums: number of dot products."""

    kernel: Kernel
    slots: np.ndarray
    sums: int

    def rows(self, size: int, wide: np.dtype) -> tuple[np.ndarray | tuple[()], ...]:
        """The last arguments for vectors of this size: the first rows of chunks, and memory for the sums."""
        count = chunks_of(size)
        begins = size * np.arange(count + 1, dtype=np.int64) // count
        return begins, *((np.zeros((count, self.sums), wide), np.zeros(self.sums, wide)) if self.sums else ((), ()))


def compile_pass(
    step: Pass, shapes: Shapes, slots: Mapping[str, int], dtype: np.dtype, stored: Mapping[str, np.dtype] | None = None
) -> PassKernel:
    """Compile one pass. Arguments of the kernel: a tuple of loads and stores, all scalars, the places of those that it
    uses, and those of `PassKernel.rows`.

    stored: the dtypes of vectors that are not kept in dtype.
    """
    known = tuple(shapes.items()), tuple(slots.items()), np.dtype(dtype), tuple((stored or {}).items())
    return _compiled(step, *known)


@functools.lru_cache(512)
def _compiled(
    step: Pass,
    shapes_: tuple[tuple[str, Shape], ...],
    slots_: tuple[tuple[str, int], ...],
    dtype: np.dtype,
    stored: tuple[tuple[str, np.dtype], ...],
) -> PassKernel:
    shapes, slots, numbers = dict(shapes_), dict(slots_), _numbers(step)
    step, shapes = step.renamed(numbers), {numbers[name]: shapes[name] for name in numbers if name in shapes}
    used = {numbers[name]: slots[name] for name in numbers if name in slots}
    others = frozenset(numbers[name] for name, kind in stored if name in numbers and kind != dtype)
    text = LinesText(shapes, {name: f"slots[{k}]" for k, name in enumerate(used)}, others)
    functions, sums = PassFunctions.of(step, text, dtype), len(of_lines(step.dots, shapes))
    kernel = one_pass.of(**functions._asdict(), dtype=accumulator(dtype), count=sums)
    return PassKernel(kernel, np.array(list(used.values()), np.int64), sums)


def bind_pass(compiled: PassKernel, step: Pass, arrays: list[np.ndarray], scalars: np.ndarray) -> Launches:
    """A launch of the kernel on fixed arrays."""
    size = len(arrays[0]) if arrays else 0
    rows = compiled.rows(size, scalars.dtype)
    return Launches([Launch(size, compiled.kernel, tuple(arrays), scalars, compiled.slots, *rows)])


class OnePassOnCores(OnePass):
    """See `OnePass`; the next application overwrites the dot products.

    numbers: the values of the scalars, in order; they may be changed between applications.
    """

    numbers: np.ndarray
    _kernel: PassKernel
    _size = 0
    _scalars: np.ndarray
    _rows: tuple[np.ndarray | tuple[()], ...]
    _dots: np.ndarray | None

    def prepare(self, dtype: np.dtype) -> None:
        """Compile for vectors of this dtype, ahead of the first application."""
        slots, count = self._slots(0), len(self._numbers)
        self._kernel = compile_pass(self._step, self._shapes, slots, dtype)
        self._scalars = np.zeros(len(slots), accumulator(dtype))
        self.numbers, self._dots = self._scalars[:count], self._scalars[count:] if self._kernel.sums else None
        self.numbers[:] = list(self._numbers.values())
        self._rows = self._kernel.rows(0, self._scalars.dtype)
        vector = np.empty(0, dtype)
        prepare(self._kernel.kernel, (vector,) * len(self._places), self._scalars, self._kernel.slots, *self._rows)

    def apply(self, *vectors: np.ndarray) -> np.ndarray | None:
        """Run on vectors of one size, in the order of the names."""
        if vectors[0].size != self._size:
            self._size = vectors[0].size
            self._rows = self._kernel.rows(self._size, self._scalars.dtype)
        kernel, slots, _ = self._kernel
        launch(self._size, kernel, tuple(self._arrays(vectors)), self._scalars, slots, *self._rows)
        return self._dots


def _numbers(step: Pass) -> dict[str, str]:
    """A number for each name of a pass, in order of occurrence.

    Programs that differ only in names then share a kernel: the methods of a family have most of their passes in common.
    """
    lines = (*step.scalars, *step.body)
    names = [*step.arrays, *(name for line in lines for name in (*line.reads, line.target))]
    numbers = {name: str(k) for k, name in enumerate(dict.fromkeys(names))}
    solved = [line for line in step.scalars if isinstance(line, Solve)]
    return numbers | {work_of(line): work_of(line.renamed(numbers)) for line in solved}


class StepByStep:
    """For devices whose kernels evaluate scalar lines themselves; they define `compile_pass` and `bind_pass`."""

    compile_pass: Callable[..., Any]
    bind_pass: Callable[..., Callable[[], None]]

    def bind_steps(
        self,
        steps: Sequence[Step],
        workspace: Storage,
        shapes: Shapes,
        kernels: dict[Any, Any],
    ) -> list[Callable[[], None]]:
        """One callable per step, on the arrays that the workspace holds now.

        kernels: those compiled before, by the step's index; new ones are added.
        """
        runs = []
        for place, step in enumerate(steps):
            if isinstance(step, Apply):
                targets = [(workspace.slots[name], which.place) for name, which in step.dots]
                x, out = workspace.vector(step.argument), workspace.vector(step.target)
                runs.append(_application(workspace.operator(step), x, out, step.wanted, workspace.scalars, targets))
                continue
            arrays = {name: workspace.vector(name) for name in step.arrays}
            if place not in kernels:
                stored = {name: array.dtype for name, array in arrays.items()}
                kernels[place] = self.compile_pass(step, shapes, workspace.slots, workspace.dtype, stored)
            runs.append(self.bind_pass(kernels[place], step, list(arrays.values()), workspace.scalars))
        return runs

    def batched(self, runs: list[Callable[[], None]], workspace: Storage) -> list[Callable[[], None]]:
        """The calls, with those that are launches alone merged as far as they follow one another."""
        merged: list[Callable[[], None]] = []
        for are_launches, group in itertools.groupby(runs, lambda run: isinstance(run, Launches)):
            calls = list(group)
            parts = (part for call in calls if isinstance(call, Launches) for part in call.parts)
            merged += [Launches(parts)] if are_launches else calls
        return merged


def _application(
    operator: DeviceOperator,
    x: DeviceVector,
    out: DeviceVector,
    wanted: tuple[str, ...],
    scalars: DeviceVector,
    targets: list[tuple[int, int]],
) -> Callable[[], None]:
    """An application whose dot products become scalars, each at a target: its place, and that of the product."""
    calls = operator.calls(x, out) if isinstance(operator, OperatorTraits) else None
    made = [bound.on(*vectors) for bound, vectors in calls or () if isinstance(bound, OnCores)]
    if calls and len(made) == len(calls):
        _, sums = made[-1]
        copied = [copies(sums, which, scalars, slot) for slot, which in targets] if sums is not None else []
        return Launches([*(launched for launched, _ in made), *itertools.chain(*copied)])

    def apply() -> None:
        dots = operator.apply(x, out, *wanted)
        for slot, which in targets:
            scalars[slot] = dots[which]

    return apply
