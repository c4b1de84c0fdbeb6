"""The cycles over the levels of a coarse system on an accelerator: those of `devices.cycles`, in fewer passes.

A launch takes longer than the work on most levels. So a residual is restricted where it is made, a level adds its
correction to the level above where its solution is made, dot products are made inside the passes, and two steps of
flexible CG are two products and a combination: with p and z from two cycles, s = E p, r = b - alpha s and
beta = (s, z)/(p, s), the second direction z - beta p has the energy (z, E z) - |(z, s)|^2/(p, s).
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.accelerator.functions import Prepared
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.scan import scan
from workbench.devices.clock import TimedCall, TimedCalls
from workbench.devices.coarse import Level, Levels
from workbench.devices.cycle_parts import (
    CORRECT,
    PRODUCT,
    RESIDUAL,
    RESTRICT,
    SMOOTH,
    STEP,
    bottom_part,
    entry_parts,
    from_level,
    on_level,
)
from workbench.devices.kernels import cycles as kernels
from workbench.devices.kernels import parameters
from workbench.devices.ops.levels import correction
from workbench.devices.traffic import product_flops

if TYPE_CHECKING:
    from workbench.devices.accelerator.launcher import Launcher

SUMMING_GROUPS = 264
"""Most groups of a pass with dot products: every group of the next pass adds up all their sums."""
MOST_WIDTH = 32
"""Couplings of a row that a work-item reads at once, at most."""


class DeviceCycles:
    """x = an approximation of E^-1 b on the scaled system, by the cycles that `form` describes.

    b is `right`, x is `solution`. Vectors of all levels are allocated here.
    """

    def __init__(self, device: Launcher, form: Levels) -> None:
        self._device, self._form, self._levels = device, form, list[DeviceLevel]()
        dtype, size = form.bottom.dtype, form.bottom.shape[0]
        width, scaling, children = min(MOST_WIDTH, form.usual_width), form.scaling, form.most_children
        for depth, level in enumerate(form.levels):
            lift, steps = self._lift_to(depth), form.steps_at(depth)
            self._levels.append(DeviceLevel(device, level, width, children, steps, lift, scaling))
        self._inverse, self._size = device.array(form.bottom, dtype), np.int64(size)
        self._lift = self._lift_to(len(form.levels))
        self._below = [*(level.solution for level in self._levels[1:]), device.zeros(size, dtype)]
        """The solution of each level below the first, where it does not add that to the level above."""
        given = {"lifted": bool(self._lift), "dtype": device.wide(dtype)}
        self._bottom = device.function(kernels.bottom, dtype, annotations=_ends(lifted=bool(self._lift)), **given)
        self._right = [*(level.b for level in self._levels), device.zeros(size, dtype)]
        self.right = self._right[0]
        self.solution = self._levels[0].solution if self._levels else device.zeros(size, dtype)
        self._total, self._add = None, None
        if form.repeats > 1 and self._levels:
            self._total = device.empty((form.levels[0].size,), dtype)
            self._add = device.function(kernels.add, dtype)

    def _lift_to(self, depth: int) -> tuple[Vector | np.generic, ...]:
        """The children and the factor with which kernels of a level add to the level above; empty for the first, and
        where several rows add to one or weights are complex, which is a pass of the level above."""
        if not depth or not self._form.levels[depth - 1].is_lifted:
            return ()
        return (*self._levels[depth - 1].children, self._device.number(self._form.scaling, self._form.bottom.dtype))

    def parts(self, entry: object, wide: int) -> TimedCalls:
        """The calls that a trace records separately, as in `devices.cycles.Cycles`."""
        yield from entry_parts(entry, self._form, wide)
        for depth, (operations, level) in enumerate(zip(self._levels, self._form.levels, strict=True)):
            yield from parts(operations, level, depth)
        yield from bottom_part(self, "solve_bottom", self._form)

    def solve(self) -> None:
        """`solution` for `right`."""
        self._solve(0, self.solution)
        if self._total is None or self._add is None:
            return
        first, rows = self._levels[0], self._form.levels[0].size
        for repeat in range(1, self._form.repeats):
            # What is left of the right-hand side takes its place.
            first.residual(self.right, self.solution)
            if repeat == 1:
                self._device.assign(self._total, self.solution)
            else:
                self._add.over(rows, self.solution, self._total)
            self._device.assign(self.right, first.residue)
            self._solve(0, self.solution)
        self._add.over(rows, self._total, self.solution)

    def solve_bottom(self, target: Vector) -> None:
        """The solution on the last level, added to the target on the level above."""
        to = _target(target, self._lift)
        self._bottom.launch(int(self._size), self._inverse, self._right[-1], to, self._size)

    def _solve(self, depth: int, target: Vector) -> None:
        """The solution for the right-hand side of a level, added to the target on the level above."""
        if depth == len(self._levels):
            self.solve_bottom(target)
            return
        level, b = self._levels[depth], self._right[depth]
        level.smooth_from_zero(b, level.p)
        self._cycle(depth, b, level.p, target)
        if level.steps:
            level.energy(b)
        if level.steps == 2:
            level.step(b)
            self._cycle(depth, level.r, level.z, target)
            level.second_energy()
        if level.steps:
            level.combine(target)

    def _cycle(self, depth: int, b: Vector, x: Vector, target: Vector) -> None:
        """The cycle from an x that is smoothed; its last step goes to the target where it ends the level."""
        level = self._levels[depth]
        level.restrict(b, x, self._right[depth + 1])
        if level.is_lifted:
            self._solve(depth + 1, x)
        else:
            self._solve(depth + 1, self._below[depth])
            level.correct(x, self._below[depth])
        level.residual(b, x)
        level.smooth(x, target)


class DeviceLevel:
    """The passes of a level.

    width: couplings of a row that are read at once. children: rows of a parent, at most. steps: of flexible CG. lift:
    what a correction of the level above needs, empty for the first: its children and the factor of corrections, which
    is `scaling`.
    """

    def __init__(
        self,
        device: Any,
        level: Level,
        width: int,
        children: int,
        steps: int,
        lift: tuple[Vector | np.generic, ...],
        scaling: float,
    ) -> None:
        self._device, self.steps, self._rows, self._lift = device, steps, level.size, lift
        self.is_lifted = level.is_lifted
        self._correct = None if self.is_lifted else device.bind(correction(level, scaling))
        dtype, lifted = level.data.dtype, bool(lift)
        self._matrix = _matrix(device, level, width)
        self._smoother = [device.number(value, dtype) for value in level.smoother]
        self.children = device.array(level.starts, np.int32), device.array(level.weights, level.weights.dtype)
        """The first row of each parent, and the weights of the rows at their parents."""
        self._parents, at_once = np.int64(level.starts.size - 1), max(1, device.layout.group // children)
        self._restricting = min(device.layout.groups, -(-int(self._parents) // at_once))
        self._summing = min(SUMMING_GROUPS, device.layout.groups_for(level.size))

        def prepared(function: FunctionType, **more: int) -> Prepared:
            return device.function(function, dtype, width=width, **more)

        self._start, self._residual = prepared(kernels.start), prepared(kernels.residual)
        weights = {"weights": parameters.Vector if level.weights.dtype == dtype else parameters.Reals}
        constants = {"width": width, "at_once": at_once, "most": at_once * children, "modes": level.modes}
        self._restrict = device.function(kernels.restrict, dtype, annotations=weights, **constants)
        self._lifts_smoothed = lifted and not steps
        self._smooth = prepared(kernels.smooth_lifted if self._lifts_smoothed else kernels.smooth)
        names = ["b", "p", "residue", *["s"] * (steps > 0), *["z", "r"] * (steps > 1)]
        self.b, self.p, self.residue, *krylov = (device.empty((level.size,), dtype) for _ in names)
        self.solution = self.p if not steps or lifted else device.empty((level.size,), dtype)
        if steps:
            self.s = krylov[0]
            self._sums = device.empty((kernels.SUMS, self._summing), device.wide(dtype))
            self._energy = prepared(kernels.energy)
            step = kernels.combine if steps == 1 else kernels.combine_two
            self._combine = device.function(step, dtype, annotations=_ends(lifted=lifted), lifted=lifted)
        if steps == 2:
            self.z, self.r = krylov[1:]
            self._restart, self._second_energy = prepared(kernels.restart), prepared(kernels.second_energy)

    def smooth_from_zero(self, b: Vector, x: Vector) -> None:
        """x = a b - b' E b."""
        self._start.over(self._rows, self._matrix, *self._smoother, b, x)

    def restrict(self, b: Vector, x: Vector, below: Vector) -> None:
        """below = W^H (b - E x)."""
        arguments = (self._matrix, *self.children, b, x, below, np.int64(self._rows), self._parents)
        self._restrict.launch(self._restricting, *arguments)

    def correct(self, x: Vector, below: Vector) -> None:
        """x = x + scaling W below, where kernels of the next level do not add that."""
        assert self._correct is not None
        self._correct(below, x)

    def residual(self, b: Vector, x: Vector) -> None:
        """r = b - E x, of a cycle."""
        self._residual.over(self._rows, self._matrix, b, x, self.residue)

    def smooth(self, x: Vector, target: Vector) -> None:
        """x = x + a r - b' E r, or the target plus that where the level ends with it."""
        to = (x, (target, *self._lift)) if self._lifts_smoothed else (x,)
        self._smooth.over(self._rows, self._matrix, *self._smoother, self.residue, *to)

    def energy(self, b: Vector) -> None:
        """s = E p, (p, b) and (p, s)."""
        self._energy.launch(self._summing, self._matrix, self.p, b, self.s, self._sums, np.int64(self._rows))

    def step(self, b: Vector) -> None:
        """r = b - alpha s, and z = a r - b' E r."""
        given = (*self._smoother, self._sums, np.int64(self._summing), b, self.s, self.r, self.z)
        self._restart.over(self._rows, self._matrix, *given)

    def second_energy(self) -> None:
        """(z, s), (z, E z), (z, r) and (p, r)."""
        vectors = (self.z, self.r, self.p, self.s)
        self._second_energy.launch(self._summing, self._matrix, *vectors, self._sums, np.int64(self._rows))

    def combine(self, target: Vector) -> None:
        """The solution on the level from p and z, or the target plus that."""
        directions = (self.p, self.z) if self.steps == 2 else (self.p,)
        to = _target(target, self._lift)
        self._combine.over(self._rows, self._sums, np.int64(self._summing), *directions, to)


def parts(operations: DeviceLevel, level: Level, depth: int) -> TimedCalls:
    """The passes of a level that a trace records separately."""
    dtype, vector = level.data.dtype, level.size * level.data.itemsize
    matrix = level.data.nbytes + level.indices.nbytes + level.indptr.nbytes
    products, updates = product_flops(level.data.size, dtype), product_flops(level.size, dtype)
    smooth = on_level(SMOOTH, depth)
    yield TimedCall(operations, "smooth_from_zero", smooth, matrix + 2 * vector, products)
    yield TimedCall(operations, "smooth", smooth, matrix + 3 * vector, products)
    yield TimedCall(operations, "residual", on_level(RESIDUAL, depth), matrix + 3 * vector, products)
    below = level.weights.nbytes + level.starts.nbytes + level.parts * level.modes * level.data.itemsize
    transfers = product_flops(level.size * level.modes, dtype)
    yield TimedCall(
        operations, "restrict", from_level(RESTRICT, depth), matrix + 2 * vector + below, products + transfers
    )
    if not level.is_lifted:
        moved = level.weights.nbytes + level.parents.nbytes + 2 * vector
        yield TimedCall(operations, "correct", from_level(CORRECT, depth), moved, transfers)
    if operations.steps:
        yield TimedCall(operations, "energy", on_level(PRODUCT, depth), matrix + 3 * vector, products)
        yield TimedCall(operations, "combine", on_level(STEP, depth), 3 * vector, 2 * updates)
    if operations.steps == 2:
        yield TimedCall(operations, "step", on_level(STEP, depth), matrix + 4 * vector, products + updates)
        yield TimedCall(operations, "second_energy", on_level(PRODUCT, depth), matrix + 4 * vector, products)


def _matrix(device: Launcher, level: Level, width: int) -> tuple[Vector, ...]:
    """A level's matrix as its kernels take it, made on the device."""
    dtype, rows = level.data.dtype, level.size
    ends = device.array(level.indptr, np.int64)
    more = scan(device, kernels.couplings_beyond, [ends], rows, width=width)
    shapes = [(max(1, width * rows),), (max(1, more.total),)]
    data, others = (device.empty(shape, dtype) for shape in shapes)
    indices, of_others = (device.empty(shape, np.int32) for shape in shapes)
    made = (data, indices, more.ends, others, of_others)
    stored = [device.array(level.data, dtype), device.array(level.indices, np.int32)]
    device.function(kernels.split_rows, dtype, width=width).over(rows, *stored, ends, made)
    return made


def _ends(*, lifted: bool) -> dict[str, object]:
    """The annotation of the target of kernels that end a level: its solution, or the level above."""
    return {"target": kernels.Above if lifted else parameters.Vector}


def _target(target: Vector, lift: tuple[Vector | np.generic, ...]) -> Vector | tuple[Vector | np.generic, ...]:
    """The argument of such a kernel."""
    return (target, *lift) if lift else target
