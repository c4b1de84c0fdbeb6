"""Programs bound to memory: a workspace has the vectors and scalars of a method by name, and compiles its programs."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.clock import Clock, Work
from workbench.devices.kernels.prelude import NAMED
from workbench.devices.programs.named_vectors import NamedVectors
from workbench.devices.programs.program import Program, ProgramDevice, Storage, timed
from workbench.lines import count, schedule
from workbench.lines import shapes as typing_rules
from workbench.lines.parse import parse
from workbench.lines.schedule import Apply, Inlined, Step
from workbench.lines.shapes import infer
from workbench.lines.types import (
    SCALAR,
    VECTOR,
    Application,
    Kind,
    Line,
    LinesError,
    Shape,
    Shapes,
    Solve,
    accumulator,
    block,
    tall_names,
    work_of,
)

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector, OperatorTraits


class Compiled(Program):
    """A program of fused passes and operator applications."""

    def __init__(self, workspace: Storage, lines: tuple[Line, ...], steps: tuple[Step, ...], shapes: Shapes) -> None:
        super().__init__(workspace, lines, shapes)
        self.steps = steps
        self._kernels: dict[int, Any] = {}
        self._works = [self._work_of(step) for step in steps]
        self.bind()

    def bind(self) -> None:
        """Bind every step to the arrays that the workspace has now."""
        space = self._workspace
        runs = space.device.bind_steps(self.steps, space, self._shapes, self._kernels)
        if clock := space.clock:
            named = zip(runs, map(schedule.step_name, self.steps), self._works, strict=True)
            self._runs = [timed(clock, *step) for step in named]
        else:
            self._runs = space.device.batched(runs, space)

    @property
    def repeatable(self) -> bool:
        """True if a second application of all operators, with no pass between, leaves every vector as it is."""
        return schedule.repeatable(self.lines, self.steps, tall_names(self._shapes))

    @property
    def passes(self) -> int:
        return sum(1 for step in self.steps if isinstance(step, Apply) or step.body)

    def _work_of(self, step: Step) -> Work:
        """The bytes and operations of a step, as a function.

        Those of a pass are counted once: programs that are bound at every call would otherwise take longer for it than
        for their kernels.
        """
        space = self._workspace
        if isinstance(step, Apply):
            return lambda: ((operator := space.operator(step)).traffic, operator.flops)
        loop = step, self._shapes, space.size
        return functools.cache(lambda: (count.bytes_of(*loop, space.itemsize), count.flops_of(*loop, space.dtype)))


class Workspace(NamedVectors[Compiled]):
    """The vectors of one solve, and its scalars and small matrices, which are one array on the device."""

    def __init__(
        self,
        device: ProgramDevice,
        size: int,
        dtype: np.dtype,
        *,
        vectors: Mapping[str, DeviceVector],
        operators: Mapping[str, DeviceOperator | schedule.Inlined | OperatorTraits] | None = None,
        scalars: Iterable[str] = (),
        fuse: bool = True,
        clock: Clock | None = None,
        stored: np.dtype | None = None,
    ) -> None:
        super().__init__(device, size, dtype, vectors=vectors, operators=operators, clock=clock, stored=stored)
        self.fuse = fuse
        self._split_results: dict[str, str] = {}
        """By vector that lacks a part, the operator whose result it is."""
        self._programs_of: dict[tuple[str, ...], list[weakref.ref[Compiled]]] = {}
        """Programs by their texts; only the callers of `lines` keep them alive."""
        self._reuses_programs = False
        self.scalars = device.scalars(NAMED, accumulator(self.dtype))
        self.slots: dict[str, int] = {}
        """The place of each scalar, and of the first entry of each small matrix."""
        self._next_slot = NAMED
        """The place of the next scalar or small matrix."""
        self._make_slots(dict.fromkeys(scalars, SCALAR))
        self.repeatable = True
        """Set while every program of the iterations is repeatable, see `Compiled.repeatable`."""
        for name, operator in self.operators.items():
            for factor, vector in operator.factors.items() if isinstance(operator, Inlined) else ():
                full = schedule.factor_name(name, factor)
                if full in vectors:
                    raise LinesError(f"the name {full} belongs to operator {name}; rename the vector")
                self._check_vector(full, vector)
                self.vectors[full] = vector

    def keep(self) -> None:
        """Let `lines` return the programs that it made for the same texts, as long as they are in use."""
        self._reuses_programs = True

    def clear(self) -> None:
        """Set the scalars, and all vectors that programs added, to zero, as they were before the first program.

        Cost: a write of these vectors.
        """
        for array in (self.scalars, *(self.vectors[name] for name in self.added)):
            self.device.clear(array)
        self.notes, self.steps = [], []

    def lines(self, *texts: str) -> tuple[Compiled, ...]:
        """Compile programs that share this workspace; the first runs before the others. Raises LinesError."""
        known = self._programs_of.get(texts, []) if self._reuses_programs else []
        alive = [program for reference in known if (program := reference())]
        programs = tuple(alive) if len(alive) == len(texts) else self._compiled(texts)
        self._programs_of[texts] = list(map(weakref.ref, programs))
        return programs

    def _compiled(self, texts: tuple[str, ...]) -> tuple[Compiled, ...]:
        """New programs of these texts. Raises LinesError before anything is compiled."""
        parsed = [parse(text) for text in texts]
        inlined, shapes = self._checked(parsed)
        vectors = tall_names(shapes)
        persistent = set(self.vectors).union(*(schedule.read_first(lines, vectors) for lines in inlined))
        schedule.refuse_lost(parsed, vectors, persistent)
        self._shapes |= {name: shape for name, shape in shapes.items() if shape.has_rows}
        self._make_slots_of(parsed, inlined, shapes)
        everything = [line for lines in parsed for line in lines]
        fused_dots = {name: self._fused_dots(name, everything, shapes) for name in self.operators}
        plans = [self._planned(lines, vectors, persistent, fused_dots) for lines in inlined]
        applied = [step for steps in plans for step in steps if isinstance(step, schedule.Apply)]
        self._split_results |= {step.target: step.operator for step in applied if step.split}
        programs = tuple(Compiled(self, lines, steps, shapes) for lines, steps in zip(inlined, plans, strict=True))
        self._programs += map(weakref.ref, programs)
        # Kernels are compiled in parallel; an iteration must not wait for them.
        self.device.settle()
        # The first program, the start, has ended before a run can stop.
        self.repeatable = self.repeatable and all(program.repeatable for program in programs[1:] or programs)
        return programs

    def _checked(self, parsed: Sequence[Sequence[Line]]) -> tuple[list[tuple[Line, ...]], Shapes]:
        """The lines with element-wise operators as formulas, and the shapes of all names. Raises LinesError."""
        known = self._known_shapes()
        free = {name: shape for name, shape in known.items() if shape != SCALAR}
        typing_rules.check_scalars(parsed, infer([line for lines in parsed for line in lines], free), self.slots)
        inlined = [schedule.inline(lines, self.operators) for lines in parsed]
        shapes = infer([line for lines in inlined for line in lines], known)
        typing_rules.check(parsed, shapes, [*self.vectors, *self.slots], self.operators)
        return [schedule.divide_scalars(lines, shapes) for lines in inlined], shapes

    def _make_slots_of(
        self, parsed: Sequence[Sequence[Line]], inlined: Sequence[Sequence[Line]], shapes: Shapes
    ) -> None:
        """Give each scalar and small matrix of these lines its words, and each solution with one its work space."""
        vectors = tall_names(shapes)
        targets = [line.target for lines in parsed for line in lines if line.target not in vectors]
        solves = [line for lines in inlined for line in lines if isinstance(line, Solve)]
        work_spaces = {work_of(line): shapes[line.matrix] for line in solves}
        self._make_slots({name: shapes[name] for name in targets} | work_spaces)

    def _planned(
        self,
        lines: Collection[Line],
        vectors: Collection[str],
        persistent: Collection[str],
        fused_dots: Mapping[str, Collection[str]],
    ) -> tuple[schedule.Step, ...]:
        """The steps of a program; the result of an operator stays split in two where only passes read it."""
        offered = {name: getattr(self.operators[name], "split_dots", ()) for name, dots in fused_dots.items() if dots}
        split = {
            name: dots
            for name, dots in offered.items()
            if dots and self.fuse and schedule.splits(lines, name, vectors, persistent)
        }
        return schedule.plan(lines, vectors, persistent, {**fused_dots, **split}, split=split, fuse=self.fuse)

    def gathered(self, name: str) -> DeviceVector | None:
        vector = super().gathered(name)
        if vector is not None and name in self._split_results:
            vector = self.device.copy(vector)
            self.operators[self._split_results[name]].complete(vector)
        return vector

    def scalar(self, name: str) -> Any:
        """The value of a scalar, or of a small matrix as an array of its shape; waits for the device."""
        shape, first = self._shapes[name], self.slots[name]
        values = self.device.to_host(self.scalars)
        if shape.kind is Kind.SMALL:
            return np.array(values[first : first + shape.words].reshape(shape.rows, shape.columns))
        return values[first].item()

    def set_scalar(self, name: str, value: complex) -> None:
        self.device.write_scalar(self.scalars, self.slots[name], value)

    def declare(self, *names: str) -> None:
        """Make room for scalars that no program computes and `set_scalar` sets."""
        self._make_slots(dict.fromkeys(names, SCALAR))

    def has_scalar(self, name: str) -> bool:
        return name in self.slots

    @property
    def scalars_end(self) -> int:
        """One more than the place of the last scalar; small matrices may come after it."""
        return 1 + max((slot for name, slot in self.slots.items() if self._shapes[name] == SCALAR), default=-1)

    def operator(self, step: schedule.Apply) -> Any:
        """The operator that a step applies, in its form for block vectors where the argument is one."""
        shape = self._shapes.get(step.argument, VECTOR)
        return self.operators[step.operator] if shape == VECTOR else self.block_operator(step.operator, shape.columns)

    def rebind(self, vectors: Mapping[str, DeviceVector]) -> None:
        """Replace vectors by other arrays of their shape and dtype. Raises LinesError for others.

        Programs use them after their next `bind`.
        """
        for name, vector in vectors.items():
            self._check_vector(name, vector)
        self.vectors.update(vectors)

    def _known_shapes(self) -> dict[str, Shape]:
        """The shapes of all vectors, and of the scalars and small matrices of earlier programs."""
        arrays = {name: _shape_of(vector) for name, vector in self.vectors.items()}
        return arrays | {name: self._shapes[name] for name in self.slots}

    def _fused_dots(self, operator: str, lines: Iterable[Line], shapes: Shapes) -> Collection[str]:
        """The dot products that an operator computes with its result; none if it is inlined or applied to blocks."""
        applied = [line for line in lines if isinstance(line, Application) and line.operator == operator]
        if self.inlines(operator) or any(shapes[line.argument] != VECTOR for line in applied):
            return ()
        return self.operators[operator].fused_dots

    def _make_slots(self, shapes: Mapping[str, Shape]) -> None:
        """Give each new name as many words among the scalars as its shape has, small matrices after scalars."""
        before = self._next_slot
        for name, shape in sorted(shapes.items(), key=lambda item: item[1].kind is Kind.SMALL):
            if name not in self.slots:
                self._shapes[name] = shape
                self.slots[name] = self._next_slot
                self._next_slot += shape.words
        if self._next_slot > before:
            self._grow(before)

    def _grow(self, before: int) -> None:
        """Make room for all scalars and small matrices. before: the number of words that keep their values."""
        old, self.scalars = self.scalars, self.device.scalars(self._next_slot, accumulator(self.dtype))
        values = self.device.to_host(old) if before > NAMED else ()
        for slot in range(NAMED, before):
            self.device.write_scalar(self.scalars, slot, values[slot].item())
        for program in self.programs:
            program.bind()


def _shape_of(vector: DeviceVector) -> Shape:
    return VECTOR if len(vector.shape) == 1 else block(vector.shape[1])
