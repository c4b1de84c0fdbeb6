"""The two sides of a hybrid schedule while it is stepped through, and the copies between them.

They have the interface of `devices.pair`. Both are in host memory: a copy takes the values at the time of its issue,
which arrive where a side waits for it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST
from workbench.devices.element_wise import ElementWise
from workbench.devices.pair.split import ghosts, split_rows
from workbench.lazy import sparse
from workbench.lines.schedule import Inlined
from workbench.stepping.step_spaces import Listener, StepLine, StepSpace, Values

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

    def _copied(
        self,
        names: Sequence[str],
        source: StepSide,
        places: Places,
        lane: str,
        to: str,
    ) -> Arriving:
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
