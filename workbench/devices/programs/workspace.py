"""Programs bound to memory: a workspace has the vectors and scalars of a method by name, and compiles its programs."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.clock import Clock, Work
from workbench.devices.kernels.prelude import NAMED
from workbench.devices.programs.named_vectors import NamedVectors
from workbench.devices.programs.planning import Formula, Offer, planned
from workbench.devices.programs.program import Program, ProgramDevice, Storage, timed
from workbench.lines import count, schedule
from workbench.lines.schedule import Apply, Inlined, Step
from workbench.lines.types import (
    SCALAR,
    VECTOR,
    Kind,
    Line,
    LinesError,
    Shape,
    Shapes,
    accumulator,
    block,
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
        """Set while every program of the iterations is repeatable, see `schedule.repeatable`."""
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
        offers = tuple((name, _offer_of(operator)) for name, operator in self.operators.items())
        known = tuple(self._known_shapes().items())
        plans = planned(texts, known, tuple(self.vectors), tuple(self.slots), offers, fuse=self.fuse)
        shapes = plans.shapes
        self._shapes |= {name: shape for name, shape in shapes.items() if shape.has_rows}
        self._make_slots(plans.words)
        applied = [step for steps in plans.steps for step in steps if isinstance(step, schedule.Apply)]
        self._split_results |= {step.target: step.operator for step in applied if step.split}
        planned_ones = zip(plans.lines, plans.steps, strict=True)
        programs = tuple(Compiled(self, lines, steps, shapes) for lines, steps in planned_ones)
        self._programs += map(weakref.ref, programs)
        # Kernels are compiled in parallel; an iteration must not wait for them.
        self.device.settle()
        # The first program, the start, has ended before a run can stop.
        self.repeatable = self.repeatable and all(plans.repeatable[1:] or plans.repeatable)
        return programs

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


def _offer_of(operator: DeviceOperator | Inlined) -> Offer:
    """The traits of an operator that plans depend on."""
    if isinstance(operator, Inlined):
        return Offer(Formula.of(operator))
    return Offer(None, tuple(operator.fused_dots), tuple(getattr(operator, "split_dots", ())))


def _shape_of(vector: DeviceVector) -> Shape:
    return VECTOR if len(vector.shape) == 1 else block(vector.shape[1])
