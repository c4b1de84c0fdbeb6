"""The workspace of a method that is stepped through: its lines run one by one in NumPy, and every one is reported.

A method's own `iterates` runs here, so its lines come in the order of a run, with what it computes between its programs
(`NamedVectors.shown`). The two sides of a hybrid schedule have the interface of `devices.pair`. Both are in host
memory: a copy takes the values at the time of its issue, which arrive where a side waits for it.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST
from workbench.devices.element_wise import ElementWise
from workbench.devices.pair.split import ghosts, split_rows
from workbench.devices.programs.named_vectors import NamedVectors
from workbench.lazy import sparse
from workbench.lines.interpret import evaluate_line
from workbench.lines.parse import parse
from workbench.lines.schedule import Inlined
from workbench.lines.shapes import infer, infer_vectors
from workbench.lines.types import Dot, Line, Shape, Shapes, block

if TYPE_CHECKING:
    from workbench.devices.protocol import Device

    T = TypeVar("T")


Values = dict[str, Any]
"""Vectors, scalars and small matrices by name. No array in it is ever changed."""


@dataclasses.dataclass(frozen=True)
class StepLine:
    """A line that has run. name: what it sets, and target: where its value is among `Values`; empty for a copy or a
    wait. lane: of a hybrid schedule, as in `devices.clock`. words: the text is a formula in words, not a paper line.
    moved: numbers that a copy moves. ends: the line cannot run, and the method ends there; target is empty."""

    text: str
    name: str = ""
    target: str = ""
    lane: str = ""
    words: bool = False
    moved: int = 0
    ends: bool = False


Listener = Callable[[StepLine, Values], None]
"""Takes a line that has run and what it changed."""


class StepSpace(NamedVectors[Any]):
    """The vectors, scalars and small matrices of a method on the cores; with `columns`, its vectors are N x columns.

    Of one column they are reported as vectors, with small letters, and as scalars. lane: of a hybrid schedule. key:
    where among the values a name is; also: what else a change of a vector changes.
    """

    stepping = True
    all_norms = False

    def __init__(
        self,
        device: Device,
        size: int,
        dtype: np.dtype,
        listener: Listener,
        *,
        vectors: Mapping[str, Any],
        operators: Mapping[str, Any],
        columns: int = 0,
        lane: str = "",
        key: Callable[[str, bool], str] = lambda name, _: name,
        also: Callable[[str], Values] = lambda _: {},
    ) -> None:
        super().__init__(device, size, dtype, vectors=vectors, operators=operators)
        self.columns, self.lane = columns, lane
        self.matrices: Values = {}
        """Scalars and small matrices."""
        self._listener, self._key, self._also = listener, key, also
        if columns:
            self.default_shape = block(columns)

    def lines(self, *texts: str, matrices: Mapping[str, Shape] | None = None) -> tuple[Callable[[], None], ...]:
        """Programs that run their lines one by one. matrices: the shapes of those that the method sets."""
        programs = [parse(text) for text in texts]
        everything = [line for lines in programs for line in lines]
        rows = {*self.vectors, *infer_vectors(everything, list(self.vectors))}
        shapes = infer(everything, {**dict.fromkeys(rows, self.default_shape), **(matrices or {})})
        self._shapes |= shapes
        for name, shape in shapes.items():
            if shape.has_rows:
                self.vector(name)
        return tuple(functools.partial(self._run, lines, shapes) for lines in programs)

    def inlines(self, operator: str) -> bool:
        """A hybrid schedule as it is; other methods in their general form, with every line."""
        return bool(self.lane) and super().inlines(operator)

    def scalar(self, name: str) -> Any:
        return self.matrices[name]

    def set_scalar(self, name: str, value: complex) -> None:
        self.matrices[name] = value

    def declare(self, *names: str) -> None:
        """Scalars need no room here."""

    def shown(self, line: str, value: T) -> T:
        """Report a value that the method computes between its programs."""
        self._report(line, line.partition(" = ")[0], value, words=True)
        return value

    def ends_at(self, line: str) -> None:
        """Report a line that the method cannot run."""
        self._listener(StepLine(line, line.partition(" = ")[0], words=True, ends=True), {})

    def _run(self, lines: Sequence[Line], shapes: Shapes) -> None:
        for line in lines:
            values = {**self.vectors, **self.matrices}
            evaluate_line(line, shapes, values, {name: functools.partial(self._apply, name) for name in self.operators})
            made = values[line.target]
            if shapes[line.target].has_rows:
                self.vectors[line.target][...] = made
            else:
                # As numbers that belong to the columns.
                made = made.reshape(-1) if isinstance(line, Dot) and line.columnwise and np.ndim(made) else made
                self.matrices[line.target] = made
            self._report(line.text.strip(), line.target, made)

    def _apply(self, name: str, v: np.ndarray) -> np.ndarray:
        device, operator = self.device, self.operators[name]
        if self.columns:
            operator, out = self.block_operator(name, self.columns), device.zero_block(*v.shape, v.dtype)
        else:
            out = device.zeros(v.size, v.dtype)
            if isinstance(operator, ElementWise):
                operator = device.applied(operator, v.size, v.dtype)
        operator.apply(v, out)
        return out

    def _report(self, text: str, name: str, value: object, *, words: bool = False) -> None:
        vector = self.vectors.get(name)
        # Of one column, and without M, W is Q.
        names = [name] if vector is None else [other for other, held in self.vectors.items() if held is vector]
        kept = np.array(value)
        if self.columns == 1:
            kept = kept.reshape(() if vector is None else -1)
            text, name, *names = (of_one_column(each, self.vectors) for each in (text, name, *names))
        keys = {each: self._key(each, vector is not None) for each in names}
        changes = dict.fromkeys(keys.values(), kept[()]) | self._also(name)
        self._listener(StepLine(text, name, keys.get(name, name), self.lane, words), changes)


def of_one_column(text: str, blocks: Collection[str]) -> str:
    """A line on block vectors as one on vectors."""
    text = re.sub(r"dots\((\w+), (\w+)\)", r"(\1, \2)", text)
    return re.sub(r"\w+", lambda name: name[0].lower() if name[0] in blocks else name[0], text)


Places = Mapping[str, tuple[np.ndarray, slice, str]]


class Arriving:
    """Values on their way to a side, by its lane. land: puts them there, and returns what that changes."""

    def __init__(self, names: str, lane: str, land: Callable[[], Values]) -> None:
        self.names, self.lane, self.land = names, lane, land


class StepSide:
    """A side of a schedule."""

    def __init__(self, space: StepSpace, listener: Listener) -> None:
        self.space, self._listener = space, listener
        self.lines = space.lines

    def run(self, *programs: Callable[[], None]) -> None:
        for program in programs:
            program()

    def wait(self, *copies: Arriving) -> None:
        """Land the copies to this side; memory of the copies from it is free again."""
        names = ", ".join(dict.fromkeys(copy.names for copy in copies))
        changes: Values = {}
        for copy in copies:
            if copy.lane == self.space.lane:
                changes |= copy.land()
        self._listener(StepLine(f"wait for {names}", lane=self.space.lane, words=True), changes)

    def take(self, other: StepSide, *names: str) -> None:
        """Copy scalars of the other side."""
        for name in names:
            self.space.set_scalar(name, other.space.scalar(name))
        text = f"{', '.join(names)} to the accelerator"
        self._listener(StepLine(text, lane=TO_DEVICE, words=True, moved=len(names)), {})


class StepLink:
    """Copies between the sides. arrivals, departures: where a vector goes, by its name: the array of the other side,
    which part of the vector, and where the array is among the values, if at all."""

    def __init__(
        self,
        cpu: StepSide,
        accelerator: StepSide,
        listener: Listener,
        arrivals: Places,
        departures: Places | None = None,
    ) -> None:
        self._cpu, self._accelerator, self._listener = cpu, accelerator, listener
        self._arrivals, self._departures = arrivals, departures or {}

    def to_host(self, *names: str) -> Arriving:
        return self._copied(names, self._accelerator, self._arrivals, TO_HOST, CPU)

    def to_device(self, *names: str) -> Arriving:
        return self._copied(names, self._cpu, self._departures, TO_DEVICE, ACCELERATOR)

    def sums_to_host(self, **names: str) -> Arriving:
        values = {there: self._accelerator.space.scalar(here) for here, there in names.items()}

        def land() -> Values:
            self._cpu.space.matrices.update(values)
            return values

        listed = ", ".join(name.removesuffix("_part") for name in names)
        text = f"partial sums {listed} to the cores"
        self._listener(StepLine(text, lane=TO_HOST, words=True, moved=len(names)), {})
        return Arriving("partial sums", CPU, land)

    def _copied(self, names: Sequence[str], source: StepSide, places: Places, lane: str, to: str) -> Arriving:
        parts = [(*places[name], source.space.vector(name)[places[name][1]].copy()) for name in names]

        def land() -> Values:
            for array, _, _, part in parts:
                array[...] = part
            return {key: part for _, _, key, part in parts if key}

        listed, where = ", ".join(names), "cores" if to == CPU else "accelerator"
        moved = sum(part.size for *_, part in parts)
        self._listener(StepLine(f"{listed} to the {where}", lane=lane, words=True, moved=moved), {})
        return Arriving(listed, to, land)


@dataclasses.dataclass(frozen=True)
class StepSides:
    """The two sides and their link, as in `devices.pair.Sides`."""

    cpu: StepSide
    accelerator: StepSide
    link: StepLink
    others: None = None


class PairSpace(StepSpace):
    """The accelerator's side of a schedule that keeps whole vectors there; `sides` adds the cores' side."""

    def sides(self, arrivals: Mapping[str, str], *, fused: bool, merged: bool) -> StepSides:
        """Both sides; arrivals: for each vector of the accelerator the one of the cores to which it is copied."""
        M = self.operators["M"]
        near = StepSpace(
            self.device,
            self.size,
            self.dtype,
            self._listener,
            vectors={name: self.device.zeros(self.size, self.dtype) for name in set(arrivals.values())},
            operators={"M": M} if isinstance(M, Inlined) else {},
            lane=CPU,
            key=lambda name, vector: on(CPU, name) if vector else name,
        )
        self._key = lambda name, vector: name if vector else on(ACCELERATOR, name)
        cpu, accelerator = StepSide(near, self._listener), StepSide(self, self._listener)
        places = {name: (near.vectors[there], slice(None), on(CPU, there)) for name, there in arrivals.items()}
        return StepSides(cpu, accelerator, StepLink(cpu, accelerator, self._listener, places))


class SplitSpace(StepSpace):
    """The whole system of hybrid 3, until `sides` gives its first `rows` to the cores. matrix: A."""

    rows: int
    matrix: sparse.csr_array

    def sides(self, *, fused: bool, merged: bool, halves: bool) -> StepSides:
        """Both halves. halves: copy whole halves of m, else the ghosts that the other side reads."""
        size, rows, A = self.size, self.rows, self.matrix
        splits = split_rows(A.indices, A.indptr, rows)
        reads = ghosts(A.indices, A.indptr, splits, rows)
        (first, last), (first_far, last_far) = ((rows, size), (0, rows)) if halves else reads
        # m of the other side, as each side has it.
        remote = np.zeros(size, self.dtype), np.zeros(size, self.dtype)
        sides: list[StepSide] = []
        M = self.operators["M"]

        def whole(name: str) -> Values:
            parts = [side.space.vectors[name] for side in sides if name in side.space.vectors]
            return {name: np.concatenate(parts)} if len(parts) == 2 else {}

        for lane, mine, other in ((CPU, slice(0, rows), 0), (ACCELERATOR, slice(rows, size), 1)):
            theirs = slice(rows, size) if lane == CPU else slice(0, rows)
            vectors = {name: self.vectors[name][mine] for name in ("b", "x")}
            space = StepSpace(
                self.device,
                vectors["b"].size,
                self.dtype,
                self._listener,
                vectors=vectors | {"m": np.zeros(vectors["b"].size, self.dtype)},
                operators={
                    "A1": _Product(A[mine, mine]),
                    "A2": _Product(A[mine, theirs], remote[other][theirs]),
                    "M": ElementWise(M.formula, {name: factor[mine] for name, factor in M.factors.items()}),
                },
                lane=lane,
                key=functools.partial(_of_split, lane),
                also=whole,
            )
            sides.append(StepSide(space, self._listener))
        cpu, accelerator = sides
        here, there = slice(first_far, last_far), slice(first, last)
        arriving = {"m": (remote[0][there], slice(first - rows, last - rows), "")}
        leaving = {"m": (remote[1][here], here, "")}
        return StepSides(cpu, accelerator, StepLink(cpu, accelerator, self._listener, arriving, leaving))


def on(lane: str, name: str) -> str:
    """The key of a side's value that the other side has too."""
    return f"{lane}.{name}"


def _of_split(lane: str, name: str, vector: bool) -> str:
    return on(lane, name) if vector or lane == ACCELERATOR else name


class _Product:
    """A block of A: out = block v, or v + block remote."""

    def __init__(self, part: sparse.csr_array, remote: np.ndarray | None = None) -> None:
        self._part, self._remote = part, remote

    def apply(self, v: np.ndarray, out: np.ndarray) -> None:
        out[...] = self._part @ v if self._remote is None else v + self._part @ self._remote
