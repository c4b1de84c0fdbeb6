"""Programs of paper lines on an accelerator: passes, and between them small kernels that add up and evaluate scalars.

The scalar lines before a pass are evaluated by the kernel that adds up the sums of the previous step: an iteration
needs no launch for them, and the host reads nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Runtime, Vector
from workbench.devices.kernels import passes
from workbench.devices.kernels.prelude import STRIPS
from workbench.devices.programs.program import HostRead, Storage
from workbench.lines.entries import of_lines, slot_of
from workbench.lines.schedule import Apply, Pass, Step
from workbench.lines.types import Formula, LinesError, Shapes, Solve
from workbench.settings import HOST

if TYPE_CHECKING:
    from workbench.devices.accelerator.runtime import Function

    T = TypeVar("T")

RECORDED_AT = 3
LOCAL_MEMORY = 48 * 1024
"""Bytes of local memory that the sums of a pass may take: what any CUDA device gives a group."""


def bind_steps(
    device: Launcher,
    steps: Sequence[Step],
    workspace: Storage,
    shapes: Shapes,
    kernels: dict[tuple[str, int] | int, Function],
) -> list[Callable[[], None]]:
    """One callable per step, which launches it on the vectors that the workspace holds now."""
    runs: list[Callable[[], None]] = []
    rests: dict[str, tuple[Vector, Vector]] = {}
    first = steps[0].scalars if steps and isinstance(steps[0], Pass) else ()
    before = _finish(device, workspace, shapes, kernels, -1, [], first)
    for place, step in enumerate(steps):
        later = steps[place + 1] if place + 1 < len(steps) else None
        after = later.scalars if isinstance(later, Pass) else ()
        if isinstance(step, Apply):
            sums = [(which.place, workspace.slots[name]) for name, which in step.dots]
            finish = _finish(device, workspace, shapes, kernels, place, sums, after)
            runs.append(_application(device, workspace, step, finish))
            if step.split:
                rests[step.target] = workspace.operator(step).rest
            continue
        made = of_lines(step.dots, shapes)
        _check_sums(device, workspace, len(made))
        sums = [(k, slot_of(one.target, workspace.slots, shapes)) for k, one in enumerate(made)]
        finish = _finish(device, workspace, shapes, kernels, place, sums, after)
        if step.body:
            split = {name: rests[name] for name in step.loads if name in rests}
            runs.append(_pass(device, workspace, step, shapes, kernels, place, finish, split))
        else:
            runs.append(_launch(device, finish, workspace.scalars, workspace.scalars, 0))
    if before:
        ahead, run = _launch(device, before, workspace.scalars, workspace.scalars, 0), runs[0]
        in_parts = isinstance(run, HostRead)
        runs[0] = dataclasses.replace(run, launch=_both(ahead, run.launch)) if in_parts else _both(ahead, run)
    return runs


def _both(one: Callable[[], object], two: Callable[[], T]) -> Callable[[], T]:
    def run() -> T:
        one()
        return two()

    return run


def waits(device: Launcher, workspace: Storage) -> bool:
    """True if the host takes part in every iteration; launches can then not be recorded."""
    return device.reduction == HOST or any(operator.waits for operator in workspace.operators.values())


class Repeated:
    """The launches of one iteration, as one call where the runtime can record them.

    `record` records them before the first call; otherwise the third call does, since recording costs as much as some
    dozen launches.
    """

    def __init__(self, runtime: Runtime, runs: list[Callable[[], None]]) -> None:
        self._runtime, self._runs, self._times = runtime, runs, 0
        self._repeat: Callable[[], None] | None = None

    def __call__(self) -> None:
        if self._runtime.recording:
            self._all()
            return
        self._times += 1
        if self._times == RECORDED_AT:
            self.record()
        (self._repeat or self._all)()

    def record(self) -> None:
        """Record them; what they make or compile at first use must be there."""
        self._times, self._repeat = RECORDED_AT, self._runtime.record(self._all)

    def _all(self) -> None:
        for run in self._runs:
            run()


def _finish(
    device: Launcher,
    workspace: Storage,
    shapes: Shapes,
    kernels: dict[tuple[str, int] | int, Function],
    place: int,
    sums: list[tuple[int, int]],
    after: Sequence[Formula | Solve],
) -> Function | None:
    """The kernel that adds up and evaluates; None where neither is needed."""
    if not sums and not after:
        return None
    key = ("finish", place)
    if key not in kernels:
        texts = passes.PassTexts.of(shapes, workspace.slots, workspace.dtype, device.wide(workspace.dtype))
        kernels[key] = device.kernel(texts.finish(tuple(sums), tuple(after)), "finish", workspace.dtype)
    return kernels[key]


def _application(device: Launcher, workspace: Storage, step: Apply, finish: Function | None) -> Callable[[], None]:
    operator, scalars = workspace.operator(step), workspace.scalars
    x, out, wanted = workspace.vector(step.argument), workspace.vector(step.target), step.wanted
    apply = operator.apply_split if step.split else operator.apply
    if wanted and device.reduction == HOST:
        names = [name for name, _ in step.dots]
        return _added_by_host(device, lambda: apply(x, out, *wanted).partial, names, scalars, finish)

    def run() -> None:
        dots = apply(x, out, *wanted)
        if finish:
            partial, count = (dots.partial, dots.count) if wanted else (scalars, 0)
            device.launch(finish, 1, scalars, partial, np.int64(count), group=device.layout.finish)

    return run


def _pass(
    device: Launcher,
    workspace: Storage,
    step: Pass,
    shapes: Shapes,
    kernels: dict[tuple[str, int] | int, Function],
    place: int,
    finish: Function | None,
    split: dict[str, tuple[Vector, Vector]],
) -> Callable[[], None]:
    """split: the coarse vector that completes a vector, and the part of each row."""
    arrays = {name: workspace.vector(name) for name in step.arrays}
    if place not in kernels:
        wide, stored = device.wide(workspace.dtype), {name: vector.dtype for name, vector in arrays.items()}
        texts = passes.PassTexts.of(shapes, workspace.slots, workspace.dtype, wide, stored, tuple(split))
        kernels[place] = device.kernel(texts.body(step), "body", workspace.dtype)
    kernel, size, scalars = kernels[place], workspace.size, workspace.scalars
    given = (*arrays.values(), *(rest for rest, _ in split.values()), *(parts for _, parts in split.values()), scalars)
    if not step.dots:
        after = _launch(device, finish, scalars, scalars, 0)
        return _both(lambda: device.launch_over(kernel, size, *given), after)
    count = device.layout.groups_for(size)
    room = device.empty((len(of_lines(step.dots, shapes)), count), device.wide(workspace.dtype))

    def run() -> Vector:
        device.launch_over(kernel, size, *given, room)
        return room

    if device.reduction == HOST:
        return _added_by_host(device, run, [line.target for line in step.dots], scalars, finish)
    total, add = device.over_ranks(room)
    return _both(_both(run, add), _launch(device, finish, scalars, total, total.shape[1]))


def _added_by_host(
    device: Launcher, launch: Callable[[], Vector], names: Sequence[str], scalars: Vector, finish: Function | None
) -> HostRead:
    """A step whose partial sums the host adds, each time in the same order; `finish` then has one of each to add."""
    totals: dict[int, Vector] = {}

    def after(sums: np.ndarray) -> None:
        if sums.size not in totals:
            totals[sums.size] = device.empty(sums.shape, sums.dtype)
        total = totals[sums.size]
        device.runtime.upload(total.handle, sums)
        device.launch(finish, 1, scalars, total, np.int64(1), group=device.layout.finish)

    label = f"partial sums of {', '.join(names)}"
    return HostRead(launch, device.to_host, label, lambda found: found.sum(axis=1), after, relaunches=True)


def _check_sums(device: Launcher, workspace: Storage, count: int) -> None:
    """Raise LinesError where a pass has dot products, or Gram matrices, whose sums do not fit a group."""
    layout, itemsize = device.layout, device.wide(workspace.dtype).itemsize
    most = LOCAL_MEMORY // (max(layout.group + STRIPS, layout.finish) * itemsize)
    if not layout.chunked and count > most:
        raise LinesError(
            f"a pass adds up {count} sums, and a group of {layout.group} work-items on {device.name} has room for "
            f"{most}; take block vectors of fewer columns, fewer dot products, or device cpu"
        )


def _launch(
    device: Launcher, finish: Function | None, scalars: Vector, partial: Vector, count: int
) -> Callable[[], None]:
    if finish is None:
        return lambda: None
    return lambda: device.launch(finish, 1, scalars, partial, np.int64(count), group=device.layout.finish)
