"""Programs bound to memory: a workspace holds the vectors and scalars of one method by name and runs its programs."""

from __future__ import annotations

import ast
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.lines import kinds, plan
from workbench.devices.lines.language import Formula, Line, LinesError, operands, parse
from workbench.devices.lines.reference import accumulator
from workbench.devices.lines.stepwise import DOT_PLACES
from workbench.registry import unknown_name

SCALARS = 64
"""Room for the scalars of one workspace."""
DTYPES = ("float32", "float64", "complex64", "complex128")


class Workspace:
    """The named vectors and scalars of one solve on one device.

    vectors: the arrays given, by name, all of one shape and dtype; programs add theirs as they need them.
    operators: what a program may apply, by name: bound operators, or element-by-element ones that join a pass.

    clock: put around every step of the programs, while a run is traced.

    Scalars live beside the vectors on the device; `scalar(name)` reads one.
    """

    def __init__(
        self,
        device: Any,
        size: int,
        dtype: np.dtype,
        *,
        vectors: Mapping[str, Any],
        operators: Mapping[str, Any] | None = None,
        scalars: Iterable[str] = (),
        fuse: bool = True,
        clock: Clock | None = None,
    ) -> None:
        self.device = device
        self.clock = clock
        self.size = size
        self.dtype = np.dtype(dtype)
        if str(self.dtype) not in DTYPES:
            raise LinesError(f"vectors of dtype {self.dtype} cannot be used; convert them to one of {DTYPES}")
        self.fuse = fuse
        self.operators = dict(operators or {})
        self.vectors: dict[str, Any] = {}
        self.scalars = device.scalars(SCALARS, accumulator(self.dtype))
        self.slots: dict[str, int] = {}
        self._make_slots(scalars)
        self.added: list[str] = []
        """Names of the vectors that the programs allocated here."""
        self._programs: list[weakref.ref[Compiled]] = []
        self.repeatable = True
        """Whether all programs that run again and again are, see `Compiled.repeatable`."""
        for name, vector in vectors.items():
            self._check_vector(name, vector)
            self.vectors[name] = vector
        for name, operator in self.operators.items():
            for factor, vector in getattr(operator, "factors", {}).items():
                full = plan.factor_name(name, factor)
                if full in vectors:
                    raise LinesError(f"the name {full} belongs to operator {name}; rename the vector")
                self._check_vector(full, vector)
                self.vectors[full] = vector

    def lines(self, *texts: str) -> tuple[Compiled, ...]:
        """Compile programs that share this workspace; the first runs before the others. Raises LinesError."""
        programs = [parse(text) for text in texts]
        everything = [line for lines in programs for line in lines]
        kinds.check_scalars(everything, kinds.infer_vectors(everything, self.vectors), self.slots)
        inlined = [plan.inline(lines, self.operators) for lines in programs]
        vectors = kinds.infer_vectors([line for lines in inlined for line in lines], self.vectors)
        factors = [name for name in self.vectors if name not in vectors]
        kinds.check(everything, vectors, [*self.vectors, *factors, *self.slots], self.operators)
        persistent = set(self.vectors).union(*(_read_first(lines, vectors) for lines in inlined))
        _refuse_lost(everything, vectors, persistent)
        self._make_slots(line.target for line in everything if line.target not in vectors)
        offers = {name: getattr(operator, "offers", tuple(DOT_PLACES)) for name, operator in self.operators.items()}
        plans = [plan.plan(lines, vectors, persistent, offers, fuse=self.fuse) for lines in inlined]
        made = tuple(Compiled(self, lines, steps, vectors) for lines, steps in zip(inlined, plans, strict=True))
        self._programs += map(weakref.ref, made)
        # Kernels are compiled side by side; an iteration must not wait for them.
        getattr(self.device, "settle", lambda: None)()
        # A program that comes before the others is over when a run stops.
        self.repeatable = self.repeatable and all(program.repeatable for program in made[1:] or made)
        return made

    @property
    def programs(self) -> list[Compiled]:
        """All that were compiled here and are still in use, in order."""
        return [program for known in self._programs if (program := known())]

    def scalar(self, name: str) -> Any:
        """The present value of a scalar, read from the device."""
        return self.device.read_scalar(self.scalars, self.slots[name])

    def set_scalar(self, name: str, value: complex) -> None:
        self.device.write_scalar(self.scalars, self.slots[name], value)

    def has_scalar(self, name: str) -> bool:
        return name in self.slots

    def inlines(self, operator: str) -> bool:
        """Whether an operator acts element by element and joins the passes as a formula."""
        return isinstance(self.operators[operator], plan.Inlined)

    def vector(self, name: str) -> Any:
        """The vector of that name, made (zero) when it does not exist yet."""
        if name not in self.vectors:
            self.vectors[name] = self.device.zeros(self.size, self.dtype)
            self.added.append(name)
        return self.vectors[name]

    def gathered(self, name: str) -> Any:
        """The whole vector of that name for a look at it, None where there is none."""
        return self.vectors.get(name)

    def rebind(self, vectors: Mapping[str, Any]) -> None:
        """Put other arrays under names that exist; shapes and dtypes are checked."""
        for name, vector in vectors.items():
            self._check_vector(name, vector)
        self.vectors.update(vectors)

    def _check_vector(self, name: str, vector: Any) -> None:
        if vector.shape != (self.size,):
            raise LinesError(f"vector {name} has shape {vector.shape}, the others ({self.size},); all must be equal")
        if vector.dtype != self.dtype:
            raise LinesError(f"vector {name} has dtype {vector.dtype}, the others {self.dtype}; all must be equal")

    def _make_slots(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.slots:
                if len(self.slots) == SCALARS:
                    raise LinesError(f"the program has more than {SCALARS} scalars; split it")
                self.slots[name] = len(self.slots)


class Compiled:
    """A program ready to run; calling it runs all its steps once."""

    def __init__(
        self, workspace: Workspace, lines: tuple[Line, ...], steps: tuple[plan.Step, ...], vectors: frozenset[str]
    ) -> None:
        self.steps = steps
        self.lines = lines
        self._workspace = workspace
        self._vectors = vectors
        self._kernels: dict[int, Any] = {}
        self._runs: list[Callable[[], None]] = []
        self._works: dict[plan.Step, tuple[int, int]] = {}
        self.bind()

    def bind(self) -> None:
        """Fix the arrays of every step as the workspace holds them now."""
        space = self._workspace
        runs = space.device.bind_steps(self.steps, space, self._vectors, self._kernels)
        if space.clock:
            self._runs = [self._timed(step, run) for step, run in zip(self.steps, runs, strict=True)]
        else:
            self._runs = space.device.together(runs, space)

    def __call__(self) -> None:
        for run in self._runs:
            run()

    @property
    def runs(self) -> tuple[Callable[[], None], ...]:
        """What a call calls, in order."""
        return tuple(self._runs)

    @property
    def repeatable(self) -> bool:
        """Whether applying the operators once more, without any pass between, leaves every vector as it is."""
        applications = [step for step in self.steps if isinstance(step, plan.Apply)]
        applied = {step.target for step in applications}
        if any(applied.intersection(step.stores) for step in self.steps if isinstance(step, plan.Pass)):
            return False
        carried = _read_first(self.lines, self._vectors)
        return not any(
            step.target in carried and step.argument in _written(self.steps[place:])
            for place, step in enumerate(self.steps)
            if isinstance(step, plan.Apply)
        )

    @property
    def passes(self) -> int:
        """Sweeps over memory in one call, operator applications included."""
        return sum(1 for step in self.steps if isinstance(step, plan.Apply) or step.body)

    @property
    def bytes(self) -> int:
        """Bytes read and written by one call, each vector once a pass."""
        return sum(self._bytes(step) for step in self.steps)

    @property
    def flops(self) -> int:
        """Floating-point operations of one call, counted as real ones."""
        return sum(self._flops(step) for step in self.steps)

    def _timed(self, step: plan.Step, run: Callable[[], None]) -> Callable[[], None]:
        """The step as the clock of a traced run sees it."""
        assert self._workspace.clock is not None
        return self._workspace.clock.timed(run, plan.step_name(step), lambda: self._work(step))

    def _work(self, step: plan.Step) -> tuple[int, int]:
        """Bytes and flops of a step, reckoned once: programs that are bound anew at every call would spend more on it
        than on their kernels."""
        if step not in self._works:
            self._works[step] = (self._bytes(step), self._flops(step))
        return self._works[step]

    def _bytes(self, step: plan.Step) -> int:
        if isinstance(step, plan.Apply):
            return self._workspace.operators[step.operator].traffic
        return (len(step.loads) + len(step.stores)) * self._workspace.size * self._workspace.dtype.itemsize

    def _flops(self, step: plan.Step) -> int:
        if isinstance(step, plan.Apply):
            return self._workspace.operators[step.operator].flops
        is_complex = self._workspace.dtype.kind == "c"
        per_element = sum(
            _operations(line.expression, is_complex) if isinstance(line, Formula) else (8 if is_complex else 2)
            for line in step.body
        )
        return per_element * self._workspace.size


class Lines:
    """A program as a function of named arrays and numbers; what `device.lines(text)` returns.

    Arrays given are updated in place, numbers given are read, and the scalars that the program sets are returned by
    name. Vectors assigned but not given are temporaries that live in registers. Threads that call at once take turns.
    """

    def __init__(
        self, device: Any, text: str, *, fuse: bool = True, operators: Mapping[str, Any] | None = None
    ) -> None:
        self._device = device
        self._text = text
        self._fuse = fuse
        self._operators = dict(operators or {})
        self._lines = parse(text)
        self._known: dict[Any, tuple[Workspace, Compiled]] = {}
        self._one_at_a_time = threading.Lock()

    def __call__(self, **values: Any) -> dict[str, Any]:
        """Run once. Raises LinesError for unknown names, unequal shapes or dtypes, and overlapping arrays."""
        with self._one_at_a_time:
            workspace, compiled = self.compile(**values)
            for name in workspace.slots:
                if name in values:
                    workspace.set_scalar(name, values[name])
            arrays = {name: value for name, value in values.items() if _is_array(value)}
            # Fixing arrays costs more than a small kernel takes, and most callers give the same ones every time.
            if any(workspace.vectors[name] is not value for name, value in arrays.items()):
                workspace.rebind(arrays)
                compiled.bind()
            compiled()
            set_here = [line.target for line in self._lines if line.target in workspace.slots]
            return {name: workspace.scalar(name) for name in set_here}

    def compile(self, **values: Any) -> tuple[Workspace, Compiled]:
        """The program for arrays and numbers of these names, shapes and dtypes, ready to inspect or run."""
        vectors = {name: value for name, value in values.items() if _is_array(value)}
        if not vectors:
            raise LinesError("no vector was given; pass the arrays of the program by name, as in update(x=x, p=p)")
        self._check_given(values)
        self._check_written(vectors)
        first = next(iter(vectors.values()))
        _check_numbers({name: value for name, value in values.items() if name not in vectors}, first.dtype)
        key = (first.shape, first.dtype, tuple(sorted(vectors)), tuple(sorted(values)))
        if key not in self._known:
            numbers = [name for name in values if name not in vectors]
            workspace = Workspace(
                self._device,
                first.size,
                first.dtype,
                vectors=vectors,
                operators=self._operators,
                scalars=numbers,
                fuse=self._fuse,
            )
            (compiled,) = workspace.lines(self._text)
            self._known[key] = workspace, compiled
        return self._known[key]

    def _check_given(self, values: Mapping[str, Any]) -> None:
        used = {line.target for line in self._lines}
        for line in self._lines:
            used.update(line.names if isinstance(line, Formula) else operands(line))
        for name in values:
            if name not in used:
                raise LinesError(f"{name} was given but no line uses it: {unknown_name('name', name, sorted(used))}")

    def _check_written(self, vectors: Mapping[str, Any]) -> None:
        written = {line.target for line in self._lines}
        for name in written.intersection(vectors):
            if not getattr(getattr(vectors[name], "flags", None), "writeable", True):
                raise LinesError(f"{name} is written, but the array is read-only; pass a copy")
            for other, vector in vectors.items():
                if other != name and self._device.overlap(vectors[name], vector):
                    raise LinesError(f"{name} is written and shares memory with {other}; pass a copy of one")


def _is_array(value: Any) -> bool:
    return bool(getattr(value, "shape", ()))


def _check_numbers(values: Mapping[str, Any], dtype: np.dtype) -> None:
    for name, value in values.items():
        is_complex = np.iscomplexobj(value)
        if not isinstance(value, Number) and getattr(value, "shape", None) != ():
            raise LinesError(f"{name} is a {type(value).__name__}, neither an array nor a number")
        if is_complex and dtype.kind != "c":
            raise LinesError(f"{name} is the complex number {value}, but the vectors are {dtype}; make them complex")


def _written(steps: Sequence[plan.Step]) -> set[str]:
    """The vectors that steps change."""
    return {name for step in steps for name in ((step.target,) if isinstance(step, plan.Apply) else step.stores)}


def _read_first(lines: Iterable[Line], vectors: frozenset[str]) -> set[str]:
    """Vectors that a program reads before it writes them: they carry over from call to call."""
    read: set[str] = set()
    written: set[str] = set()
    for line in lines:
        read |= vectors.intersection(operands(line)) - written
        written.add(line.target)
    return read


def _refuse_lost(lines: list[Line], vectors: frozenset[str], persistent: set[str]) -> None:
    read = {name for line in lines for name in operands(line)}
    for line in lines:
        if line.target in vectors and line.target not in persistent | read:
            raise LinesError(
                f"line {line.text!r} sets {line.target}, which nobody reads; give it as an array to keep it"
            )


def _operations(node: ast.expr, is_complex: bool) -> int:
    """Real floating-point operations of one evaluation; a complex product counts 6, a complex quotient 11."""
    cost = {ast.Add: (1, 2), ast.Sub: (1, 2), ast.Mult: (1, 6), ast.Div: (1, 11)}
    return sum(cost[type(part.op)][is_complex] for part in ast.walk(node) if isinstance(part, ast.BinOp))
