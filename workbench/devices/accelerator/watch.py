"""The scalars of the latest iterations, kept on the device until the host reads them.

Iterations of a block method may be repeated by the device itself; the host reads their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from workbench.devices.accelerator.block_algebra import STATE, SmallMatrices
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.programs import Repeated, waits
from workbench.devices.kernels import scalars as kernels
from workbench.devices.kernels import small
from workbench.devices.programs.block_workspace import BlockWorkspace, Repeats
from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows

MOST_RECORDED = 64
"""Longest check interval that is recorded as one call; longer ones are recorded in units of `RECORDED` iterations."""
RECORDED = 16


class Watch:
    """Rows of a workspace's scalars, one per iteration; the host reads them after at most `every` iterations.

    The device stops by itself at the first row that meets a limit: later launches do nothing. Where a
    program cannot be stopped like that, or an operator waits for the host anyway, `every` is 1.
    """

    stops = False

    def __init__(self, device: Launcher, workspace: Workspace, every: int) -> None:
        self._device, self._space = device, workspace
        self._waits = waits(device, workspace)
        self.every = max(1, every) if workspace.repeatable and not self._waits else 1
        wide = workspace.scalars.dtype
        # The number of rows first, then the rows, so that only rows that can exist are copied to the host.
        self._width = workspace.scalars_end
        self._rows = device.zeros(1 + self.every * self._width, wide)
        self._kept = device.pinned(self._rows.shape, wide)
        self._most = 0
        """The most rows since the watch was armed."""
        self._arm = device.function(kernels.arm, wide)
        # With the types of the other kernels, so that all can be merged into one.
        self._keep = device.kernel(kernels.keep_text(wide), "keep", workspace.dtype)
        self._slots: list[np.int64] = []
        self._repeat: Callable[[int], None] | None = None
        self._begun = False

    def prepare(self, norm: str, *, uniform: bool) -> None:
        """Compile and record all launches of an iteration, so that iterating does neither.

        norm: the scalar that is the squared norm of the stopping criterion. uniform: all iterations are calls of the
        last program of the workspace; the iterations until the next read then become one call where the runtime can
        record them, since launching them one by one can take the host longer than they take the device. Where operators
        wait for the host, nothing is recorded. Once more after the programs were bound to other operators.
        """
        space, runtime = self._space, self._device.runtime
        self._slots = [np.int64(space.slots.get(name, -1)) for name in (norm, "delta", "gamma")]
        if self._waits or space.clock:
            return

        if uniform and self.every > 1:
            unit = self.every if self.every <= MOST_RECORDED else RECORDED
            self._repeat = runtime.repeated(self._one_of_many, unit, space.scalars)
        # An iteration that is repeated was compiled and recorded for that.
        others = space.programs[: -1 if self._repeat else None]

        def all_others() -> None:
            for program in others:
                program()

        # What is recorded needs what this allocates.
        alone = self._repeat is not None and len(others) == 1
        texts = [line.text for program in others for line in program.lines] if alone else []
        runtime.compile_ahead(all_others, tuple(texts))
        for program in others[1:]:
            for run in program.runs:
                if isinstance(run, Repeated):
                    run.record()

    def rewind(self) -> None:
        """Let the next call of `advance` be the first one."""
        self._begun = False

    def set_threshold(self, norm: str, limit: float, maximum: float = np.inf) -> None:
        """Stop from now on at the first row whose norm is not above `limit`, or is above `most`.

        norm: the scalar that is the squared norm.
        """
        space, wide = self._space, self._space.scalars.dtype
        self._most = 0
        self._slots = [np.int64(space.slots.get(name, -1)) for name in (norm, "delta", "gamma")]
        # The host compares square roots; every row that might meet a limit must reach it.
        info = np.finfo(wide)
        slack = 8 * float(info.eps)
        squares = limit * limit * (1 + slack), maximum * maximum * (1 - slack)
        numbers = [self._device.number(min(square, float(info.max)), wide) for square in squares]
        self._arm.launch(1, space.scalars, *numbers)

    def advance(self, recurrence: Iterator[None], count: int, *, uniform: bool = False) -> None:
        """Iterate, and keep the scalars of each iteration as a row, unless the run has stopped."""
        self._most += count
        # The first call may be the start.
        begun, self._begun = self._begun, True
        if self._repeat and uniform and (count > 1 or begun):
            self._repeat(count)
            return
        for _ in range(count):
            next(recurrence)
            self._note()

    def _one_of_many(self) -> None:
        self._space.programs[-1]()
        self._note()

    def _note(self) -> None:
        sizes = np.int64(self.every), np.int64(self._width)
        self._device.launch(self._keep, 1, self._space.scalars, self._rows, *sizes, *self._slots)

    def rows(self) -> Rows:
        """The rows since the watch was armed; waits for the device."""
        kept = self._kept[: 1 + self._most * self._width]
        self._device.fetch(self._rows, kept)
        count, table = int(np.real(kept[0])), kept[1:].reshape(self._most, self._width)
        return Rows(table[:count], self._space.slots)


MOST_ROWS = 64
"""Iterations between two reads by the host, at most."""


class BlockWatch:
    """The repeated iteration of a workspace, and its latest rows.

    The device stops by itself at the first row that may end a column or the run: where ||r_j||^2 of an active column is
    not above its limit, or above its largest value, or where a number is not positive that is for definite A and M.
    Later launches then change nothing but the product with A. halted: where it has stopped within an iteration, which
    the host has to complete, as `kernels.small` says; else 0. repeats: what it repeats.
    """

    most = MOST_ROWS
    halted = 0

    def __init__(self, device: Launcher, space: BlockWorkspace, repeats: Repeats) -> None:
        assert isinstance(space.device_matrices, SmallMatrices)
        self._device, self._matrices, self.repeats, self._columns = (
            device,
            space.device_matrices,
            repeats,
            space.columns,
        )
        self._dtype = space.dtype
        s, kept = space.columns, repeats.kept
        self._state = np.zeros(small.state_size(s))
        self._rows = device.zeros(self.most * len(kept) * s, self._matrices.dtype)
        self._steps = [step if callable(step) else self._bound(step, s) for step in repeats.steps]
        given = {"rows": self._rows, "capacity": np.int64(self.most)}
        given["matrices"] = tuple(self._matrices.room(name, (s,)) for name in kept)
        keep = self._matrices.kernel(small.keep(s, kept), s, given)
        self._steps.append(keep)
        self._recorded = device.runtime.record(self._once)

    def _bound(self, name: str, s: int) -> Callable[[], None]:
        return self._matrices.kernel(small.small(name, s, self._dtype, self._matrices.dtype), s)

    def _once(self) -> None:
        for step in self._steps:
            step()

    def advance(self, count: int, active: np.ndarray, limits: np.ndarray, largest: np.ndarray) -> dict[str, np.ndarray]:
        """Make up to `count` iterations; the matrices that are kept of each, shape (iterations, s).

        active: columns that have not ended. limits, largest: of ||r_j||.
        """
        s, kept = self._columns, self.repeats.kept
        of = np.finfo(self._matrices.dtype)
        eps, top = float(of.eps), float(of.max)
        # The host compares square roots; every row that might meet a limit must reach it.
        squares = limits**2 * (1 + 8 * eps), largest**2 * (1 - 8 * eps)
        self._state[:] = np.concatenate([[0, 0], active, *(np.minimum(square, top) for square in squares)])
        self._matrices[STATE] = self._state
        once = self._recorded or self._once
        for _ in range(count):
            once()
        self._matrices.changed()
        state = np.real(self._matrices[STATE])
        made, stopped = int(state[small.COUNTED]), int(state[small.STOPPED])
        self.halted = stopped if stopped > small.AT_ROW else 0
        # The host may run programs now.
        self._state[small.STOPPED] = 0
        self._matrices[STATE] = self._state
        table = self._device.to_host(self._rows)[: made * len(kept) * s].reshape(made, len(kept), s)
        return {name: table[:, k] for k, name in enumerate(kept)}
